#include "covey/config/sweep.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "config/assign.h"
#include "config/read_file.h"
#include "config/schema.h"
#include "config/source.h"
#include "config/tree.h"
#include "covey/config/suggest.h"

namespace covey::config {
namespace {

using NodeKind = TreeNode::Kind;

// One key, or section, and one of its values, where they stand.
struct Assignment {
  std::string key;
  std::string value;  // for people: "5", "kind sgd, learning_rate 0.1"
  Span span;
  std::vector<std::pair<std::string, std::string>> set;  // as Set takes them
};
using Combination = std::vector<Assignment>;

std::optional<std::uint64_t> WholeNumber(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const TreeEntry* EntryOf(const TreeNode& map, std::string_view key) {
  for (const TreeEntry& entry : map.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

// Whether keys stand below this one: "train.optimizer", "experiment.overrides.3".
bool IsSection(const std::string& key) {
  static const std::set<std::string> sections = [] {
    std::set<std::string> paths;
    for (const auto& keys : {DescribeNode(), DescribeExperiment()}) {
      for (const KeyInfo& info : keys) {
        if (info.type == "section") paths.insert(info.path);
      }
    }
    return paths;
  }();
  const std::string overrides = "experiment.overrides";
  if (key == overrides) return true;
  if (!key.starts_with(overrides + '.')) return sections.contains(key);
  const std::size_t dot = key.find('.', overrides.size() + 1);
  return dot == std::string::npos || sections.contains(key.substr(dot + 1));
}

class SweepReader {
 public:
  SweepReader(const TreeNode& root, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    const TreeEntry* entry = root.kind == NodeKind::kMap ? EntryOf(root, "sweep") : nullptr;
    for (const TreeEntry& other : root.entries) {
      if (other.key != "sweep") Error(other.key_span, "unknown key '" + other.key + "'", "");
    }
    if (entry == nullptr || entry->value.kind != NodeKind::kMap) {
      Error(root.span, "want a section 'sweep:' with its keys below", "");
      return;
    }
    section_ = &entry->value;
    const std::vector<std::string> known = {"name", "experiment", "seeds", "set", "grid", "list"};
    for (const TreeEntry& own : section_->entries) {
      if (std::find(known.begin(), known.end(), own.key) != known.end()) continue;
      const std::string near = Nearest(own.key, known);
      Error(own.key_span, "unknown key 'sweep." + own.key + "'",
            near.empty() ? "" : "did you mean '" + near + "'?");
    }
  }

  // Returns: the text of a scalar of the section; empty when it is not there.
  std::string Text(std::string_view key) {
    const TreeEntry* entry = section_ == nullptr ? nullptr : EntryOf(*section_, key);
    if (entry == nullptr) return "";
    if (entry->value.kind == NodeKind::kScalar) return entry->value.text;
    Error(entry->value.span, "sweep." + entry->key + ": want text, got " + KindName(entry->value),
          "");
    return "";
  }

  std::vector<std::uint64_t> Seeds() {
    const TreeEntry* entry = section_ == nullptr ? nullptr : EntryOf(*section_, "seeds");
    if (entry == nullptr) return {1};
    std::vector<std::uint64_t> seeds;
    const auto fail = [&](Span span) {
      Error(span, "sweep.seeds: want how many (1 to 1000), or a list of different seeds", "");
      return std::vector<std::uint64_t>{1};
    };
    if (entry->value.kind == NodeKind::kScalar) {
      const auto count = WholeNumber(entry->value.text);
      if (!count || *count < 1 || *count > 1000) return fail(entry->value.span);
      for (std::uint64_t seed = 1; seed <= *count; ++seed) seeds.push_back(seed);
      return seeds;
    }
    if (entry->value.kind != NodeKind::kList || entry->value.items.empty()) {
      return fail(entry->value.span);
    }
    for (const TreeNode& item : entry->value.items) {
      const auto seed = item.kind == NodeKind::kScalar ? WholeNumber(item.text) : std::nullopt;
      if (!seed || std::find(seeds.begin(), seeds.end(), *seed) != seeds.end()) {
        return fail(item.span);
      }
      seeds.push_back(*seed);
    }
    return seeds;
  }

  Combination Common() {
    const TreeEntry* entry = section_ == nullptr ? nullptr : EntryOf(*section_, "set");
    return entry == nullptr ? Combination{} : Assignments(entry->value, "sweep.set");
  }

  // Every combination of the grid, the last key changing fastest, and for each every entry of the
  // list.
  std::vector<Combination> Points() {
    std::vector<Combination> points = {{}};
    if (section_ == nullptr) return points;
    if (const TreeEntry* grid = EntryOf(*section_, "grid")) {
      if (grid->value.kind != NodeKind::kMap) {
        Error(grid->value.span, "sweep.grid: want keys with lists of values", "");
        return points;
      }
      for (const TreeEntry& axis : grid->value.entries) points = Times(points, Axis(axis));
    }
    if (const TreeEntry* list = EntryOf(*section_, "list")) {
      std::vector<Combination> entries;
      if (list->value.kind == NodeKind::kList) {
        for (const TreeNode& item : list->value.items) {
          entries.push_back(Assignments(item, "sweep.list"));
        }
      }
      if (entries.empty()) {
        Error(list->value.span, "sweep.list: want a list of settings", "- {consensus.sends: 2}");
        return points;
      }
      points = Times(points, entries);
    }
    return points;
  }

  Span span() const { return section_ == nullptr ? Span{} : section_->span; }
  void Error(Span span, std::string what, std::string note) {
    diagnostics_.Error(span, std::move(what), std::move(note));
  }

 private:
  // Adds what a value sets: "5", "epochs 5" for {epochs: 5}, the keys of a section one by one.
  // Returns: whether it is a value.
  static bool Collect(const std::string& key, const TreeNode& node, Assignment& to) {
    const std::vector<TreeEntry>& entries = node.entries;
    if (node.kind == NodeKind::kScalar) {
      to.set.emplace_back(key, node.text);
      return true;
    }
    if (node.kind != NodeKind::kMap || entries.empty()) return false;
    if (IsSection(key)) {
      return std::all_of(entries.begin(), entries.end(), [&](const TreeEntry& entry) {
        return Collect(key + '.' + entry.key, entry.value, to);
      });
    }
    if (entries.size() != 1 || entries[0].value.kind != NodeKind::kScalar) return false;
    to.set.emplace_back(key, entries[0].key + ' ' + entries[0].value.text);
    return true;
  }

  static std::optional<Assignment> Value(const std::string& key, const TreeNode& node) {
    Assignment own{key, {}, node.span, {}};
    if (!Collect(key, node, own)) return std::nullopt;
    for (const auto& [path, value] : own.set) {
      if (!own.value.empty()) own.value += ", ";
      if (path != key) own.value += path.substr(key.size() + 1) + ' ';
      own.value += value;
    }
    return own;
  }

  Combination Assignments(const TreeNode& map, const std::string& where) {
    Combination all;
    if (map.kind != NodeKind::kMap || map.entries.empty()) {
      Error(map.span, where + ": want settings such as {consensus.sends: 2}", "");
      return all;
    }
    for (const TreeEntry& entry : map.entries) {
      if (auto value = Value(entry.key, entry.value)) {
        all.push_back(std::move(*value));
      } else {
        Error(entry.value.span, where + '.' + entry.key + ": want one value", "");
      }
    }
    return all;
  }

  std::vector<Combination> Axis(const TreeEntry& axis) {
    std::vector<Combination> values;
    if (axis.value.kind == NodeKind::kList) {
      for (const TreeNode& item : axis.value.items) {
        if (auto value = Value(axis.key, item)) values.push_back({std::move(*value)});
      }
    }
    if (values.empty() || values.size() != axis.value.items.size()) {
      Error(axis.value.span, "sweep.grid." + axis.key + ": want a list of values", "[1, 2, 5]");
      return {{}};
    }
    return values;
  }

  std::vector<Combination> Times(const std::vector<Combination>& left,
                                 const std::vector<Combination>& right) {
    std::vector<Combination> product;
    if (left.size() * right.size() > kMostSweepRuns) {
      Error(span(), "sweep: more than " + std::to_string(kMostSweepRuns) + " points", "");
      return left;
    }
    for (const Combination& a : left) {
      for (const Combination& b : right) {
        product.push_back(a);
        product.back().insert(product.back().end(), b.begin(), b.end());
      }
    }
    return product;
  }

  Diagnostics& diagnostics_;
  const TreeNode* section_ = nullptr;
};

// Sets what a point sets. Errors are reported, each place once.
class Applier {
 public:
  explicit Applier(SweepReader& reader) : reader_(reader) {}

  bool Apply(const Combination& all, Experiment& experiment) {
    bool sound = true;
    std::set<std::string> keys;
    for (const Assignment& own : all) {
      for (const auto& [key, value] : own.set) {
        if (!keys.insert(key).second) {
          Report(own.span, key + ": is set twice in one point", "");
          sound = false;
        }
        sound = ApplyOne(own.span, key, value, experiment) && sound;
      }
    }
    return sound;
  }

  void Report(Span span, std::string what, std::string note) {
    if (!reported_.insert({span.line, span.column}).second) return;
    reader_.Error(span, std::move(what), std::move(note));
  }

 private:
  bool ApplyOne(Span span, const std::string& key, const std::string& value,
                Experiment& experiment) {
    if (key == "experiment.seed") {
      Report(span, key + ": every point is run with the seeds of the sweep",
             "write sweep.seeds: [" + value + "] instead");
      return false;
    }
    const Status set = Set(experiment, key, value);
    if (!set) Report(span, key + ": " + set.error().what, set.error().hint);
    return set.has_value();
  }

  SweepReader& reader_;
  std::set<std::pair<std::size_t, std::size_t>> reported_;
};

void MakePoints(SweepReader& reader, const Experiment& base, Experiment::Mode mode, Sweep& sweep) {
  Applier applier(reader);
  const Combination common = reader.Common();
  for (const Combination& own : reader.Points()) {
    Combination all = common;
    all.insert(all.end(), own.begin(), own.end());
    SweepPoint point;
    point.experiment = base;
    point.experiment.expect = {};
    point.experiment.controls = Experiment::Controls::kNone;
    if (!applier.Apply(all, point.experiment)) continue;
    point.experiment.mode = mode;
    for (const Assignment& assignment : own) {
      if (assignment.key == "expect" || assignment.key.starts_with("expect.")) continue;
      point.values.emplace_back(assignment.key, assignment.value);
      const auto known = std::find(sweep.keys.begin(), sweep.keys.end(), assignment.key);
      if (known == sweep.keys.end()) sweep.keys.push_back(assignment.key);
    }
    // Each value alone may be fine and the point still contradict itself.
    if (const auto nodes = Expand(point.experiment); !nodes) {
      const Span span = all.empty() ? reader.span() : all.back().span;
      applier.Report(span, nodes.error().where + ": " + nodes.error().what, nodes.error().hint);
    }
    sweep.points.push_back(std::move(point));
  }
  if (sweep.points.size() * sweep.seeds.size() > kMostSweepRuns) {
    reader.Error(
        reader.span(),
        "sweep: more than " + std::to_string(kMostSweepRuns) + " runs (points times seeds)", "");
  }
}

}  // namespace

Result<Loaded<Sweep>> ParseSweep(std::string_view text, const std::string& name,
                                 const Experiment& experiment, Experiment::Mode mode) {
  const SourceText source(name, text);
  Diagnostics diagnostics(source);
  bool sound = false;
  const TreeNode root = ParseTree(std::string(text), source, diagnostics, sound);
  Loaded<Sweep> loaded;
  if (sound) {
    SweepReader reader(root, diagnostics);
    loaded.value.name = reader.Text("name");
    if (loaded.value.name.empty()) loaded.value.name = std::filesystem::path(name).stem().string();
    loaded.value.seeds = reader.Seeds();
    MakePoints(reader, experiment, mode, loaded.value);
  }
  if (diagnostics.errors() != 0) return Fail(ErrorCode::kConfig, {}, diagnostics.Report());
  loaded.warnings = diagnostics.Warnings();
  return loaded;
}

Result<Loaded<Sweep>> LoadSweep(const std::string& path, Experiment::Mode mode) {
  const Result<std::string> raw = ReadConfigFile(path);
  if (!raw) return tl::unexpected(raw.error());
  const Result<std::string> text = CleanText(*raw, path);
  if (!text) return tl::unexpected(text.error());
  const SourceText source(path, *text);
  Diagnostics diagnostics(source);
  bool sound = false;
  const TreeNode root = ParseTree(*text, source, diagnostics, sound);
  if (!sound) return Fail(ErrorCode::kConfig, {}, diagnostics.Report());
  SweepReader reader(root, diagnostics);
  const std::string named = reader.Text("experiment");
  if (named.empty() && diagnostics.errors() == 0) {
    diagnostics.Error(reader.span(), "sweep.experiment: is missing", "path of an experiment file");
  }
  if (diagnostics.errors() != 0) return Fail(ErrorCode::kConfig, {}, diagnostics.Report());
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const Result<Loaded<Experiment>> experiment = LoadExperiment((folder / named).string());
  if (!experiment) return tl::unexpected(experiment.error());
  Result<Loaded<Sweep>> sweep = ParseSweep(*text, path, experiment->value, mode);
  if (!sweep) return sweep;
  sweep->warnings.insert(sweep->warnings.begin(), experiment->warnings.begin(),
                         experiment->warnings.end());
  return sweep;
}

}  // namespace covey::config
