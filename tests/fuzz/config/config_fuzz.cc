// Any text as a node file and as an experiment: no crash, no hang, and what is accepted reads back
// the same.
#include <cstdint>
#include <string>
#include <string_view>

#include "covey/base/check.h"
#include "covey/config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace covey::config;
  const std::string text(data, data + size);
  if (const auto node = ParseNode(text, "fuzz.yaml")) {
    const std::string written = WriteYaml(node->value);
    const auto again = ParseNode(written, "written.yaml");
    COVEY_CHECK(again.has_value(), again.has_value() ? "" : again.error().what, written);
    COVEY_CHECK(WriteYaml(again->value) == written, written);
  }
  if (const auto experiment = ParseExperiment(text, "fuzz.yaml")) {
    COVEY_CHECK(Expand(experiment->value).has_value());
    const std::string written = WriteYaml(experiment->value);
    const auto again = ParseExperiment(written, "written.yaml");
    COVEY_CHECK(again.has_value(), again.has_value() ? "" : again.error().what, written);
    COVEY_CHECK(WriteYaml(again->value) == written, written);
  }
  return 0;
}
