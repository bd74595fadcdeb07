#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "covey/data/csv.h"
#include "covey/data/dataset.h"
#include "covey/data/live.h"
#include "support/idx_files.h"

namespace covey::data::open_csv_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OpenCsvTest : public ::testing::Test {
 protected:
  OpenCsvTest() { source_.csv = folder_ / "a.csv"; }

  void Write(const std::string& text, const std::string& name = "a.csv") {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Dataset Good() {
    Result<Dataset> set = Open(source_, folder_ / "cache");
    EXPECT_TRUE(set.has_value()) << set.error().Format();
    return set ? *set : Dataset();
  }
  // "where: what".
  std::string Bad(ErrorCode code = ErrorCode::kData) {
    const Result<Dataset> set = Open(source_, folder_ / "cache");
    EXPECT_FALSE(set.has_value());
    if (set) return "";
    EXPECT_EQ(set.error().code, code);
    const std::string where = set.error().where;
    return where.substr(where.rfind('/') + 1) + ": " + set.error().what;
  }
  static std::vector<float> Row(const Dataset& set, std::size_t i) {
    std::vector<float> row(set.features());
    std::memcpy(row.data(), set.row(i), row.size() * sizeof(float));
    return row;
  }
  static std::vector<int> LabelsOf(const Dataset& set) {
    return {set.labels().begin(), set.labels().end()};
  }

  test::TemporaryFolder folder_;
  Source source_;
};

TEST_F(OpenCsvTest, NumbersAreFeaturesAndTheLastColumnIsTheClass) {
  Write("5.1,3.5,setosa\n4.9,3,virginica\n-1e-3,0,setosa\n");
  const Dataset set = Good();
  EXPECT_EQ(set.size(), 3u);
  EXPECT_EQ(set.shape(), (std::vector<std::size_t>{2}));
  EXPECT_THAT(Row(set, 2), ElementsAre(-0.001f, 0.0f));
  EXPECT_THAT(LabelsOf(set), ElementsAre(0, 1, 0));
  EXPECT_THAT(set.label_names(), ElementsAre("setosa", "virginica"));
  EXPECT_THAT(set.feature_names(), ElementsAre("1", "2"));
  EXPECT_EQ(set.classes(), 2u);
}

TEST_F(OpenCsvTest, AHeaderNamesColumnsAndFindsTheClass) {
  Write(
      "\xef\xbb\xbf"
      "x;Class;y\r\n1;b;2\r\n3;a;4\r\n");
  const Dataset set = Good();
  EXPECT_THAT(set.feature_names(), ElementsAre("x", "y"));
  EXPECT_THAT(Row(set, 1), ElementsAre(3, 4));
  EXPECT_THAT(LabelsOf(set), ElementsAre(1, 0)) << "classes are sorted, not in order of appearance";
}

TEST_F(OpenCsvTest, WholeNumbersAreTheirOwnClasses) {
  Write("x,y\n1,7\n2,3\n");
  const Dataset set = Good();
  EXPECT_THAT(LabelsOf(set), ElementsAre(7, 3));
  EXPECT_EQ(set.classes(), 8u);
  EXPECT_THAT(set.label_names(), IsEmpty());
}

TEST_F(OpenCsvTest, GivenClassesKeepTheirOrder) {
  Write("1,b\n2,a\n");
  source_.label_names = {"b", "c", "a"};
  const Dataset set = Good();
  EXPECT_THAT(LabelsOf(set), ElementsAre(0, 2));
  EXPECT_EQ(set.classes(), 3u);
  Write("1,b\n2,d\n");
  EXPECT_EQ(Bad(), "a.csv:2: column '2': class 'd' is new");
  Write("1,2\n2,0\n");
  EXPECT_THAT(LabelsOf(Good()), ElementsAre(2, 0)) << "numbers of classes that have names";
  Write("1,2\n2,3\n");
  EXPECT_EQ(Bad(), "a.csv:2: column '2': class '3' is new");
}

TEST_F(OpenCsvTest, TextColumnsBecomeOneFeatureForEachName) {
  Write("colour,x,label\nred,1,a\ngreen,2,b\nred,3,a\n");
  const Dataset set = Good();
  EXPECT_THAT(set.feature_names(), ElementsAre("colour=green", "colour=red", "x"));
  EXPECT_THAT(Row(set, 0), ElementsAre(0, 1, 1));
  EXPECT_THAT(Row(set, 1), ElementsAre(1, 0, 2));
  source_.csv_settings.categories = {"colour=red|blue|green", "x"};
  EXPECT_THAT(Good().feature_names(),
              ElementsAre("colour=red", "colour=blue", "colour=green", "x=1", "x=2", "x=3"));
}

TEST_F(OpenCsvTest, ALateTextMakesAColumnOfNumbersANamedOne) {
  std::string text = "x,label\n";
  while (text.size() < (5u << 20)) text += "1,a\n2,b\n";
  Write(text + "many,a\n");
  const Dataset set = Good();
  EXPECT_THAT(set.feature_names(), ElementsAre("x=1", "x=2", "x=many"));
  EXPECT_THAT(Row(set, set.size() - 1), ElementsAre(0, 0, 1));
}

TEST_F(OpenCsvTest, TestDataAreReadAsTheTrainingData) {
  Write("c,x,label\nred,1,a\ngreen,2,b\n");
  const Dataset train = Good();
  source_.feature_names = train.feature_names();
  source_.label_names = train.label_names();
  Write("c,x,label\ngreen,5,b\n");
  EXPECT_THAT(Row(Good(), 0), ElementsAre(1, 0, 5));
  EXPECT_THAT(LabelsOf(Good()), ElementsAre(1));
  Write("c,x,label\nblue,5,b\n");
  EXPECT_EQ(Bad(), "a.csv:2: column 'c': 'blue': is not among the values of the training data");
  Write("c,z,label\ngreen,5,b\n");
  EXPECT_EQ(Bad(), "a.csv: its columns are not those of the training data");
}

TEST_F(OpenCsvTest, MissingValuesAreRefusedOrTheirRowsLeftOut) {
  Write("x,y,label\n1,2,a\n?,3,b\n4,,a\n5,6,NA\n");
  EXPECT_EQ(Bad(), "a.csv:3: column 'x': '?' is no value");
  source_.csv_settings.missing = CsvSettings::Missing::kDrop;
  EXPECT_EQ(Good().size(), 1u);
  source_.csv_settings.ignore = {"y"};
  EXPECT_EQ(Good().size(), 2u);
  source_.csv_settings.ignore = {};
  Write("x,label\n,a\n");
  EXPECT_EQ(Bad(), "a.csv: column 'x' has no value at all");
}

TEST_F(OpenCsvTest, TargetsAreNumbers) {
  Write("a,b,c\n1,2,3\n4,5,6\n");
  source_.wants_labels = false;
  EXPECT_EQ(Good().target(1)[0], 6);
  source_.csv_settings.targets = {"c", "1"};
  const Dataset set = Good();
  EXPECT_EQ(set.outputs(), 2u);
  EXPECT_EQ(set.target(1)[0], 6);
  EXPECT_EQ(set.target(1)[1], 4);
  EXPECT_THAT(set.feature_names(), ElementsAre("b"));
  Write("a,b,c\n1,2,3\n4,5,x\n");
  EXPECT_EQ(Bad(), "a.csv:3: column 'c': got 'x'");
}

TEST_F(OpenCsvTest, AKeyColumnDividesAndIsNoFeature) {
  Write("device,x,label\n12,1,a\n7,2,b\n12,3,a\n");
  source_.csv_settings.key = "device";
  EXPECT_THAT(Good().keys(), ElementsAre(12, 7, 12));
  EXPECT_THAT(Good().feature_names(), ElementsAre("x"));
  Write("device,x,label\nwatch,1,a\nphone,2,b\nwatch,3,a\n");
  EXPECT_THAT(Good().keys(), ElementsAre(1, 0, 1)) << "names are numbered in their order";
}

TEST_F(OpenCsvTest, EverySettingIsPartOfTheCachesName) {
  Write("x,y,label\n1,2,0\n");
  EXPECT_EQ(Good().features(), 2u);
  source_.csv_settings.ignore = {"y"};
  EXPECT_EQ(Good().features(), 1u);
  source_.csv_settings.label = "x";
  EXPECT_EQ(Good().label(0), 1u);
  source_.csv_settings.header = CsvSettings::Header::kNo;
  source_.csv_settings.ignore = {};
  source_.csv_settings.label = "1";
  EXPECT_EQ(Good().size(), 2u);
}

TEST_F(OpenCsvTest, FeaturesMayBeListed) {
  Write("x,soil,y,z,label\n1,dry,2,3,a\n4,wet,5,6,b\n");
  source_.csv_settings = {.features = {"z", "soil", "x"}, .categories = {"soil=dry|wet"}};
  const Dataset set = Good();
  EXPECT_THAT(set.feature_names(), ElementsAre("z", "soil=dry", "soil=wet", "x"));
  EXPECT_EQ(set.feature_names(), FeatureNamesOf(source_.csv_settings));
  std::vector<float> values(4);
  ReadRaw(set, 1, values);
  EXPECT_THAT(values, ElementsAre(6, 0, 1, 4));
  source_.csv_settings.features = {"z", "label"};
  EXPECT_EQ(Bad(ErrorCode::kConfig),
            "data.csv.features: column 'label' stands there twice, or is something else");
}

TEST_F(OpenCsvTest, MistakesNameTheirPlace) {
  Write("1,2,a\n1,2\n");
  EXPECT_EQ(Bad(), "a.csv:2: 2 cells, wanted 3 as in the first line");
  for (const char* const infinite : {"1e999", "-1e999", "inf", "-Infinity"}) {
    Write(std::string("x,label\n1,a\n") + infinite + ",a\n");
    EXPECT_EQ(Bad(), std::string("a.csv:3: column 'x': '") + infinite + "' is infinite");
  }
  Write("x,y,label\n1e-999,a,b\n2,inf,b\n");
  EXPECT_EQ(Good().size(), 2u) << "a text among texts is a name, and what is nearly nothing is 0";
  Write("x,label\n1e39,a\n");
  EXPECT_EQ(Bad(), "a.csv:2: column 'x': '1e39' is too large");
  Write("x,y,label\n1,2,a\n");
  source_.csv_settings.label = "z";
  EXPECT_EQ(Bad(ErrorCode::kConfig), "data.csv.label: there is no column 'z'");
  source_.csv_settings = {.ignore = {"x", "y"}};
  EXPECT_EQ(Bad(), "a.csv: no column is left for features");
  source_.csv_settings = {.separator = ",,"};
  EXPECT_EQ(Bad(ErrorCode::kConfig), "data.csv.separator: got ',,'");
  source_.csv_settings = {};
  Write("x,label\n");
  EXPECT_EQ(Bad(), "a.csv: no row behind the header");
  Write("\n \n");
  EXPECT_EQ(Bad(), "a.csv: no line with a cell");
}

TEST_F(OpenCsvTest, WhatIsNoFileOfTextIsRefused) {
  Write("");
  EXPECT_THAT(Bad(), HasSubstr("empty"));
  Write(std::string("\x1f\x8b\x08\0\0\0", 6));
  EXPECT_THAT(Bad(), HasSubstr("NUL byte"));
  source_.csv = folder_.path().string();
  Bad();
  source_.csv = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(source_.csv.c_str(), 0600), 0);
  Bad();
  source_.csv = folder_ / "none";
  Bad(ErrorCode::kNoInput);
}

TEST_F(OpenCsvTest, ManyTextsAndManyClassesAreRefused) {
  std::string names = "id,x,label\n";
  std::string classes = "x,label\n";
  for (int i = 0; i < 257; ++i) {
    names += "n" + std::to_string(i) + ",1,a\n";
    classes += "1,c" + std::to_string(i) + "\n";
  }
  Write(names);
  EXPECT_EQ(Bad(), "a.csv: column 'id' holds more than 256 different texts");
  Write(classes);
  EXPECT_EQ(Bad(), "a.csv:258: column 'label': more than 256 different classes");
}

TEST_F(OpenCsvTest, DescribeTellsWhatColumnsHold) {
  Write("t,c,label\n1,red,2\n3,?,10\n5,red,2\n");
  const Result<CsvSummary> summary = DescribeCsv(source_.csv, {});
  ASSERT_TRUE(summary.has_value()) << summary.error().Format();
  EXPECT_EQ(summary->rows, 3u);
  EXPECT_EQ(summary->rows_with_missing, 1u);
  EXPECT_TRUE(summary->header);
  EXPECT_EQ(summary->label, 2u);
  const CsvColumn& t = summary->columns[0];
  EXPECT_EQ(t.type, CsvColumn::Type::kNumber);
  EXPECT_EQ(t.least, 1);
  EXPECT_EQ(t.most, 5);
  EXPECT_EQ(t.mean, 3);
  EXPECT_NEAR(t.deviation, 1.632993, 1e-6);
  EXPECT_TRUE(t.whole);
  EXPECT_EQ(summary->columns[1].type, CsvColumn::Type::kCategory);
  EXPECT_EQ(summary->columns[1].missing, 1u);
  EXPECT_THAT(summary->columns[2].values, ElementsAre("2", "10")) << "numbers by value";
  EXPECT_THAT(summary->columns[2].counts, ElementsAre(2, 1));
}

}  // namespace
}  // namespace covey::data::open_csv_test
