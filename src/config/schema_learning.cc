// The sections `train` and `consensus`.
#include <string_view>
#include <utility>

#include "config/bindings.h"
#include "config/schema_parts.h"

namespace covey::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kMostBatches = 1'000'000'000'000;

constexpr Interval kBelowOne{.low = 0, .high = 0.999999};
constexpr Interval kUpToOne{.low = 0, .high = 1, .above = true};

void VisitResilient(Visitor& v, optim::Settings& o) {
  v.Scalar({"eta_minus", "rprop_*, irprop_*: factor of a step size when the gradient turns"},
           Real(o.eta_minus, {.low = 0, .high = 0.999999, .above = true}));
  v.Scalar({"eta_plus", "rprop_*, irprop_*: factor of a step size while the gradient's sign stays"},
           Real(o.eta_plus, {.low = 1, .high = 10, .above = true}));
  const Interval steps{.low = 0, .high = 1e6, .above = true};
  v.Scalar({"step_initial", "rprop_*, irprop_*: first step size of every parameter"},
           Real(o.step_initial, steps));
  v.Scalar({"step_min", "rprop_*, irprop_*: step sizes don't shrink below it"},
           Real(o.step_min, steps));
  v.Scalar({"step_max", "rprop_*, irprop_*: step sizes don't grow beyond it"},
           Real(o.step_max, steps));
}

void VisitOptimizer(Visitor& v, optim::Settings& o) {
  using Kind = optim::Settings::Kind;
  std::vector<std::pair<Kind, std::string_view>> kinds;
  for (const Kind kind :
       {Kind::kAdam, Kind::kAdamW, Kind::kSgd, Kind::kRmsProp, Kind::kQuasiGlobal, Kind::kBackprop,
        Kind::kRpropMinus, Kind::kRpropPlus, Kind::kIrpropMinus, Kind::kIrpropPlus}) {
    kinds.emplace_back(kind, optim::Name(kind));
  }
  v.Scalar(
      {"kind", "quasi_global is the one for skewed data; the rprop kinds want data.batch: all"},
      Word<Kind>(o.kind, std::move(kinds)));
  v.Scalar({"learning_rate",
            "0.001 suits adam and rmsprop; sgd, quasi_global and backprop want 10 to 100 times "
            "that; not for rprop_*, irprop_*"},
           Real(o.learning_rate, {.low = 0, .high = 1000, .above = true}));
  v.Scalar({"weight_decay",
            "Pulls parameters to 0: added to the gradient times the parameter; adamw: apart from "
            "the gradient, and 0.01 is common"},
           Real(o.weight_decay, {.low = 0, .high = 1000}));
  v.Scalar({"momentum", "sgd, rmsprop"}, Real(o.momentum, kBelowOne));
  v.Scalar({"nesterov", "sgd: step from where the momentum leads"}, Boolean(o.nesterov));
  v.Scalar({"beta1", "adam, adamw: decay of the mean"}, Real(o.beta1, kBelowOne));
  v.Scalar({"beta2", "adam, adamw: decay of the mean square"}, Real(o.beta2, kBelowOne));
  v.Scalar({"epsilon", "adam, adamw: added to the root, as in Keras; rmsprop: inside the root"},
           Real(o.epsilon, kUpToOne));
  v.Scalar({"decay", "rmsprop: decay of the mean square"}, Real(o.decay, kBelowOne));
  v.Scalar({"exchanged",
            "sgd with momentum, adam, adamw, rmsprop: nodes average the moving averages too, which "
            "helps where their data differ and doubles or triples the messages"},
           Boolean(o.exchanged));
  v.Scalar({"beta", "quasi_global: local momentum"}, Real(o.beta, kBelowOne));
  v.Scalar({"mu", "quasi_global: decay of the displacement between rounds"}, Real(o.mu, kBelowOne));
  v.Scalar({"mixing_limit",
            "quasi_global: mixing counts in it up to so many times what training moved; 0: not at "
            "all, 1000000: always in full"},
           Real(o.mixing_limit, {.low = 0, .high = 1e6}));
  v.Scalar({"correction",
            "quasi_global: share of what mixing undoes in a round that later steps leave out; 0: "
            "off. For skewed data and several batches in a round: 0.3"},
           Real(o.correction, {.low = 0, .high = 1}));
  v.Scalar(
      {"correction_fade",
       "quasi_global: of the correction that is forgotten in a round; lost messages want more"},
      Real(o.correction_fade, {.low = 0, .high = 1}));
  v.Scalar({"blend", "backprop: share of this gradient in a step; the rest is the last one's"},
           Real(o.blend, {.low = 0.5, .high = 1, .above = true}));
  VisitResilient(v, o);
}

void VisitSchedule(Visitor& v, optim::Schedule& s) {
  using Kind = optim::Schedule::Kind;
  v.Scalar({"kind", "step: drops now and then. cosine: falls smoothly"},
           Word<Kind>(s.kind, {{Kind::kConstant, optim::Name(Kind::kConstant)},
                               {Kind::kStep, optim::Name(Kind::kStep)},
                               {Kind::kCosine, optim::Name(Kind::kCosine)}}));
  v.Scalar({"warmup", "Batches in which the rate rises from 0 in a line, before any of them"},
           Integer(s.warmup, 0, kMostBatches));
  v.Scalar({"every", "step: batches between two drops"}, Integer(s.every, 0, kMostBatches));
  v.Scalar({"drop", "step: factor of a drop"}, Real(s.drop, kUpToOne));
  v.Scalar({"length", "cosine: batches from the end of the warm-up to the floor"},
           Integer(s.length, 0, kMostBatches));
  v.Scalar({"floor", "cosine: the last factor of the rate"}, Real(s.floor, kBelowOne));
}

void VisitClip(Visitor& v, optim::Clip& c) {
  const Interval limit{.low = 0, .high = 1e6};
  v.Scalar({"norm", "The mean gradient of a batch is scaled down to this Euclidean norm; 0: off"},
           Real(c.norm, limit));
  v.Scalar({"value", "Then each element is cut at this magnitude; 0: off"}, Real(c.value, limit));
}

ChoiceBinding UntilChoice(Until& until) {
  using Kind = Until::Kind;
  ChoiceBinding choice;
  choice.words = {"forever"};
  choice.options = {{"batches", Integer(until.batches, 1, kMostBatches)},
                    {"epochs", Real(until.epochs, {.low = 0, .high = 1e6, .above = true})},
                    {"accuracy", Fraction(until.accuracy)}};
  choice.selected = [&until]() -> std::string {
    if (until.kind == Kind::kBatches) return "batches";
    if (until.kind == Kind::kEpochs) return "epochs";
    return until.kind == Kind::kAccuracy ? "accuracy" : "forever";
  };
  choice.select = [&until](const std::string& name) {
    until.kind = name == "batches"    ? Kind::kBatches
                 : name == "epochs"   ? Kind::kEpochs
                 : name == "accuracy" ? Kind::kAccuracy
                                      : Kind::kForever;
  };
  return choice;
}

ChoiceBinding EveryChoice(EvaluateSettings& evaluate) {
  using Every = EvaluateSettings::Every;
  ChoiceBinding choice;
  choice.words = {"never"};
  choice.options = {{"batches", Integer(evaluate.batches, 1, kMostBatches)},
                    {"epochs", Real(evaluate.epochs, {.low = 0, .high = 1e6, .above = true})}};
  choice.selected = [&evaluate]() -> std::string {
    if (evaluate.every == Every::kNever) return "never";
    return evaluate.every == Every::kBatches ? "batches" : "epochs";
  };
  choice.select = [&evaluate](const std::string& name) {
    evaluate.every = name == "batches"  ? Every::kBatches
                     : name == "epochs" ? Every::kEpochs
                                        : Every::kNever;
  };
  return choice;
}

void VisitEncodings(Visitor& v, consensus::Encodings& e) {
  using tensor::Encoding;
  std::vector<std::pair<Encoding, std::string_view>> all;
  std::vector<std::pair<Encoding, std::string_view>> of_weights;
  for (std::uint8_t i = 0; i < tensor::kEncodings; ++i) {
    const auto encoding = static_cast<Encoding>(i);
    all.emplace_back(encoding, tensor::Name(encoding));
    if (tensor::FitsWeights(encoding)) of_weights.emplace_back(encoding, tensor::Name(encoding));
  }
  v.Scalar({"weights",
            "Models: f32 is exact; f16 and bf16 are half as long, int8 a quarter and a little"},
           Word<Encoding>(e.weights, std::move(of_weights)));
  v.Scalar(
      {"deltas", "Replies: these, or top_k, the tenth that moves most, at a twelfth of the length"},
      Word<Encoding>(e.deltas, std::move(all)));
}

}  // namespace

void VisitTrain(Visitor& v, TrainSettings& t) {
  v.Section({"optimizer", "How a gradient becomes a step"},
            [&v, &t] { VisitOptimizer(v, t.optimizer); });
  v.Section({"schedule", "The learning rate over the batches trained so far"},
            [&v, &t] { VisitSchedule(v, t.optimizer.schedule); });
  v.Section({"clip", "Limits of a gradient; they cost a pass over it"},
            [&v, &t] { VisitClip(v, t.optimizer.clip); });
  v.Choice({"until",
            "When training ends: forever, {batches: B}, {epochs: E} of this node's samples, or "
            "{accuracy: A} on the validation samples"},
           UntilChoice(t.until));
  v.Scalar({"settle",
            "Rounds of exchange without training after that; 3% lets the models agree, which gains "
            "about half a point"},
           SettleLength(t.settle));
  v.Scalar({"average",
            "What is published, judged and exported is a moving average of the model with this "
            "decay in a round, until it has settled; 0: the model itself"},
           Real(t.average, {.low = 0, .high = 0.999999}));
  v.Scalar(
      {"linger", "How long a node that is done keeps answering: others may still learn from it"},
      LingerTime(t.linger));
  v.Section({"evaluate", "Evaluation on a copy of the model; it never blocks training"}, [&v, &t] {
    v.Choice({"every", "{epochs: E}, {batches: B} or never"}, EveryChoice(t.evaluate));
  });
  v.Scalar({"checkpoint_every", "What a crash loses at most; a clean stop loses nothing"},
           Time(t.checkpoint_every, seconds(1), hours(24 * 365)));
}

void VisitConsensus(Visitor& v, consensus::Settings& c) {
  v.Scalar({"batches", "N: mini-batches of local training in a round"},
           Integer(c.batches, 1, 1'000'000));
  v.Scalar(
      {"batches_most",
       "Above N: N follows the data, from `batches` where they differ between nodes up to this "
       "where they don't; 0: fixed"},
      Integer(c.batches_most, 0, 1'000'000));
  v.Scalar({"sends", "M: models sent to random peers in a round; 0: answer only"},
           Integer(c.sends, 0, 1000));
  v.Scalar(
      {"segments",
       "S: a message carries one of so many parts of the model, for links on which a whole one "
       "is too long; more rounds until all have met"},
      Integer(c.segments, 1, consensus::kMaxSegments));
  v.Scalar({"gamma",
            "Step of an exchange; auto: 1 / (ceil(M / S) + 1), the largest that the replies of a "
            "round together don't overshoot with"},
           AutoReal(c.gamma, {.low = 0, .high = 1, .above = true}));
  v.Scalar({"gamma_by_age",
            "A smaller step where answers are old: gamma / sqrt(1 + rounds until a reply)"},
           Boolean(c.gamma_by_age));
  using consensus::Weigh;
  v.Scalar({"weigh",
            "Whose model counts how much in an exchange: equal, or samples, the number each trains "
            "on, up to a ratio of two. For nodes with much more data than others"},
           Word<Weigh>(c.weigh, {{Weigh::kEqual, "equal"}, {Weigh::kSamples, "samples"}}));
  using consensus::DrainAt;
  v.Scalar(
      {"drain",
       "When received models are applied: between mini-batches, or only at the end of a round as "
       "in the paper, which averages what is a round old"},
      Word<DrainAt>(c.drain, {{DrainAt::kBatch, "batch"}, {DrainAt::kRound, "round"}}));
  v.Scalar({"reply", "Answer a model with what it changed here, so that both sides move"},
           Boolean(c.reply));
  v.Scalar({"max_distance",
            "Models further away than this times the norm of our own (or 1, if that is more) are "
            "dropped, and replies of more than a step of that; 0: never"},
           Real(c.max_distance, {.low = 0, .high = 1e9}));
  v.Scalar(
      {"limit_in_flight",
       "At most M + 1 own exchanges younger than two rounds or the mean reply time; off as in the "
       "paper's experiments"},
      Boolean(c.limit_in_flight));
  v.Scalar({"pending_for",
            "A reply that comes later than this no longer counts; large models take long on slow "
            "links"},
           Time(c.pending_for, milliseconds(1), hours(24)));
  v.Scalar({"join", "Copy the model of a peer before averaging: for a newcomer to a running fleet"},
           Boolean(c.join));
  v.Scalar({"join_retry", "Ask the next peer after this long without an answer"},
           Time(c.join_retry, milliseconds(1), hours(1)));
  v.Scalar({"settle_patience", "Ends the tail when peers never stop training"},
           Time(c.settle_patience, milliseconds(1), hours(24)));
  v.Section({"encoding", "How messages are written, to peers that can read it; to others f32"},
            [&v, &c] { VisitEncodings(v, c.encoding); });
  v.Section({"fifo", "Received messages that wait to be applied"}, [&v, &c] {
    v.Scalar({"weights", "Models; the oldest gives way"}, Integer(c.fifo.weights, 1, 65536));
    v.Scalar({"deltas", "Replies, in slots of their own"}, Integer(c.fifo.deltas, 1, 65536));
    v.Scalar({"bytes", "Both together"},
             Size(c.fifo.bytes, ByteCount{4 << 10}, ByteCount{std::uint64_t{1} << 40}));
  });
}

}  // namespace covey::config
