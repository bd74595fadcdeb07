#include "node/publisher.h"

#include <cmath>
#include <utility>

#include "covey/log/log.h"
#include "covey/node/process.h"
#include "covey/store/published.h"

namespace covey::node {
namespace {

store::ModelFacts FactsOf(const learner::Score& score, const std::string& fleet,
                          const std::string& software) {
  store::ModelFacts facts;
  facts.fleet = fleet;
  facts.created_by = software;
  facts.batches = score.batches;
  facts.epoch = score.epoch;
  facts.held_out = score.validation.samples;
  if (score.validation.samples == 0) return facts;
  facts.accuracy = score.validation.accuracy;
  if (std::isfinite(score.validation.loss)) facts.loss = score.validation.loss;
  return facts;
}

}  // namespace

Publisher::Publisher(const Clock& clock, Settings settings, const nn::ModelSpec& spec,
                     const data::Dataset& set)
    : clock_(clock), settings_(std::move(settings)) {
  facts_.spec = spec;
  store::DescribeInput(set, settings_.image_fit, facts_);
  form_ = store::InputFormOf(facts_);
}

void Publisher::Restore() {
  const auto manifest = store::ReadManifest(settings_.folder);
  if (!manifest) {
    log::Warning(log::Category::kStore, "passed over a manifest: " + manifest.error().Format());
    return;
  }
  if (!*manifest) return;
  written_ = (*manifest)->facts;
  const std::string path = settings_.folder + "/" + store::kPublishedSafetensors;
  auto x = store::ReadParameters(path, facts_.spec);
  if (!x) {
    log::Warning(log::Category::kStore, "passed over a published model: " + x.error().Format());
    // What another model reached is no bar for this one.
    if (x.error().code == ErrorCode::kProtocol) written_.reset();
    return;
  }
  current_ = Shelved{std::make_shared<const tensor::FlatVector>(std::move(*x)), (*manifest)->facts};
}

void Publisher::Start() {
  thread_ = std::thread([this] {
    NameThread("publisher");
    LowerPriority();
    Run();
    ended_.Open();
  });
}

void Publisher::Offer(const EvaluatorThread::Best& best) {
  if (!best.x) return;
  Shelved shelved{best.x, FactsOf(best.score, settings_.fleet, settings_.software)};
  {
    const std::lock_guard lock(mutex_);
    // The checkpoint's best, which is published already.
    const bool same = written_ && current_ && written_->batches == shelved.facts.batches &&
                      shelved.facts.batches > 0 && current_->facts.batches == written_->batches;
    if (same) return;
    const std::optional<double>& margin = settings_.publish.margin;
    if (margin && written_ && !store::PassesGate(shelved.facts, *written_, *margin)) {
      ++report_.withheld;
      log::WriteLimited(log::Level::kWarning, log::Category::kStore, "withheld",
                        "a model is worse than the published one by more than publish.margin and "
                        "is not published");
      return;
    }
    current_ = shelved;
    if (!settings_.publish.models) return;
    next_ = std::move(shelved);
  }
  changed_.notify_one();
}

bool Publisher::Stop(Clock::Source::time_point deadline) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  return !thread_.joinable() || ended_.WaitUntil(deadline);
}

void Publisher::Join() {
  Stop(Clock::Source::now());
  if (thread_.joinable()) thread_.join();
}

void Publisher::Run() {
  Clock::Source::time_point earliest{};
  while (true) {
    Shelved shelved;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || next_; });
      // A better one may come while this one waits for its time.
      changed_.wait_until(lock, earliest, [this] { return stopping_; });
      if (!next_) return;
      shelved = std::move(*next_);
      next_.reset();
    }
    Write(shelved);
    earliest = Clock::Source::now() + settings_.publish.every;
  }
}

void Publisher::Write(const Shelved& shelved) {
  store::Model model;
  model.spec = facts_.spec;
  model.input = facts_.input;
  model.labels = facts_.labels;
  model.features = facts_.features;
  model.image_fit = facts_.image_fit;
  model.x = shelved.x->Clone();
  model.facts = shelved.facts;
  const auto manifest = store::Publish(settings_.folder, std::move(model));
  const std::lock_guard lock(mutex_);
  if (!manifest) {
    ++report_.failures;
    log::WriteLimited(log::Level::kError, log::Category::kStore, "publish",
                      "can't publish a model: " + manifest.error().Format());
    return;
  }
  written_ = manifest->facts;
  if (current_ && current_->x == shelved.x) current_->facts.version = manifest->facts.version;
  ++report_.written;
  report_.version = manifest->facts.version;
  report_.path = settings_.folder + "/" + store::kPublishedOnnx;
  report_.at = clock_.Now();
  log::Info(log::Category::kStore, "published a model",
            {{"path", report_.path},
             {"version", manifest->facts.version},
             {"accuracy", manifest->facts.accuracy.value_or(NAN)}});
}

Result<Prediction> Publisher::Predict(std::span<const float> raw) {
  Shelved shelved;
  {
    const std::lock_guard lock(mutex_);
    if (!current_) {
      return Fail(ErrorCode::kTemporary, "coveyd", "has no model to answer with yet",
                  "the first evaluation makes one: train.evaluate");
    }
    shelved = *current_;
  }
  const std::lock_guard lock(predicting_);
  if (!predictor_) predictor_.emplace(facts_.spec, facts_.input.mean, facts_.input.scale);
  nn::Predictor& predictor = *predictor_;
  if (Status fits = store::CheckSamples(predictor, raw); !fits) {
    return tl::unexpected(std::move(fits.error()));
  }
  Prediction prediction;
  prediction.samples = raw.size() / predictor.features();
  prediction.outputs.resize(prediction.samples * predictor.outputs());
  predictor.Run(shelved.x->view(), raw, prediction.outputs);
  prediction.version = shelved.facts.version;
  prediction.batches = shelved.facts.batches;
  return prediction;
}

PublishReport Publisher::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace covey::node
