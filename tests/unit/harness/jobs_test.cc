#include "covey/harness/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <mutex>

#include "support/temporary_folder.h"

namespace covey::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

class Jobs : public testing::Test {
 protected:
  JobStore Open() {
    Result<JobStore> store = JobStore::Open(path_);
    EXPECT_TRUE(store) << store.error().Format();
    return std::move(*store);
  }
  void Write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::string Read() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "results.jsonl";
};

// Remembers what it was told.
class Recorder : public JobListener {
 public:
  void Skipped(std::size_t job) override { skipped.push_back(job); }
  void Started(std::size_t job) override { started.push_back(job); }
  void Progress(std::size_t job, double fraction) override { progress.emplace_back(job, fraction); }
  void Finished(std::size_t job, const std::string& result) override {
    finished.emplace_back(job, result);
  }
  void Failed(std::size_t job, const Error&) override { failed.push_back(job); }

  std::vector<std::size_t> skipped, started, failed;
  std::vector<std::pair<std::size_t, double>> progress;
  std::vector<std::pair<std::size_t, std::string>> finished;
};

Job Answer(const std::string& id, const std::string& result) {
  return {.id = id, .title = id, .run = [result](const JobContext&) {
            return Result<std::optional<std::string>>(result);
          }};
}

constexpr std::string_view kTwoLines =
    "{\"job\":\"a\",\"result\":{\"x\":1}}\n{\"job\":\"b\",\"result\":{\"x\":2}}\n";

TEST_F(Jobs, ResultsOutliveTheProcess) {
  {
    JobStore store = Open();
    ASSERT_TRUE(store.Append("a", "{\"x\":1}"));
    ASSERT_TRUE(store.Append("b", "{\"x\":2}"));
  }
  EXPECT_EQ(Read(), kTwoLines);
  EXPECT_THAT(Open().results(), ElementsAre(Pair("a", "{\"x\":1}"), Pair("b", "{\"x\":2}")));
}

TEST_F(Jobs, AnIdMayHoldAnyCharacters) {
  const std::string id = "row \"1\"\\\n/seed=2";
  ASSERT_TRUE(Open().Append(id, "3"));
  EXPECT_THAT(Open().results(), ElementsAre(Pair(id, "3")));
}

// Every length to which a power cut may have torn the last line.
TEST_F(Jobs, ATornLastLineIsCutAwayAndItsJobRunsAgain) {
  const std::size_t first = kTwoLines.find('\n') + 1;
  for (std::size_t length = first + 1; length < kTwoLines.size(); ++length) {
    Write(std::string(kTwoLines.substr(0, length)));
    {
      JobStore store = Open();
      EXPECT_THAT(store.results(), ElementsAre(Pair("a", "{\"x\":1}"))) << length;
      ASSERT_TRUE(store.Append("b", "{\"x\":2}"));
    }
    EXPECT_EQ(Read(), kTwoLines) << length;
  }
}

TEST_F(Jobs, ALastLineOfZerosIsTornToo) {
  Write(std::string(kTwoLines) + std::string(40, '\0') + '\n');
  EXPECT_EQ(Open().results().size(), 2u);
  EXPECT_EQ(Read(), kTwoLines);
}

TEST_F(Jobs, AWrongLineBeforeOthersIsNamedAndNothingIsTouched) {
  const std::string text = "{\"job\":\"a\"}\n" + std::string(kTwoLines);
  Write(text);
  const Result<JobStore> store = JobStore::Open(path_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kData);
  EXPECT_THAT(store.error().where, HasSubstr("results.jsonl:1"));
  EXPECT_EQ(Read(), text);
}

TEST_F(Jobs, TwoProcessesDoNotShareAStore) {
  const JobStore store = Open();
  const Result<JobStore> second = JobStore::Open(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kTemporary);
}

TEST_F(Jobs, AFolderThatIsMissingIsAnError) {
  const Result<JobStore> store = JobStore::Open(folder_ / "none/results.jsonl");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kCantCreate);
}

TEST_F(Jobs, FinishedJobsAreSkippedAndTheOthersRun) {
  Write("{\"job\":\"b\",\"result\":7}\n");
  JobStore store = Open();
  Recorder heard;
  const auto end = RunJobs({Answer("a", "1"), Answer("b", "2"), Answer("c", "3")},
                           {.workers = 2, .stopped = {}}, store, heard);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->done, 3u);
  EXPECT_FALSE(end->interrupted);
  EXPECT_THAT(heard.skipped, ElementsAre(1));
  EXPECT_THAT(heard.started, UnorderedElementsAre(0, 2));
  EXPECT_THAT(heard.finished, UnorderedElementsAre(Pair(0, "1"), Pair(2, "3")));
  EXPECT_THAT(store.results(), ElementsAre(Pair("a", "1"), Pair("b", "7"), Pair("c", "3")));
}

TEST_F(Jobs, AStopKeepsWhatIsDoneAndTheNextRunGoesOn) {
  std::atomic<bool> stop{false};
  std::vector<Job> jobs = {Answer("a", "1")};
  jobs.push_back({.id = "b", .title = "b", .run = [&stop](const JobContext& context) {
                    stop = true;  // as if the user pressed Ctrl-C meanwhile
                    EXPECT_TRUE(context.stopped());
                    return Result<std::optional<std::string>>(std::nullopt);
                  }});
  jobs.push_back(Answer("c", "3"));
  {
    JobStore store = Open();
    Recorder heard;
    const auto end =
        RunJobs(jobs, {.workers = 1, .stopped = [&stop] { return stop.load(); }}, store, heard);
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->interrupted);
    EXPECT_EQ(end->done, 1u);
    EXPECT_THAT(heard.started, ElementsAre(0, 1));
  }
  jobs[1] = Answer("b", "2");
  JobStore store = Open();
  Recorder heard;
  const auto end = RunJobs(jobs, {.workers = 1, .stopped = {}}, store, heard);
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->interrupted);
  EXPECT_THAT(heard.skipped, ElementsAre(0));
  EXPECT_THAT(heard.started, ElementsAre(1, 2));
}

TEST_F(Jobs, AFailureIsToldNotStoredAndKeepsNoneFromRunning) {
  std::vector<Job> jobs = {Answer("a", "1"), Answer("b", "2")};
  jobs[0].run = [](const JobContext&) -> Result<std::optional<std::string>> {
    return Fail(ErrorCode::kSoftware, "node 3", "the loss is not a finite number");
  };
  JobStore store = Open();
  Recorder heard;
  const auto end = RunJobs(jobs, {.workers = 1, .stopped = {}}, store, heard);
  ASSERT_TRUE(end);
  ASSERT_EQ(end->failed.size(), 1u);
  EXPECT_EQ(end->failed[0].first, 0u);
  EXPECT_EQ(end->failed[0].second.where, "node 3");
  EXPECT_FALSE(end->interrupted);
  EXPECT_THAT(heard.failed, ElementsAre(0));
  EXPECT_THAT(store.results(), ElementsAre(Pair("b", "2")));
}

// Both jobs wait for one another: with fewer than two threads this would never end.
TEST_F(Jobs, AsManyRunAtOnceAsThereAreWorkers) {
  std::atomic<int> inside{0};
  const auto meet = [&inside](const JobContext& context) {
    ++inside;
    while (inside < 2) context.progress(0.5);
    return Result<std::optional<std::string>>("1");
  };
  std::vector<Job> jobs = {Answer("a", ""), Answer("b", "")};
  jobs[0].run = jobs[1].run = meet;
  JobStore store = Open();
  Recorder heard;
  ASSERT_TRUE(RunJobs(jobs, {.workers = 2, .stopped = {}}, store, heard));
  EXPECT_EQ(heard.finished.size(), 2u);
}

}  // namespace
}  // namespace covey::harness
