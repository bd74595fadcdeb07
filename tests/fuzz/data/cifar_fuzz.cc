// The binary files of CIFAR-10 and CIFAR-100: records of one size, labels within the classes.
#include "fuzz/data/one_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const covey::fuzz::OneFile file("data_batch_1.bin");
  if (size == 0) return 0;
  covey::data::Source source;
  source.cifar = file.Write(covey::fuzz::BytesOf(data, size));
  source.classes = data[0] % 2 == 0 ? 0 : 10;
  covey::fuzz::CheckOpened(covey::data::Open(source, file.cache()));
  return 0;
}
