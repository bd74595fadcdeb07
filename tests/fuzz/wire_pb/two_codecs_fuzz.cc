// Any bytes, read twice: as a frame and as each body by the product's codec, and by an independent
// one. Both take or refuse them, and both see the same.
#include <cstdint>

#include "support/compare_codecs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  covey::test::CompareCodecs({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
