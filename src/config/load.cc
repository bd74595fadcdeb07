#include "covey/config/load.h"

#include <algorithm>
#include <utility>

#include "config/check_faults.h"
#include "config/read_file.h"
#include "config/reader.h"
#include "config/schema.h"
#include "config/source.h"
#include "config/tree.h"
#include "covey/base/check.h"

namespace covey::config {
namespace {

void ReportProblems(const std::vector<Problem>& problems, const Reader& reader,
                    Diagnostics& diagnostics) {
  for (const Problem& problem : problems) {
    bool skip = reader.Failed(problem.path);
    for (const std::string& path : problem.reads) skip = skip || reader.Failed(path);
    if (skip) continue;
    const Span span = reader.PlaceOf(problem.path);
    const std::string text = problem.path + ": " + problem.what;
    if (problem.warning) {
      diagnostics.Warning(span, text, problem.note);
    } else {
      diagnostics.Error(span, text, problem.note);
    }
  }
}

void Visit(Reader& reader, NodeConfig& config) { VisitNode(reader, config); }
void Visit(Reader& reader, Experiment& experiment) { VisitExperiment(reader, experiment); }

NodeConfig& NodeIn(NodeConfig& config) { return config; }
NodeConfig& NodeIn(Experiment& experiment) { return experiment.node; }

void CheckWhole(const NodeConfig& config, const Reader& reader, Diagnostics& diagnostics) {
  ReportProblems(Contradictions(config), reader, diagnostics);
  ReportProblems(DaemonProblems(config.faults), reader, diagnostics);
}

void CheckWhole(const Experiment& experiment, const Reader& reader, Diagnostics& diagnostics) {
  ReportProblems(Contradictions(experiment.node), reader, diagnostics);
  ReportProblems(Contradictions(experiment), reader, diagnostics);
  if (diagnostics.errors() != 0) return;
  // What an override contradicts shows only in the node that has it.
  for (const Run run : {Run::kConsensus, Run::kIsolated}) {
    const auto nodes = Expand(experiment, run);
    if (nodes) continue;
    const Error& error = nodes.error();
    return diagnostics.Error(reader.PlaceOf(error.where), error.where + ": " + error.what,
                             error.hint);
  }
}

template <class T>
Result<Loaded<T>> Parse(std::string_view raw, const std::string& name, bool is_template,
                        const std::function<Status(T&)>& amend) {
  const Result<std::string> cleaned = CleanText(raw, name);
  if (!cleaned) return tl::unexpected(cleaned.error());
  const std::string& text = *cleaned;
  const SourceText source(name, text);
  Diagnostics diagnostics(source);
  const auto fail = [&diagnostics] { return Fail(ErrorCode::kConfig, {}, diagnostics.Report()); };
  bool sound = false;
  const TreeNode root = ParseTree(text, source, diagnostics, sound);
  if (!sound) return fail();
  if (root.kind != TreeNode::Kind::kMap && root.kind != TreeNode::Kind::kNull) {
    if (diagnostics.errors() == 0) {
      diagnostics.Error(root.span, "want sections such as 'model:' with their keys below");
    }
    return fail();
  }
  Loaded<T> loaded;
  Reader reader(root, diagnostics,
                {.is_template = is_template, .is_override = false, .prefix = {}});
  Visit(reader, loaded.value);
  reader.Finish();
  Complete(NodeIn(loaded.value));
  COVEY_CHECK(!reader.failed() || diagnostics.errors() != 0, name);  // no fault without a message
  if (amend && diagnostics.errors() == 0) {
    if (Status amended = amend(loaded.value); !amended) return tl::unexpected(amended.error());
  }
  CheckWhole(loaded.value, reader, diagnostics);
  if (diagnostics.errors() != 0) return fail();
  loaded.warnings = diagnostics.Warnings();
  for (const auto& [path, span] : reader.places()) {
    loaded.places.of[path] =
        name + ':' + std::to_string(span.line + 1) + ':' + std::to_string(span.column + 1);
  }
  return loaded;
}

}  // namespace

Error Places::Locate(Error error) const {
  for (std::string key = error.where; !key.empty();) {
    if (const auto found = of.find(key); found != of.end()) {
      error.where = found->second + ": " + error.where;
      return error;
    }
    const std::size_t cut = key.find_last_of(".[");
    key = cut == std::string::npos ? std::string() : key.substr(0, cut);
  }
  return error;
}

Result<Loaded<NodeConfig>> ParseNode(std::string_view text, const std::string& name) {
  return Parse<NodeConfig>(text, name, false, {});
}

Result<Loaded<Experiment>> ParseExperiment(std::string_view text, const std::string& name,
                                           const Amend& amend) {
  return Parse<Experiment>(text, name, true, amend);
}

Result<Loaded<NodeConfig>> LoadNode(const std::string& path) {
  Result<std::string> text = ReadConfigFile(path);
  if (!text) return tl::unexpected(text.error());
  return ParseNode(*text, path);
}

Result<Loaded<Experiment>> LoadExperiment(const std::string& path, const Amend& amend) {
  Result<std::string> text = ReadConfigFile(path);
  if (!text) return tl::unexpected(text.error());
  return ParseExperiment(*text, path, amend);
}

Result<Loaded<NodeConfig>> LoadEither(const std::string& path) {
  Result<std::string> text = ReadConfigFile(path);
  if (!text) return tl::unexpected(text.error());
  const Result<std::string> cleaned = CleanText(*text, path);
  if (!cleaned) return tl::unexpected(cleaned.error());
  const SourceText source(path, *cleaned);
  Diagnostics unused(source);
  bool sound = false;
  const TreeNode root = ParseTree(*cleaned, source, unused, sound);
  const bool experiment =
      std::any_of(root.entries.begin(), root.entries.end(),
                  [](const TreeEntry& entry) { return entry.key == "experiment"; });
  if (!experiment) return ParseNode(*text, path);
  Result<Loaded<Experiment>> loaded = ParseExperiment(*text, path);
  if (!loaded) return tl::unexpected(loaded.error());
  return Loaded<NodeConfig>{std::move(loaded->value.node), std::move(loaded->warnings),
                            std::move(loaded->places)};
}

}  // namespace covey::config
