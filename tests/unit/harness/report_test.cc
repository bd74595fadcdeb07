#include "covey/harness/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/harness/made_up.h"

namespace covey::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Report, ShowsTheHeadlineFiguresAndBothControls) {
  const std::string html = ReportHtml(MadeUpOutcome(), {});
  EXPECT_THAT(html, HasSubstr("87.78 %"));       // mean
  EXPECT_THAT(html, HasSubstr("+3.30 points"));  // over isolated at 0.8448
  EXPECT_THAT(html, HasSubstr("25.0 %"));
  EXPECT_THAT(html, HasSubstr("Validation accuracy over epochs"));
  EXPECT_THAT(html, HasSubstr("Validation loss over epochs"));
  EXPECT_THAT(html, HasSubstr("covey-sim run configs/experiments/fashion-8x25.yaml --seed 7"));
}

TEST(Report, DrawsTrafficByKindAndTheTopology) {
  const std::string html = ReportHtml(MadeUpOutcome(), {});
  EXPECT_THAT(html, HasSubstr("5,120 arrived"));  // WEIGHTS
  EXPECT_THAT(html, HasSubstr("1,720 dropped"));
  EXPECT_THAT(html, HasSubstr("8 nodes, 28 links"));
  Outcome alone = MadeUpOutcome();
  alone.links.clear();
  EXPECT_THAT(ReportHtml(alone, {}), Not(HasSubstr("<h2>Topology</h2>")));
  alone.links = {{0, 99}};  // no such node
  EXPECT_THAT(ReportHtml(alone, {}), Not(HasSubstr("<h2>Topology</h2>")));
}

TEST(Report, DrawsTheSpreadOverTimeWhereItIsKnown) {
  Outcome outcome = MadeUpOutcome();
  outcome.spread_curve.clear();
  EXPECT_THAT(ReportHtml(outcome, {}), Not(HasSubstr("Spread of the models over time")));
  outcome.spread_curve = {{0, 1}, {1, 0.5}, {2, 0.125}};
  const std::string html = ReportHtml(outcome, {});
  EXPECT_THAT(html, HasSubstr("Spread of the models over time"));
  EXPECT_THAT(html, HasSubstr("spread 0.125"));
}

TEST(Report, ShowsTheLivesOfSimulatedNodes) {
  const std::string daemons = ReportHtml(MadeUpOutcome(), {});
  EXPECT_THAT(daemons, Not(HasSubstr("virtual time")));
  EXPECT_THAT(daemons, Not(HasSubstr(">crashes<")));
  EXPECT_THAT(daemons, HasSubstr(">memory<"));
  Outcome outcome = MadeUpOutcome();
  outcome.virtual_seconds = 233;
  for (NodeOutcome& node : outcome.runs) {
    node.pss_bytes = 0;
    if (node.group == Group::kConsensus) node.life = NodeLife{.finished = 200};
  }
  std::string html = ReportHtml(outcome, {});
  EXPECT_THAT(html, HasSubstr("virtual time 3 min 53 s"));
  EXPECT_THAT(html, HasSubstr("3 min 20 s"));
  EXPECT_THAT(html, Not(HasSubstr(">crashes<")));
  EXPECT_THAT(html, Not(HasSubstr(">speed<")));
  EXPECT_THAT(html, Not(HasSubstr(">memory<")));
  for (NodeOutcome& node : outcome.runs) {
    if (node.life) node.life = NodeLife{.crashes = 17, .left = true, .speed = 0.25, .finished = 9};
  }
  html = ReportHtml(outcome, {});
  EXPECT_THAT(html, HasSubstr("<td>17</td>"));
  EXPECT_THAT(html, HasSubstr("0.25 ×"));
  EXPECT_THAT(html, HasSubstr("left early"));
}

TEST(Report, IsSelfContained) {
  const std::string html = ReportHtml(MadeUpOutcome(), {});
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
}

TEST(Report, EscapesEveryTextFromOutside) {
  Outcome outcome = MadeUpOutcome();
  const std::string evil = "<script>alert('x')</script>";
  outcome.experiment = outcome.description = outcome.model = outcome.build = outcome.command =
      outcome.mode = evil;
  outcome.notes = {evil};
  outcome.settings = {{evil, evil}};
  outcome.runs[0].end = End::kDied;
  outcome.runs[0].reason = evil;
  const std::string html =
      ReportHtml(outcome, {{.what = evil, .wanted = evil, .got = evil, .holds = false}});
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
}

TEST(Report, OfNothingIsStillAPage) {
  const std::string html = ReportHtml({}, {});
  EXPECT_THAT(html, HasSubstr("The run gave no figures."));
  EXPECT_THAT(html, Not(HasSubstr("<svg")));
  EXPECT_THAT(html, HasSubstr("</html>"));
}

TEST(Report, SaysWhatHoldsAndWhatDoesNot) {
  const Verdict good{.what = "accuracy", .wanted = ">= 0.8", .got = "0.9", .holds = true};
  const Verdict bad{.what = "spread", .wanted = "<= 0.1", .got = "0.2", .holds = false};
  EXPECT_THAT(ReportHtml(MadeUpOutcome(), {good}), HasSubstr("everything expected holds"));
  EXPECT_THAT(ReportHtml(MadeUpOutcome(), {good, bad}), HasSubstr("not everything expected holds"));
}

}  // namespace
}  // namespace covey::harness
