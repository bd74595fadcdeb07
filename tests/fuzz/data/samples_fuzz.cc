// Samples that somebody asks about: whatever stands there, what is given out fills whole samples.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "covey/base/check.h"
#include "covey/data/samples.h"
#include "data/name_pattern.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  covey::data::InputForm form{{3}, {}};
  if (data[0] % 4 == 1) form.features = {"a", "b=x", "b=y"};
  if (data[0] % 4 == 2) form = {{2, 2}, {"a", "b"}};
  if (data[0] % 4 == 3) {
    const std::size_t end = text.find('\n');
    const auto pattern = covey::data::NamePattern::Of(std::string(text.substr(0, end)), "fuzz");
    if (pattern && end != text.npos) pattern->Take(std::string(text.substr(end + 1)));
  }
  const auto samples = covey::data::SamplesOf(form, text, "fuzz");
  if (!samples) {
    COVEY_CHECK(samples.error().code == covey::ErrorCode::kData && !samples.error().what.empty());
    return 0;
  }
  const std::size_t width = form.shape.size() == 1 ? 3 : 4;
  COVEY_CHECK(!samples->empty() && samples->size() % width == 0);
  for (const float value : *samples) COVEY_CHECK(std::isfinite(value));
  return 0;
}
