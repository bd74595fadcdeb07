#include "control/convert.h"

#include <algorithm>
#include <string>

#include "covey/wire/reason.h"

namespace covey::control {
namespace {

api::Metrics ToMetrics(const gradient::Evaluation& evaluation) {
  api::Metrics to;
  to.top5 = evaluation.top5;
  if (evaluation.errors) {
    to.mean_squared_error = evaluation.errors->mean_squared;
    to.mean_absolute_error = evaluation.errors->mean_absolute;
    to.r2 = evaluation.errors->r2;
  }
  return to;
}

api::Score ToScore(const learner::Score& score, const std::optional<gradient::Evaluation>& test) {
  api::Score to;
  to.epoch = score.epoch;
  if (score.validation.samples > 0) {
    to.validation_loss = score.validation.loss;
    to.validation_accuracy = score.validation.accuracy;
    to.validation_metrics = ToMetrics(score.validation);
  }
  if (test) {
    to.test_loss = test->loss;
    to.test_accuracy = test->accuracy;
    to.test_metrics = ToMetrics(*test);
  }
  return to;
}

double Age(Time now, Time then) { return std::max(0.0, Seconds(now - then)); }

std::string StateName(session::State state) {
  switch (state) {
    case session::State::kReady:
      return "up";
    case session::State::kWaiting:
      return "connecting";
    case session::State::kRefused:
      return "refused";
    case session::State::kClosed:
      break;
  }
  return "down";
}

void FillProgress(const node::Report& report, const setup::Assembly& assembly,
                  const ToMonotonic& monotonic, api::NodeStatus& status) {
  const node::Progress& progress = report.progress;
  status.state = ToState(progress.stage);
  status.paused = progress.paused;
  status.uptime_seconds = Seconds(report.now);
  status.epochs = progress.epochs;
  status.batches = progress.core.batches;
  status.until_batches = assembly.learner.consensus.until_batches;
  status.rounds = progress.core.rounds;
  status.samples = progress.samples;
  if (progress.first_batch && progress.last_batch) {
    status.first_batch_ns = monotonic(*progress.first_batch);
    status.last_batch_ns = monotonic(*progress.last_batch);
    const double seconds = Seconds(*progress.last_batch - *progress.first_batch);
    if (seconds > 0) status.samples_per_second = static_cast<double>(progress.samples) / seconds;
  }
  status.train_loss = progress.train_loss;
  const node::EvaluationReport& evaluation = report.evaluation;
  // Without a validation set a score says nothing.
  if (evaluation.last && evaluation.last->validation.samples > 0) {
    status.last_evaluation = ToEvaluation(*evaluation.last, monotonic(evaluation.last_at));
  }
  if (evaluation.best && evaluation.best->validation.samples > 0) {
    status.best_evaluation = ToEvaluation(*evaluation.best, 0);
  }
  status.evaluations_skipped = evaluation.skipped;
  if (evaluation.final_scores) status.final_results = ToFinal(*evaluation.final_scores);
}

void FillTraffic(const node::Report& report, api::NodeStatus& status) {
  const learner::LinkCounters& links = report.network.links;
  status.traffic.weights_sent = links.session.weights_out;
  status.traffic.deltas_sent = links.session.deltas_out;
  status.traffic.weights_dropped = links.faults.weights_dropped;
  status.traffic.deltas_dropped = links.faults.deltas_dropped;
  status.traffic.weights_received = links.session.weights_in;
  status.traffic.deltas_received = links.session.deltas_in;
  status.traffic.bytes_sent = links.session.bytes_out;
  status.traffic.bytes_received = links.session.bytes_in;
  status.traffic.resumed = links.session.resumed_in;
  status.traffic.send_rate = report.network.send_rate;
  status.traffic.quota_left = report.network.quota_left;

  const auto reject = [&status](std::string name, std::uint64_t count) {
    if (count > 0) status.rejects.emplace_back(std::move(name), count);
  };
  for (std::size_t i = 0; i < wire::kReasons; ++i) {
    reject(std::string(wire::Name(static_cast<wire::Reason>(i))), links.session.rejected[i]);
  }
  if (const auto& admissions = report.network.admissions) {
    status.admissions = {admissions->admitted, admissions->revoked, admissions->let_in};
    for (std::size_t i = 0; i < membership::kRefusals; ++i) {
      reject("record_" + std::string(membership::Name(static_cast<membership::Refusal>(i))),
             admissions->refused[i]);
    }
  }
  const consensus::Counters& core = report.progress.core;
  const auto dropped = [&core](consensus::DropReason reason) {
    return core.dropped[static_cast<std::size_t>(reason)];
  };
  reject("core_not_pending", dropped(consensus::DropReason::kNotPending));
  reject("core_duplicate", dropped(consensus::DropReason::kDuplicate));
  reject("core_joining", dropped(consensus::DropReason::kJoining));
  reject("core_unwanted_copy", dropped(consensus::DropReason::kUnwantedCopy));
  reject("core_wrong_size", dropped(consensus::DropReason::kWrongSize));
  reject("core_too_far", dropped(consensus::DropReason::kTooFar));
  reject("fifo_refused_weights", report.fifo.counters.refused_weights);
  reject("fifo_refused_deltas", report.fifo.counters.refused_deltas);
}

api::LiveStatus ToLiveStatus(const node::LiveReport& from, bool waiting,
                             const data::LabelNames& names) {
  api::LiveStatus to;
  to.to_train = from.to_train;
  to.set_aside = from.set_aside;
  to.start_at = from.start_at;
  to.waiting = waiting;
  to.accepted = from.accepted;
  to.rejected = from.rejected;
  to.quarantined = from.quarantined;
  to.last_rejected = from.last_rejected;
  if (from.age) to.age_seconds = Seconds(*from.age);
  for (std::size_t i = 0; i < from.classes.size(); ++i) {
    to.classes.emplace_back(i < names.size() ? names[i] : std::to_string(i), from.classes[i]);
  }
  return to;
}

api::Member ToMember(const membership::Known& known, const node::NetworkReport& network, Time now) {
  api::Member to;
  to.key = known.key.Hex();
  to.address = known.address;
  to.state = std::string(membership::Name(known.state));
  to.reason = known.reason;
  to.since_seconds = Age(now, known.since);
  if (known.linked) {
    to.heard_seconds = 0;
  } else if (known.heard) {
    to.heard_seconds = Age(now, *known.heard);
  }
  to.linked = known.linked;
  to.dialled = known.dialled;
  if (const auto problem = network.problems.find(known.key); problem != network.problems.end()) {
    to.problem = problem->second;
  }
  for (const learner::PeerInfo& info : network.peers) {
    if (info.key != known.key) continue;
    if (info.state != session::State::kReady) continue;
    to.software = info.software;
    if (info.rtt) to.rtt_seconds = Seconds(*info.rtt);
    to.pings = info.pings;
    to.pongs = info.pongs;
  }
  return to;
}

}  // namespace

api::State ToState(node::Stage stage) {
  switch (stage) {
    case node::Stage::kStarting:
      return api::State::kStarting;
    case node::Stage::kJoining:
      return api::State::kJoining;
    case node::Stage::kTraining:
      return api::State::kTraining;
    case node::Stage::kSettling:
      return api::State::kSettling;
    case node::Stage::kDone:
      return api::State::kDone;
    case node::Stage::kLeaving:
      break;
  }
  return api::State::kLeaving;
}

api::Evaluation ToEvaluation(const learner::Score& score, std::uint64_t time_ns) {
  return {score.epoch,
          score.batches,
          score.validation.loss,
          score.validation.accuracy,
          time_ns,
          ToMetrics(score.validation)};
}

api::FinalResults ToFinal(const learner::FinalScores& scores) {
  return {ToScore(scores.best, scores.best_test), ToScore(scores.last, scores.last_test),
          scores.confusion.counts};
}

Result<api::Pushed> PushTo(node::Daemon& daemon, const api::Samples& samples) {
  auto pushed = samples.table.empty()
                    ? daemon.Push(samples.values, samples.classes, samples.targets)
                    : daemon.PushTable(samples.table);
  if (!pushed) return tl::unexpected(std::move(pushed.error()));
  return api::Pushed{pushed->accepted, pushed->rejected, std::move(pushed->reason)};
}

void Fill(const node::Report& report, const setup::Assembly& assembly, const ToMonotonic& monotonic,
          api::NodeStatus& status) {
  FillProgress(report, assembly, monotonic, status);
  FillTraffic(report, status);
  status.model = assembly.links.session.model_summary;
  status.parameters = assembly.links.session.vector_size;
  status.fifo_size = report.fifo.size;
  status.fifo_bytes = report.fifo.bytes;
  status.fifo_evicted = report.fifo.counters.evicted_weights;
  for (const learner::PeerInfo& info : report.network.peers) {
    api::Peer peer;
    if (info.key) peer.key = info.key->Hex();
    peer.address = info.address;
    peer.state = StateName(info.state);
    peer.since_seconds = Age(report.now, info.since);
    if (info.rtt) peer.rtt_seconds = Seconds(*info.rtt);
    status.peers.push_back(std::move(peer));
  }
  if (report.live) {
    const data::LabelNames& names =
        assembly.live ? assembly.live->like.label_names() : data::LabelNames();
    status.live = ToLiveStatus(*report.live, report.progress.waits, names);
  }
  for (const membership::Known& known : report.network.members) {
    status.members.push_back(ToMember(known, report.network, report.now));
  }
  if (!report.endpoint.empty()) status.endpoints.push_back(report.endpoint);
  status.pss_bytes = report.pss_bytes;
  status.peak_pss_bytes = report.peak_pss_bytes;
  status.checkpoint.path = report.checkpoint.path;
  status.checkpoint.batches = report.checkpoint.batches;
  status.checkpoint.age_seconds =
      report.checkpoint.path.empty() ? 0 : Age(report.now, report.checkpoint.at);
  status.checkpoint.written = report.checkpoint.written;
  status.checkpoint.failures = report.checkpoint.failures;
}

Result<api::Predictions> AnswerFrom(node::Daemon& daemon, const api::Question& question) {
  auto prediction = daemon.Predict(question.values);
  if (!prediction) return tl::unexpected(std::move(prediction.error()));
  const std::size_t outputs = prediction->outputs.size() / prediction->samples;
  api::Predictions to;
  to.version = prediction->version;
  to.batches = prediction->batches;
  to.answers = nn::IsClassification(daemon.model())
                   ? api::RankAnswers(prediction->outputs, outputs, daemon.labels(), question.top)
                   : api::ValueAnswers(prediction->outputs, outputs);
  return to;
}

}  // namespace covey::control
