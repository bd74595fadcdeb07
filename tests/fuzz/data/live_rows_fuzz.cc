// Lines of a table that arrive: whatever comes, a sample that is given out has what the node needs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "covey/base/check.h"
#include "covey/data/live_rows.h"

namespace {

covey::data::LiveForm FormOf(std::uint8_t choice) {
  covey::data::LiveForm form;
  covey::data::Dataset::Memory memory;
  memory.shape = {2};
  memory.rows.assign(8, 0);
  memory.element = covey::tensor::Element::kFloat32;
  const bool labels = (choice & 1) == 0;
  if (labels) {
    memory.labels = {0};
    memory.classes = form.classes = 3;
    memory.label_names = {"a", "b", "c"};
  } else {
    memory.targets = {0};
    memory.outputs = 1;
  }
  form.like = covey::data::Dataset::FromMemory(std::move(memory));
  if ((choice & 2) != 0) form.csv.categories = {"x=red|green"};
  if ((choice & 4) != 0) form.csv.ignore = {"1"};
  return form;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const covey::data::LiveForm form = FormOf(data[0]);
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto next = [&text] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  auto rows = covey::data::LiveRows::Start(next(), form);
  if (!rows) {
    COVEY_CHECK(!rows.error().what.empty());
    return 0;
  }
  while (!text.empty()) {
    const auto sample = rows->Parse(next());
    if (!sample) {
      COVEY_CHECK(sample.error().code == covey::ErrorCode::kData && !sample.error().what.empty());
      continue;
    }
    COVEY_CHECK(sample->values.size() == 2 && sample->targets.size() == form.like.outputs());
    for (const float value : sample->values) COVEY_CHECK(std::isfinite(value));
    COVEY_CHECK(form.classes == 0 || sample->label < form.classes);
  }
  return 0;
}
