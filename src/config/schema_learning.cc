#include <string_view>
#include <utility>

#include "config/bindings.h"
#include "config/schema_parts.h"

namespace covey::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kLongestLabel = 100;
constexpr std::size_t kLongestCategories = 32768;
constexpr std::uint64_t kMostCount = 1'000'000'000;
constexpr std::uint64_t kMostBatches = 1'000'000'000'000;

ListBinding Texts(std::vector<std::string>& texts, std::size_t longest) {
  return {.size = [&texts] { return texts.size(); },
          .resize = [&texts](std::size_t size) { texts.resize(size); },
          .at = [&texts, longest](std::size_t i) { return Text(texts[i], longest); }};
}

void VisitFiles(Visitor& v, data::Source& source, bool labels) {
  v.Scalar({"csv", "A table instead of the IDX files below; data.csv says what its columns are"},
           Path(source.csv));
  v.Scalar({"folder",
            "Or images: a folder with one folder inside for each class, of PNG, JPEG or PGM files"},
           Path(source.folder));
  const bool idx = source.csv.empty() && source.folder.empty();  // they are read by now
  v.Scalar({"images", "IDX file of samples, plain or gzipped; or NPY, or set.npz:array", idx},
           Path(source.images));
  v.Scalar({"labels", "IDX file of their class labels, one whole number a sample", idx && labels},
           Path(source.labels));
  v.Scalar({"targets",
            "Instead of labels, for every other loss: IDX file of numbers, as many a sample as the "
            "model has outputs",
            idx && !labels},
           Path(source.targets));
}

void VisitCsv(Visitor& v, data::CsvSettings& s) {
  using Header = data::CsvSettings::Header;
  using Missing = data::CsvSettings::Missing;
  v.Scalar({"label",
            "Column of the classes; without classes, of the number to predict. Empty: the one "
            "called label, class, target or y, else the last"},
           Text(s.label, kLongestLabel));
  v.List({"targets", "Several columns of numbers to predict"}, Texts(s.targets, kLongestLabel));
  v.Scalar({"key", "Column to divide by (partition: key), such as the device; no feature"},
           Text(s.key, kLongestLabel));
  v.List({"ignore", "Columns that are no features"}, Texts(s.ignore, kLongestLabel));
  v.List({"categories",
          "Columns of names, though they look like numbers; with all their names: "
          "'colour=red|green'. Nodes must agree on them"},
         Texts(s.categories, kLongestCategories));
  v.Scalar({"header", "auto: the first line is one when none of its cells is a number"},
           Word<Header>(s.header,
                        {{Header::kAuto, "auto"}, {Header::kYes, "yes"}, {Header::kNo, "no"}}));
  v.Scalar({"missing",
            "Rows that lack a value in a column that is used: refuse them, or drop them. Empty, ?, "
            "NA, NaN, null and none are no values"},
           Word<Missing>(s.missing, {{Missing::kRefuse, "refuse"}, {Missing::kDrop, "drop"}}));
  v.Scalar({"separator", "One character, or tab. Empty: the most frequent of , ; and tab"},
           Text(s.separator, 3));
}

constexpr data::Normalize kNormalizeWords[] = {
    data::Normalize::kUnit,     data::Normalize::kNone,       data::Normalize::kGiven,
    data::Normalize::kStandard, data::Normalize::kPerChannel, data::Normalize::kMinMax};

ListBinding Numbers(std::vector<float>& values, Interval interval) {
  return {.size = [&values] { return values.size(); },
          .resize = [&values](std::size_t size) { values.resize(size, 1.0f); },
          .at = [&values, interval](std::size_t i) { return Real(values[i], interval); }};
}

ChoiceBinding NormalizeChoice(data::Source& source) {
  using data::Normalize;
  ChoiceBinding choice;
  for (const Normalize word : kNormalizeWords) choice.words.emplace_back(data::Name(word));
  choice.options = {{"scale", Real(source.scale, {.low = 0, .high = 1e30, .above = true})}};
  choice.selected = [&source] { return std::string(data::Name(source.normalize)); };
  choice.select = [&source](const std::string& name) {
    source.normalize = Normalize::kScale;
    for (const Normalize word : kNormalizeWords) {
      if (name == data::Name(word)) source.normalize = word;
    }
  };
  return choice;
}

}  // namespace

void VisitPartition(Visitor& v, data::PartitionSettings& p, bool whole) {
  using Kind = data::PartitionSettings::Kind;
  std::vector<std::pair<Kind, std::string_view>> kinds;
  for (const Kind kind :
       {Kind::kAll, Kind::kIid, Kind::kMixRate, Kind::kDirichlet, Kind::kBlocks, Kind::kKey}) {
    if (whole || kind != Kind::kAll) kinds.emplace_back(kind, data::Name(kind));
  }
  v.Scalar({"kind",
            "iid: shuffled, equal parts. mix_rate: parts by label, a fraction of each given to the "
            "others. dirichlet: classes spread at random. blocks: equal parts in the order of the "
            "file. key: by a column such as the device"},
           Word<Kind>(p.kind, std::move(kinds)));
  if (whole) {
    v.Scalar({"index", "Which part is this node's, from 0"}, Integer(p.part.index, 0, 65535));
    v.Scalar({"of", "Parts in all"}, Integer(p.part.count, 1, 65536));
  }
  v.Scalar({"rate", "mix_rate: fraction of its own part that a node gives away"}, Fraction(p.rate));
  v.Scalar({"alpha", "dirichlet: concentration; small is skewed"},
           Real(p.alpha, {.low = 1e-4, .high = 1e6}));
  v.Scalar({"key_file",
            "key: IDX file with one whole number for each sample. Empty: the column data.csv.key"},
           Path(p.key_file));
  if (whole) {
    v.Scalar({"key", "key: the number whose samples are this node's"}, Integer(p.key));
    v.Scalar({"seed", "Of the shuffling; nodes that divide one data set must agree on it"},
             Integer(p.seed));
  }
}

void VisitData(Visitor& v, DataSettings& d, bool labels) {
  v.Section({"train", "Training samples", true},
            [&v, &d, labels] { VisitFiles(v, d.train, labels); });
  v.Optional(
      {"test", "Test samples; leave out when there are none"}, d.test.has_value(),
      [&d] { d.test.emplace(); }, [&v, &d, labels] { VisitFiles(v, *d.test, labels); });
  v.Section({"csv", "What the columns of tables are: by the header's names, or numbers from 1"},
            [&v, &d] { VisitCsv(v, d.train.csv_settings); });
  v.Scalar({"image_fit", "What becomes of images of a folder with another size than model.input"},
           Word<data::ImageFit>(d.train.image_fit, {{data::ImageFit::kRefuse, "refuse"},
                                                    {data::ImageFit::kResize, "resize"}}));
  v.Section({"hold_out",
             "Samples of data.train to test on, instead of data.test; nobody trains on "
             "them, controls neither"},
            [&v, &d] {
              v.Scalar({"keys",
                        "Those with these keys (partition.key_file, csv.key), such as devices or "
                        "people: '0-9, 12'; nodes divide what remains"},
                       Text(d.hold_out.keys, 4096));
              v.Scalar({"last", "So many at the end, before validation samples are taken"},
                       Integer(d.hold_out.last, 0, kMostCount));
            });
  v.Section({"validation", "Samples to judge the model by while it learns"}, [&v, &d] {
    v.Scalar({"last", "So many samples at the end of the training set are kept for it; 0: none"},
             Integer(d.validation_last, 0, kMostCount));
  });
  v.Choice({"normalize",
            "unit: bytes become 0 to 1, 16-bit integers -1 to 1, floats stay as they are. none: "
            "the values as they are. {scale: S}: values times S. given: by the numbers of "
            "normalization. Fitted on data.train without its validation samples: standard, each "
            "feature to mean 0 and deviation 1; per_channel, each channel; min_max, each feature "
            "to 0 to 1. Symbols are never changed. Peers that normalise differently refuse each "
            "other: nodes with files of their own need given"},
           NormalizeChoice(d.train));
  v.Section({"normalization", "normalize: given: values become (value - mean) / std"}, [&v, &d] {
    v.List({"mean", "One number for all, one for each channel, or one for each feature"},
           Numbers(d.normalization.mean, {.low = -1e9, .high = 1e9}));
    v.List({"std", "As many; `covey data describe` prints both"},
           Numbers(d.normalization.std, {.low = 0, .high = 1e9, .above = true}));
  });
  v.List({"labels",
          "Names of the classes, in the order of the model's outputs. Empty: as the files say. "
          "Peers with other names refuse each other: where a node may lack a class, list them all"},
         Texts(d.labels, kLongestLabel));
  v.Scalar(
      {"batch",
       "Samples in a mini-batch, at most the shard. all: the whole shard at once, which is what "
       "the rprop kinds want"},
      IntegerOr("all", d.batch, kMostCount));
  v.Section({"partition", "Which of the training samples are this node's", false, true},
            [&v, &d] { VisitPartition(v, d.partition, true); });
  v.Scalar({"cache",
            "Where gzipped files are unpacked, once, for all nodes of the machine. Empty: "
            "$XDG_CACHE_HOME/covey or ~/.cache/covey"},
           Path(d.cache));
}

namespace {

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
  v.Scalar({"sends", "M: models sent to random peers in a round; 0: answer only"},
           Integer(c.sends, 0, 1000));
  v.Scalar({"gamma",
            "Step of an exchange; auto: 1 / (M + 1), the largest that M replies together don't "
            "overshoot with"},
           AutoReal(c.gamma, {.low = 0, .high = 1, .above = true}));
  v.Scalar({"gamma_by_age",
            "A smaller step where answers are old: gamma / sqrt(1 + rounds until a reply)"},
           Boolean(c.gamma_by_age));
  using consensus::DrainAt;
  v.Scalar(
      {"drain",
       "When received models are applied: between mini-batches, or only at the end of a round as "
       "in the paper, which averages what is a round old"},
      Word<DrainAt>(c.drain, {{DrainAt::kBatch, "batch"}, {DrainAt::kRound, "round"}}));
  v.Scalar({"reply", "Answer a model with what it changed here, so that both sides move"},
           Boolean(c.reply));
  v.Scalar(
      {"limit_in_flight",
       "At most M + 1 own exchanges younger than two rounds or the mean reply time; off as in the "
       "paper's experiments"},
      Boolean(c.limit_in_flight));
  v.Scalar({"pending_for", "A reply that comes later than this no longer counts"},
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
