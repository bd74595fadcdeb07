// FANN (Fast Artificial Neural Network library) as a peer, a window at a time (the protocol is in
// programs.py). An epoch over the data is a step.
//
//   fann_peer --workload mlp|rprop|batch_backprop --seconds S --data FOLDER
//
//   mlp             784-72-10, one update a sample, on the first 10,000 samples of
//                   FOLDER/images.bin and labels.bin: FANN knows neither Adam nor cross-entropy
//   rprop           13-100-8, iRPROP-, on FOLDER/inputs.bin and targets.bin (float32)
//   batch_backprop  the same with its batch training
#include <floatfann.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "window.h"

namespace {

template <class T>
std::vector<T> Read(const std::string& path, std::size_t count) {
  std::vector<T> values(count);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr || std::fread(values.data(), sizeof(T), count, file) != count) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(66);
  }
  std::fclose(file);
  return values;
}

fann_train_data* Images(const std::string& folder) {
  constexpr std::size_t kSamples = 10000;
  const auto images = Read<std::uint8_t>(folder + "/images.bin", kSamples * 784);
  const auto labels = Read<std::uint8_t>(folder + "/labels.bin", kSamples);
  fann_train_data* data = fann_create_train(kSamples, 784, 10);
  for (std::size_t i = 0; i < kSamples; ++i) {
    for (std::size_t k = 0; k < 784; ++k) {
      data->input[i][k] = static_cast<float>(images[i * 784 + k]) / 255;
    }
    for (std::size_t k = 0; k < 10; ++k) data->output[i][k] = labels[i] == k ? 1.0f : 0.0f;
  }
  return data;
}

fann_train_data* Regression(const std::string& folder) {
  constexpr std::size_t kSamples = 30000;
  const auto inputs = Read<float>(folder + "/inputs.bin", kSamples * 13);
  const auto targets = Read<float>(folder + "/targets.bin", kSamples * 8);
  fann_train_data* data = fann_create_train(kSamples, 13, 8);
  for (std::size_t i = 0; i < kSamples; ++i) {
    for (std::size_t k = 0; k < 13; ++k) data->input[i][k] = inputs[i * 13 + k];
    for (std::size_t k = 0; k < 8; ++k) data->output[i][k] = targets[i * 8 + k];
  }
  return data;
}

}  // namespace

int main(int argc, char** argv) {
  const peers::Options options = peers::Parse(argc, argv);
  const bool mlp = options.workload == "mlp";
  fann_train_data* data = mlp ? Images(options.data) : Regression(options.data);
  fann* net = mlp ? fann_create_standard(3, 784, 72, 10) : fann_create_standard(3, 13, 100, 8);
  fann_set_activation_function_hidden(net, FANN_SIGMOID);
  fann_set_activation_function_output(net, FANN_SIGMOID);
  fann_set_train_error_function(net, FANN_ERRORFUNC_LINEAR);
  fann_set_training_algorithm(net, mlp                           ? FANN_TRAIN_INCREMENTAL
                                   : options.workload == "rprop" ? FANN_TRAIN_RPROP
                                                                 : FANN_TRAIN_BATCH);
  if (mlp) fann_set_learning_rate(net, 0.05f);
  std::printf("{\"version\": \"2.2\"}\n");
  std::fflush(stdout);
  peers::Serve(options, [&](peers::Sum& sum) {
    const float error = fann_train_epoch(net, data);
    sum.Add(static_cast<long>(data->num_data), error);
  });
  fann_destroy_train(data);
  fann_destroy(net);
  return 0;
}
