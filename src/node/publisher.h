// Publishes the best model: in memory, for predictions, and as files, on a thread of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/node_config.h"
#include "covey/data/dataset.h"
#include "covey/nn/predictor.h"
#include "covey/node/report.h"
#include "covey/store/model.h"
#include "node/clock.h"
#include "node/evaluator_thread.h"
#include "node/gate.h"

namespace covey::node {

// Limits: one model that waits to be written; a better one takes its place.
class Publisher {
 public:
  struct Settings {
    Settings(const config::NodeConfig& config, std::string by)
        : publish(config.publish),
          image_fit(config.data.train.image_fit),
          folder(config.node.state_dir + "/model"),
          fleet(config.fleet.name),
          software(std::move(by)) {}

    config::PublishSettings publish;
    data::ImageFit image_fit;
    std::string folder;  // <state_dir>/model
    std::string fleet;
    std::string software;
  };

  // set: what the model was trained on.
  Publisher(const Clock& clock, Settings settings, const nn::ModelSpec& spec,
            const data::Dataset& set);
  ~Publisher() { Join(); }

  // Answers with the published model until there is a better one. Before Start. Files that can't be
  // used are logged and passed over.
  void Restore();
  void Start();

  // A new best model. Never blocks on the disk. Thread: any.
  void Offer(const EvaluatorThread::Best& best);

  // Asks the thread to end after it has written what waits. Returns: whether it has ended by then.
  bool Stop(Clock::Source::time_point deadline);
  void Join();

  // Shapes: raw [samples][features]. Thread: any; one after the other.
  // Errors: kTemporary before there is a model; kData when a number is not finite, or no symbol,
  // or the numbers don't fill samples.
  Result<Prediction> Predict(std::span<const float> raw);

  const nn::ModelSpec& spec() const { return facts_.spec; }
  const data::LabelNames& labels() const { return facts_.labels; }
  const data::InputForm& input_form() const { return form_; }
  PublishReport report() const;

 private:
  // A model in memory; its parameters are shared with the evaluator.
  struct Shelved {
    std::shared_ptr<const tensor::FlatVector> x;
    store::ModelFacts facts;
  };

  void Run();
  void Write(const Shelved& shelved);

  const Clock& clock_;
  const Settings settings_;
  store::Model facts_;  // without parameters
  data::InputForm form_;
  Gate ended_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Shelved> current_;
  std::optional<Shelved> next_;  // to be written
  std::optional<store::ModelFacts> written_;
  bool stopping_ = false;
  PublishReport report_;

  std::mutex predicting_;
  std::optional<nn::Predictor> predictor_;  // made by the first question

  std::thread thread_;
};

}  // namespace covey::node
