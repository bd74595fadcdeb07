// Texts as windows of characters: every window and label is a symbol of the alphabet.
#include <cstdint>
#include <string_view>

#include "covey/base/check.h"
#include "covey/data/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const covey::data::TextWindows windows{.length = 1U + (data[0] & 7U),
                                         .step = 1U + (data[0] >> 6U)};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto read = covey::data::WindowsOfText(text, windows, "fuzz");
  if (!read) {
    COVEY_CHECK(read.error().code == covey::ErrorCode::kData && !read.error().what.empty());
    return 0;
  }
  const covey::data::Dataset& set = read->windows;
  COVEY_CHECK(set.size() > 0 && set.features() == windows.length);
  COVEY_CHECK(read->symbols.size() <= covey::data::kMaxSymbols);
  for (std::size_t i = 0; i < set.size(); ++i) {
    COVEY_CHECK(set.label(i) < read->symbols.size());
    for (std::size_t at = 0; at < windows.length; ++at) {
      COVEY_CHECK(set.row(i)[at] < read->symbols.size());
    }
  }
  return 0;
}
