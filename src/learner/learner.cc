#include "covey/learner/learner.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "covey/base/check.h"
#include "covey/base/random.h"
#include "covey/tensor/kernels.h"

namespace covey::learner {
namespace {

tensor::FlatVector CopyOf(tensor::ConstVectorView values) {
  tensor::FlatVector copy(values.size());
  std::copy(values.begin(), values.end(), copy.view().begin());
  return copy;
}

consensus::Settings With(consensus::Settings settings, std::size_t samples) {
  settings.samples = samples;
  return settings;
}

}  // namespace

Learner::Learner(const Settings& settings, data::Dataset train, data::Indices shard, Host& host)
    : settings_(settings),
      train_(std::move(train)),
      host_(host),
      parameters_(nn::LayoutOf(settings.model).size()),
      x_(optim::ExchangedSize(settings.optimizer, parameters_)),
      sampler_(std::move(shard), {settings.batch, settings.seed, settings.node}),
      trainer_(settings.model, settings.optimizer,
               settings.grows ? settings.batch : std::min(settings.batch, sampler_.size()),
               settings.tasks),
      core_(With(settings.consensus, sampler_.size()),
            Stream(settings.seed, settings.node, Purpose::kPeers), settings.first_exchange) {
  Stream stream(settings.seed, settings.init_stream, Purpose::kInit);
  nn::Initialise(settings.model, stream, parameters());
  trainer_.optimizer().PlaceExchanged(x_.view());
  trainer_.optimizer().EndRound(parameters());  // the first one starts here
  if (settings.average > 0) y_ = CopyOf(parameters());
}

Status Learner::Restore(const Saved& saved) {
  if (saved.x.size() != parameters_) {
    return Fail(ErrorCode::kData, "checkpoint",
                "holds " + std::to_string(saved.x.size()) + " parameters, the model has " +
                    std::to_string(parameters_));
  }
  for (auto& slot : trainer_.optimizer().state()) {
    bool found = false;
    for (const auto& [name, values] : saved.optimizer) {
      if (name != slot.name || values.size() != slot.values.size()) continue;
      std::memcpy(slot.values.data(), values.data(), values.size() * sizeof(float));
      found = true;
    }
    if (!found) {
      return Fail(ErrorCode::kData, "checkpoint",
                  "has no optimizer state '" + std::string(slot.name) + "' of this size",
                  "the optimizer was changed: start with an empty state directory");
    }
  }
  // Where a shard that grows was in its pass means nothing to what it is now.
  const data::Cursor cursor =
      settings_.grows ? data::Cursor{saved.cursor.epoch + 1, 0} : saved.cursor;
  if (Status placed = sampler_.Seek(cursor); !placed) return placed;
  std::copy(saved.x.view().begin(), saved.x.view().end(), parameters().begin());
  if (settings_.average > 0) y_ = saved.x.Clone();
  trainer_.optimizer().RestoreSteps(saved.optimizer_steps);
  core_.Restore(saved.batches, saved.rounds);
  return {};
}

Saved Learner::Save() {
  Saved saved;
  saved.x = CopyOf(parameters());
  for (const auto& slot : trainer_.optimizer().state()) {
    saved.optimizer.emplace_back(slot.name, CopyOf(slot.values));
  }
  saved.optimizer_steps = trainer_.optimizer().steps();
  saved.batches = core_.counters().batches;
  saved.rounds = core_.counters().rounds;
  saved.cursor = sampler_.cursor();
  return saved;
}

void Learner::Replace(data::Dataset train, data::Indices shard) {
  COVEY_CHECK(settings_.grows);
  const double before = epochs();
  const data::Cursor cursor{sampler_.cursor().epoch + 1, 0};
  train_ = std::move(train);
  sampler_ = data::Sampler(std::move(shard), {settings_.batch, settings_.seed, settings_.node});
  const Status placed = sampler_.Seek(cursor);
  COVEY_CHECK(placed.has_value(), cursor.epoch);
  skipped_ = sampler_.epochs() - before;
  core_.SetSamples(sampler_.size());
}

Next Learner::Start(Time now) { return Handle(now, consensus::Started{}); }

Next Learner::Handle(Time now, const consensus::Event& event) {
  actions_.clear();
  if (next_.kind == Next::Kind::kTrain) next_.batches = 0;
  if (const auto* up = std::get_if<consensus::PeerUp>(&event)) takes_[up->peer] = up->takes;
  if (const auto* down = std::get_if<consensus::PeerDown>(&event)) takes_.erase(down->peer);
  core_.Handle(now, event, actions_);
  return Run(now, actions_);
}

Next Learner::OnMail(Time now) {
  COVEY_CHECK(next_.kind == Next::Kind::kWait, next_.batches);
  actions_.clear();
  std::optional<consensus::Message> message = host_.Take();
  if (!message) return next_;
  optim::Optimizer& optimizer = trainer_.optimizer();
  optimizer.BeginMixing(parameters());
  while (message) {
    Apply(now, *message, actions_);
    Run(now, actions_);
    if (next_.kind != Next::Kind::kWait) break;
    message = host_.Take();
  }
  optimizer.EndMixing(parameters());
  return next_;
}

gradient::StepResult Learner::TrainBatch() {
  encoded_.reset();
  const gradient::StepResult result = trainer_.Step(parameters(), train_, sampler_.Next());
  samples_ += result.samples;
  seen_ += result.samples;
  loss_sum_ += result.loss_sum;
  correct_ += result.correct;
  return result;
}

Error Learner::NotFinite() const {
  const std::optional<std::string> layer = trainer_.FirstNonFinite();
  char epoch[32];
  std::snprintf(epoch, sizeof epoch, "%.2f", epochs());
  return Error{ErrorCode::kSoftware, "training",
               "the loss of step " + std::to_string(trainer_.optimizer().steps() + 1) + " (epoch " +
                   epoch + ") is not a finite number" +
                   (layer ? ", nor are the outputs of layer " + *layer
                          : ", though the outputs of every layer are"),
               "lower train.optimizer.learning_rate, or look at the data"};
}

Next Learner::Trained(Time now, std::uint32_t batches) {
  return Handle(now, consensus::Trained{batches});
}

Next Learner::Run(Time now, std::vector<consensus::Action>& actions) {
  // The list grows while it runs: draining the FIFO makes new actions.
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const consensus::Action action = actions[i];
    if (const auto* train = std::get_if<consensus::Train>(&action)) {
      next_ = Next{Next::Kind::kTrain, train->batches, kNever};
    } else if (const auto* wait = std::get_if<consensus::Wait>(&action)) {
      next_ = Next{Next::Kind::kWait, 0, wait->until};
    } else if (const auto* drain = std::get_if<consensus::Drain>(&action)) {
      Drain(now, actions);
      if (drain->ends_round) {
        trainer_.optimizer().EndRound(parameters());
        Average();
      }
      core_.Handle(now, consensus::Drained{}, actions);
    } else if (const auto* weights = std::get_if<consensus::SendWeights>(&action)) {
      SendWeights(*weights);
    } else if (const auto* ask = std::get_if<consensus::AskToJoin>(&action)) {
      host_.AskToJoin(ask->peer);
    } else if (std::get_if<consensus::Publish>(&action) != nullptr) {
      Snapshot snapshot = TakeSnapshot();
      if (tensor::AllFinite(snapshot.x->view())) last_good_ = snapshot;
      host_.Publish(std::move(snapshot));
    }
  }
  actions.clear();
  return next_;
}

void Learner::Drain(Time now, std::vector<consensus::Action>& actions) {
  std::optional<consensus::Message> message = host_.Take();
  if (!message) return;
  trainer_.optimizer().BeginMixing(parameters());
  for (; message; message = host_.Take()) Apply(now, *message, actions);
  trainer_.optimizer().EndMixing(parameters());
}

void Learner::Apply(Time now, const consensus::Message& message,
                    std::vector<consensus::Action>& actions) {
  encoded_.reset();
  reply_as_ = TakenBy(message.peer).Choose(settings_.consensus.encoding.deltas);
  // What is no segment of x is refused by the core, which then writes no reply.
  const std::size_t replied = consensus::IsSegmentOf(message.segment, x_.size())
                                  ? consensus::RangeOf(message.segment, x_.size()).size
                                  : x_.size();
  const std::size_t size = tensor::EncodedSize(reply_as_, replied);
  if (!reply_ || reply_->size() != size) reply_ = std::make_shared<AlignedBuffer>(size);
  const std::size_t before = actions.size();
  constexpr auto kTooFar = static_cast<std::size_t>(consensus::DropReason::kTooFar);
  const std::uint64_t too_far = core_.counters().dropped[kTooFar];
  core_.Handle(now, consensus::Received{&message, x_.view(), {reply_as_, reply_->view()}}, actions);
  if (core_.counters().dropped[kTooFar] != too_far) host_.TooFar(message.peer);
  // The reply buffer is overwritten by the next message, so its answer leaves at once.
  for (std::size_t i = before; i < actions.size(); ++i) {
    if (const auto* deltas = std::get_if<consensus::SendDeltas>(&actions[i])) SendDeltas(*deltas);
  }
}

void Learner::Average() {
  if (y_.size() == 0) return;
  ++averaged_;
  const double least = 1 / (1 + static_cast<double>(averaged_));
  const auto weight =
      static_cast<float>(std::max(1 - static_cast<double>(settings_.average), least));
  for (std::size_t i = 0; i < y_.size(); ++i) y_[i] += weight * (x_[i] - y_[i]);
}

void Learner::SendWeights(const consensus::SendWeights& send) {
  // A newcomer starts from the copy: it gets every bit of it.
  const tensor::Encoding encoding =
      send.copy ? tensor::Encoding::kFloat32
                : TakenBy(send.peer).Choose(settings_.consensus.encoding.weights);
  if (!encoded_ || encoded_as_ != encoding || encoded_segment_ != send.segment) {
    const consensus::SegmentRange range = consensus::RangeOf(send.segment, x_.size());
    auto buffer = std::make_shared<AlignedBuffer>(tensor::EncodedSize(encoding, range.size));
    tensor::Encode(encoding, x_.view().subspan(range.begin, range.size), buffer->view());
    encoded_ = std::move(buffer);
    encoded_as_ = encoding;
    encoded_segment_ = send.segment;
  }
  consensus::Message message;
  message.kind = consensus::MessageKind::kWeights;
  message.peer = send.peer;
  message.exchange = send.exchange;
  message.gamma_max = send.gamma_max;
  message.samples = sampler_.size();
  message.no_reply = send.copy;
  message.copy = send.copy;
  message.segment = send.segment;
  message.training = core_.state() == consensus::State::kTraining;
  message.encoding = encoding;
  message.payload = encoded_;
  host_.Send(std::move(message));
}

void Learner::SendDeltas(const consensus::SendDeltas& send) {
  consensus::Message message;
  message.kind = consensus::MessageKind::kDeltas;
  message.peer = send.peer;
  message.exchange = send.exchange;
  message.segment = send.segment;
  message.training = core_.state() == consensus::State::kTraining;
  message.encoding = reply_as_;
  message.payload = std::move(reply_);
  host_.Send(std::move(message));
}

tensor::EncodingSet Learner::TakenBy(const PeerKey& peer) const {
  const auto found = takes_.find(peer);
  return found == takes_.end() ? tensor::EncodingSet() : found->second;
}

Snapshot Learner::TakeSnapshot() {
  Snapshot snapshot;
  const bool averaged = y_.size() > 0 && core_.state() == consensus::State::kTraining;
  snapshot.x =
      std::make_shared<const tensor::FlatVector>(averaged ? y_.Clone() : CopyOf(parameters()));
  snapshot.batches = core_.counters().batches;
  snapshot.rounds = core_.counters().rounds;
  snapshot.epochs = epochs();
  snapshot.state = core_.state();
  snapshot.settled = core_.settled();
  if (seen_ > 0) {
    snapshot.train_loss = loss_sum_ / static_cast<double>(seen_);
    snapshot.train_accuracy = static_cast<double>(correct_) / static_cast<double>(seen_);
  }
  loss_sum_ = 0;
  correct_ = 0;
  seen_ = 0;
  return snapshot;
}

}  // namespace covey::learner
