// Reading of tables: megabytes a second of one core, by CPU time.
//
//   bench_csv [--file FILE] [--mb N]
//
// Without a file it writes one of 8 numbers and a class name a row to the folder of temporary files
// and removes it. First line: looking at every cell (covey data describe). Second: conversion into
// the cache, as a node does it at its first start (the table's first 4 MiB are read twice). Third:
// opening the converted table, as it does at every other start.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "covey/base/random.h"
#include "covey/command_line/command.h"
#include "covey/data/csv.h"
#include "covey/data/dataset.h"
#include "support/temporary_folder.h"

namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void WriteTable(const std::string& path, std::size_t megabytes) {
  std::ofstream file(path, std::ios::binary);
  covey::Stream stream(1, 0, covey::Purpose::kTest);
  std::string block = "a,b,c,d,e,f,g,h,label\n";
  for (std::size_t written = 0; written < megabytes << 20; block.clear()) {
    while (block.size() < (1u << 20)) {
      for (int i = 0; i < 8; ++i) {
        char cell[32];
        std::snprintf(cell, sizeof cell, "%.3f,", stream.Uniform() * 20 - 10);
        block += cell;
      }
      block += stream.Chance(0.5) ? "Move-Forward\n" : "Turn-Right\n";
    }
    file << block;
    written += block.size();
  }
}

template <class Body>
bool Measure(const char* what, double megabytes, Body body) {
  const double start = CpuSeconds();
  const auto result = body();
  const double seconds = CpuSeconds() - start;
  if (!result) {
    std::fprintf(stderr, "bench_csv: %s\n", result.error().Format().c_str());
    return false;
  }
  std::printf("%-10s %8.0f MB/s  (%.2f s)\n", what, megabytes / seconds, seconds);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  std::size_t megabytes = 256;
  covey::command_line::Command program("bench_csv", "Measures reading of tables.");
  program.Add("--file", file, "Read this table");
  program.Add("--mb", megabytes, "Size of the table to write").ShowDefault();
  if (const auto code = program.Parse(argc, argv)) return *code;
  const covey::test::TemporaryFolder folder;
  covey::data::Source source;
  source.csv = file.empty() ? folder / "table.csv" : file;
  if (file.empty()) WriteTable(source.csv, megabytes);
  const double size = static_cast<double>(std::filesystem::file_size(source.csv)) / 1e6;
  const std::string cache = folder / "cache";
  const auto open = [&] { return covey::data::Open(source, cache); };
  const bool good =
      Measure("describe", size, [&] { return covey::data::DescribeCsv(source.csv, {}); }) &&
      Measure("convert", size, open) && Measure("open", size, open);
  return good ? 0 : 1;
}
