// Asks the model of a Covey daemon: ask SOCKET NUMBER...
#include <cstdio>
#include <cstdlib>

#include "covey/api/client.h"

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  auto client = covey::api::Client::Connect(argv[1]);
  if (!client) {
    std::fprintf(stderr, "ask: %s\n", client.error().Format().c_str());
    return covey::ExitCode(client.error());
  }
  covey::api::Question question;
  for (int i = 2; i < argc; ++i) question.values.push_back(std::strtof(argv[i], nullptr));
  const auto predictions = client->Predict(question);
  if (!predictions) {
    std::fprintf(stderr, "ask: %s\n", predictions.error().Format().c_str());
    return covey::ExitCode(predictions.error());
  }
  for (const covey::api::Answer& answer : predictions->answers) {
    for (const covey::api::RankedClass& one : answer.classes) {
      std::printf("%s %.3f\n", one.label.c_str(), static_cast<double>(one.probability));
    }
  }
  return 0;
}
