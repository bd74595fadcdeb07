// What YAML allows and a configuration must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace covey::config {
namespace {

using testing::HasSubstr;

TEST(Yaml, SecondDocument) {
  EXPECT_EQ(Errors("---\n" + SmallNode("---\nlog: {level: debug}\n")),
            "n.yaml:4:1: error: a second document starts here\n"
            "    4 | ---\n"
            "      | ^ one document in a file\n");
}

TEST(Yaml, SecondDocumentDoesNotHideOtherFaults) {
  const std::string report = Errors(SmallNode("x: 1\n---\na: 1\n"));
  EXPECT_THAT(report, HasSubstr("unknown key 'x'"));
  EXPECT_THAT(report, HasSubstr("a second document"));
}

TEST(Yaml, AnchorsAliasesAndMergeKeys) {
  EXPECT_EQ(Errors(SmallNode("log: &base\n  level: info\napi:\n  <<: *base\n  listen: *base\n")),
            "n.yaml:3:6: error: anchors are not accepted\n"
            "    3 | log: &base\n"
            "      |      ^ leave the & and its name out\n"
            "n.yaml:6:3: error: merge keys are not accepted\n"
            "    6 |   <<: *base\n"
            "      |   ^~ write the keys out\n"
            "n.yaml:6:7: error: aliases are not accepted\n"
            "    6 |   <<: *base\n"
            "      |       ^ write the value out\n"
            "n.yaml:7:11: error: aliases are not accepted\n"
            "    7 |   listen: *base\n"
            "      |           ^ write the value out\n");
}

TEST(Yaml, Tags) {
  EXPECT_THAT(Errors(SmallNode("fleet: {name: !!str 12}\n")),
              HasSubstr("tags such as tag:yaml.org,2002:str are not accepted"));
  EXPECT_THAT(Errors(SmallNode("log: !mine {level: info}\n")),
              HasSubstr("tags such as !mine are not accepted"));
}

TEST(Yaml, Directives) {
  // To YAML a '%' in front of a section makes the section vanish.
  EXPECT_EQ(Errors("%log: {level: debug}\n---\n" + SmallNode()),
            "n.yaml:1:1: error: directives are not accepted\n"
            "    1 | %log: {level: debug}\n"
            "      | ^ leave the line out\n");
}

TEST(Yaml, Nesting) {
  const auto nested = [](int levels) {
    return Errors(SmallNode("x: " + std::string(static_cast<std::size_t>(levels), '[') +
                            std::string(static_cast<std::size_t>(levels), ']') + "\n"));
  };
  EXPECT_THAT(nested(15), testing::Not(HasSubstr("nested")));  // with the file itself: 16
  EXPECT_THAT(nested(16), HasSubstr("n.yaml:3:19: error: nested deeper than 16 levels\n"));
  EXPECT_THAT(nested(100000), HasSubstr("nested deeper than 16 levels\n"));
}

TEST(Yaml, Size) {
  std::string text = SmallNode("#");
  text += std::string((1 << 20) - text.size(), ' ');
  EXPECT_TRUE(ParseNode(text, "n.yaml"));
  const auto larger = ParseNode(text + " ", "n.yaml");
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().code, ErrorCode::kConfig);
  EXPECT_EQ(larger.error().Format(),
            "n.yaml: error: larger than 1048576 bytes\n1 error; configuration not loaded.");
}

TEST(Yaml, NotYaml) {
  EXPECT_EQ(
      Errors("model: [1, 2\ndata: x\n"),
      "n.yaml:2:5: error: not valid YAML: end of sequence flow not found\n"
      "    2 | data: x\n"
      "      |     ^ look here and just before: indentation, brackets, quotes around text with "
      "': '\n");
}

TEST(Yaml, NotAMap) {
  EXPECT_THAT(Errors("- a\n"), HasSubstr("n.yaml:1:1: error: want sections such as 'model:'"));
  EXPECT_THAT(Errors("hello\n"), HasSubstr("n.yaml:1:1: error: want sections such as 'model:'"));
}

TEST(Yaml, KeysAreWords) {
  EXPECT_THAT(Errors(SmallNode("? [a]\n: b\n")), HasSubstr("a key must be a word"));
}

TEST(Yaml, NotText) {
  const auto what = [](std::string_view text) {
    const auto loaded = ParseNode(text, "n.yaml");
    return loaded ? "loaded" : loaded.error().what;
  };
  const std::string end = " of the line)\n1 error; configuration not loaded.";
  EXPECT_EQ(what("a: 1\nb: \xFF\n"), "n.yaml:2: error: not a text in UTF-8 (byte 4" + end);
  EXPECT_EQ(what(std::string_view("a\0b", 3)),
            "n.yaml:1: error: not a text in UTF-8 (byte 2" + end);
  EXPECT_EQ(what("a: \x1B[2J"), "n.yaml:1: error: not a text in UTF-8 (byte 4" + end);
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC3",
                          "\xF8\x88\x80\x80\x80", "\x80", "\r"}) {
    EXPECT_THAT(what(bad), HasSubstr("not a text in UTF-8")) << bad;
  }
}

TEST(Yaml, WindowsFilesAreRead) {
  std::string text = "\xEF\xBB\xBF" + SmallNode("log: {level: debug}\n");
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) {
    text.insert(i, "\r");
  }
  const auto loaded = ParseNode(text, "n.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_EQ(loaded->value.log.level, LogSettings::Level::kDebug);
}

TEST(Yaml, TextStaysText) {
  // Not a boolean, not a number, not a duplicate of anything.
  const auto loaded = ParseNode(SmallNode("node: {name: no}\nfleet: {name: \"12\"}\n"), "n.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_EQ(loaded->value.node.name, "no");
  EXPECT_EQ(loaded->value.fleet.name, "12");
  EXPECT_THAT(Errors(SmallNode("node: {name: \"a\\nb\"}\n")),
              HasSubstr("node.name: control characters are not accepted"));
}

TEST(Files, MissingAndUnreadable) {
  const auto missing = LoadNode("/nonexistent/node.yaml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNoInput);
  EXPECT_EQ(missing.error().Format(),
            "/nonexistent/node.yaml: no such file; give the path of a YAML file");
  const auto folder = LoadNode("/");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kNoInput);
  EXPECT_EQ(folder.error().Format(), "/: is a directory; give the path of a YAML file");
  const auto device = LoadExperiment("/dev/zero");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().Format(),
            "/dev/zero: is not a regular file; give the path of a YAML file");
}

}  // namespace
}  // namespace covey::config
