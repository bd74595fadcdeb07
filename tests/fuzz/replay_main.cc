// Replays a corpus folder through a fuzz target, for builds without libFuzzer.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "fuzz/replay.h"

int main(int argc, char** argv) {
  const auto target = std::find_if(kFuzzTargets.begin(), kFuzzTargets.end(), [&](const auto& one) {
    return argc == 3 && std::string_view(argv[1]) == one.name;
  });
  if (target == kFuzzTargets.end()) {
    std::fprintf(stderr, "usage: %s TARGET CORPUS_FOLDER\ntargets:", argv[0]);
    for (const FuzzTarget& one : kFuzzTargets) std::fprintf(stderr, " %s", one.name);
    std::fprintf(stderr, "\n");
    return 64;
  }
  std::size_t replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    target->run(input.data(), input.size());
    ++replayed;
  }
  std::printf("%zu inputs replayed\n", replayed);
  return replayed == 0 ? 66 : 0;
}
