// The section `data`: files, columns, what is held out, normalisation, partition.
#include <string_view>
#include <utility>

#include "config/bindings.h"
#include "config/schema_parts.h"

namespace covey::config {
namespace {

constexpr std::size_t kLongestLabel = 100;
constexpr std::size_t kLongestCategories = 32768;
constexpr std::uint64_t kMostSamples = 1'000'000'000;

void VisitFiles(Visitor& v, data::Source& source, bool labels, bool needed) {
  v.Scalar({"csv", "A table instead of the IDX files below; data.csv says what its columns are"},
           Path(source.csv));
  v.Scalar({"folder",
            "Or images: a folder with one folder inside for each class, of PNG, JPEG or PGM files"},
           Path(source.folder));
  v.Scalar(
      {"cifar", "Or the binary version of CIFAR-10 or CIFAR-100: a file, or the folder of all"},
      Path(source.cifar));
  v.Scalar(
      {"text",
       "Or a text in UTF-8: windows of as many characters as the model reads, and what follows"},
      Path(source.text));
  v.Scalar(
      {"recordings",
       "Or recordings of sensors, each a table: a folder with .csv files, or a pattern such as "
       "'recordings/*/*_phone.csv'; data.windows says how they are cut"},
      Path(source.recordings));
  const bool idx = needed && !source.alone();  // they are read by now
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
  v.List({"features",
          "Columns that are features, in this order. Empty: all others. Nodes with live data only "
          "need them beside peers whose tables have names"},
         Texts(s.features, kLongestLabel));
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

void VisitWindows(Visitor& v, data::WindowSettings& s) {
  v.Scalar({"step", "Rows from one window to the next; 0: half of a window"},
           Integer(s.step, 0, 1'000'000));
  v.Scalar({"key",
            "What of a file's name is the key, such as the device, in parentheses: "
            "'s(*)_*_(*).csv'. Empty: the column data.csv.key"},
           Text(s.key, kLongestLabel));
  v.Scalar({"label", "The same for the class: '(*)/*.csv' is the folder. Empty: data.csv.label"},
           Text(s.label, kLongestLabel));
  v.Scalar({"agree", "A window is left out when a smaller share of its rows has its class"},
           Fraction(s.agree));
}

void VisitLive(Visitor& v, data::LiveSettings& s) {
  using Keep = data::LiveSettings::Keep;
  v.Scalar(
      {"spool",
       "Folder in which tables (.csv), arrays (.npz: x and y) and images (in a folder with the "
       "name of their class) are taken once they are renamed into it; what is wrong with one is "
       "told in its folder bad/"},
      Path(s.spool));
  v.Scalar({"csv", "A table that grows at its end, line by line; it may be rotated"}, Path(s.csv));
  v.Scalar(
      {"max_samples",
       "Samples to train on that are kept, beside those of data.train; data.validation.share of "
       "that to judge by. Memory: up to three times these samples"},
      Integer(s.max_samples, 1, 100'000'000));
  v.Scalar(
      {"keep", "reservoir: of all that came, each with the same chance. newest: the last ones"},
      Word<Keep>(s.keep, {{Keep::kReservoir, "reservoir"}, {Keep::kNewest, "newest"}}));
  v.Scalar({"start_at", "Training begins with so many samples"},
           Integer(s.start_at, 1, 100'000'000));
  v.Scalar(
      {"remove", "Remove files of the spool once they are taken; else they go to its folder done/"},
      Boolean(s.remove));
}

// How files of each kind are read.
void VisitReading(Visitor& v, data::Source& s) {
  v.Section({"csv", "What the columns of tables are: by the header's names, or numbers from 1"},
            [&v, &s] { VisitCsv(v, s.csv_settings); });
  v.Scalar({"text_step", "Characters from one window of a text to the next"},
           Integer(s.text_step, 1, 1'000'000));
  v.Section({"windows",
             "How recordings are cut into windows, of as many rows as model.input says: [rows, "
             "columns]"},
            [&v, &s] { VisitWindows(v, s.windows); });
  v.Scalar({"image_fit", "What becomes of images of a folder with another size than model.input"},
           Word<data::ImageFit>(s.image_fit, {{data::ImageFit::kRefuse, "refuse"},
                                              {data::ImageFit::kResize, "resize"}}));
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
  v.Optional(
      {"live",
       "Samples that come while the node runs: pushed by other programs, in files, in a table that "
       "grows. Leave out when there are none"},
      d.live.has_value(), [&d] { d.live.emplace(); }, [&v, &d] { VisitLive(v, *d.live); });
  const bool needed = !d.live.has_value();  // it is read by now
  v.Section({"train", "Training samples; with `live` they may be left out", needed},
            [&v, &d, labels, needed] { VisitFiles(v, d.train, labels, needed); });
  v.Optional(
      {"test", "Test samples; leave out when there are none"}, d.test.has_value(),
      [&d] { d.test.emplace(); }, [&v, &d, labels] { VisitFiles(v, *d.test, labels, true); });
  VisitReading(v, d.train);
  v.Section({"hold_out",
             "Samples of data.train to test on, instead of data.test; nobody trains on "
             "them, controls neither"},
            [&v, &d] {
              v.Scalar({"keys",
                        "Those with these keys (partition.key_file, csv.key), such as devices or "
                        "people: '0-9, 12'; nodes divide what remains"},
                       Text(d.hold_out.keys, 4096));
              v.Scalar({"last", "So many at the end, before validation samples are taken"},
                       Integer(d.hold_out.last, 0, kMostSamples));
            });
  v.Section({"validation", "Samples to judge the model by while it learns"}, [&v, &d] {
    v.Scalar({"last", "So many samples at the end of the training set are kept for it; 0: none"},
             Integer(d.validation_last, 0, kMostSamples));
    v.Scalar(
        {"share",
         "And this share of the rest, 0 to 0.9; a sample's content alone decides whether it is "
         "one of them"},
        Real(d.validation_share, {.low = 0, .high = 0.9}));
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
      IntegerOr("all", d.batch, kMostSamples));
  v.Section({"partition", "Which of the training samples are this node's", false, true},
            [&v, &d] { VisitPartition(v, d.partition, true); });
  v.Scalar({"cache",
            "Where gzipped files are unpacked, once, for all nodes of the machine. Empty: "
            "$XDG_CACHE_HOME/covey or ~/.cache/covey"},
           Path(d.cache));
}

}  // namespace covey::config
