#include "covey/data/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace covey::data {
namespace {

std::vector<int> Row(const Dataset& dataset, std::size_t i) {
  return std::vector<int>(dataset.row(i), dataset.row(i) + dataset.features());
}

TEST(Text, CutsWindowsWithTheCharacterBehind) {
  const auto text = WindowsOfText("abcabd", {.length = 2, .step = 1}, "t");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->symbols, (std::vector<char32_t>{U'a', U'b', U'c', U'd'}));
  const Dataset& windows = text->windows;
  ASSERT_EQ(windows.size(), 4u);
  EXPECT_EQ(windows.classes(), 4u);
  EXPECT_EQ(windows.shape(), std::vector<std::size_t>{2});
  EXPECT_EQ(Row(windows, 0), (std::vector<int>{0, 1}));
  EXPECT_EQ(windows.label(0), 2u);
  EXPECT_EQ(Row(windows, 3), (std::vector<int>{0, 1}));
  EXPECT_EQ(windows.label(3), 3u);
  EXPECT_EQ(windows.scale(), 1.0f);
}

TEST(Text, StepsOverCharacters) {
  const auto count = [](std::size_t characters) {
    const auto text = WindowsOfText(std::string(characters, 'x'), {.length = 40, .step = 3}, "t");
    return text.has_value() ? text->windows.size() : 0;
  };
  EXPECT_EQ(count(40), 0u);
  EXPECT_EQ(count(41), 1u);
  EXPECT_EQ(count(43), 1u);
  EXPECT_EQ(count(44), 2u);
}

TEST(Text, CountsCharactersNotBytes) {
  // One to four bytes, each at both ends of its range.
  const std::string all = "\x01\x7f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff.";
  const auto text = WindowsOfText(all, {.length = 10, .step = 1}, "t");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->symbols, (std::vector<char32_t>{0x01, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000,
                                                  0xffff, 0x10000, 0x10ffff, '.'}));
  EXPECT_EQ(text->windows.size(), 1u);
}

TEST(Text, RefusesWhatIsNotUtf8AndNamesTheByte) {
  for (const char* wrong :
       {"\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x80\x80", "\xe0\xa0", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80", "\xff"}) {
    const auto text = WindowsOfText("ab" + std::string(wrong), {.length = 1, .step = 1}, "file");
    ASSERT_FALSE(text.has_value()) << wrong;
    EXPECT_EQ(text.error().code, ErrorCode::kData);
    EXPECT_EQ(text.error().where, "file:byte 2");
  }
}

TEST(Text, RefusesATextWithoutAWindow) {
  const auto text = WindowsOfText("abc", {.length = 3, .step = 1}, "file");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().Format(), "file: got 3 characters; wanted more than the window's 3");
  EXPECT_FALSE(WindowsOfText("", {.length = 1, .step = 1}, "file").has_value());
}

TEST(Text, TakesAsManyCharactersAsAByteCanTell) {
  std::string text;
  const auto add = [&text](unsigned c) {
    text += static_cast<char>(0xc0u | c >> 6);
    text += static_cast<char>(0x80u | (c & 0x3fu));
  };
  for (unsigned c = 0x100; c < 0x200; ++c) add(c);
  const auto most = WindowsOfText(text, {.length = 1, .step = 1}, "file");
  ASSERT_TRUE(most.has_value());
  EXPECT_EQ(most->symbols.size(), kMaxSymbols);
  EXPECT_EQ(most->windows.label(254), 255u);
  add(0x200);
  EXPECT_FALSE(WindowsOfText(text, {.length = 1, .step = 1}, "file").has_value());
}

}  // namespace
}  // namespace covey::data
