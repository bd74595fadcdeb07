// libtorch as a peer: the MLP 784-72-10 with Adam on Fashion-MNIST, a window at a time (the
// protocol is in programs.py).
//
//   libtorch_peer --workload mlp --batch B --threads T --seconds S --data FOLDER
//
// The samples are read from FOLDER/images.bin and FOLDER/labels.bin (bytes; programs.py unpacks
// them there).
#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "window.h"

namespace {

torch::Tensor ReadBytes(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(66);
  }
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> part(1 << 20);
  std::size_t count = 0;
  while ((count = std::fread(part.data(), 1, part.size(), file)) > 0) {
    bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::fclose(file);
  return torch::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, torch::kUInt8)
      .clone();
}

}  // namespace

int main(int argc, char** argv) {
  const peers::Options options = peers::Parse(argc, argv);
  at::set_num_threads(options.threads);
  torch::manual_seed(1);
  const torch::Tensor images =
      ReadBytes(options.data + "/images.bin").view({-1, 784}).to(torch::kFloat32).div_(255);
  const torch::Tensor labels = ReadBytes(options.data + "/labels.bin").to(torch::kInt64);

  torch::nn::Sequential model(torch::nn::Linear(784, 72), torch::nn::ReLU(),
                              torch::nn::Linear(72, 10));
  for (auto& named : model->named_parameters()) {
    torch::NoGradGuard guard;
    if (named.value().dim() > 1) {
      torch::nn::init::xavier_uniform_(named.value());
    } else {
      named.value().zero_();
    }
  }
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3).eps(1e-7));
  torch::Tensor order;
  std::int64_t at = images.size(0);
  const auto step = [&](peers::Sum& sum) {
    if (at + options.batch > images.size(0)) {
      order = torch::randperm(images.size(0));
      at = 0;
    }
    const torch::Tensor rows = order.slice(0, at, at + options.batch);
    at += options.batch;
    optimizer.zero_grad();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(
        model->forward(images.index_select(0, rows)), labels.index_select(0, rows));
    loss.backward();
    optimizer.step();
    sum.Add(options.batch, loss.item<float>());
  };
  std::printf("{\"version\": \"%s\"}\n", TORCH_VERSION);
  std::fflush(stdout);
  peers::Serve(options, step);
  return 0;
}
