#include "covey/config/load.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "config/reader.h"
#include "config/schema.h"
#include "config/source.h"
#include "config/tree.h"
#include "covey/base/check.h"

namespace covey::config {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns: the length of the UTF-8 character at `at`; 0 when there is none.
std::size_t CharacterLength(std::string_view text, std::size_t at) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' ? 1 : 0;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead > 0xF4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_large = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

// Returns: the text without byte order mark and with '\n' as its line ends.
std::string Clean(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    clean += text[i];
  }
  return clean;
}

// Returns: where the first byte stands that is no text, if there is one.
std::optional<Span> FirstBadByte(std::string_view text) {
  Span span;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = CharacterLength(text, i);
    if (length == 0) return span;
    span.column += length;
    if (text[i] == '\n') span = {span.line + 1, 0, 1};
    i += length;
  }
  return std::nullopt;
}

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
Result<Loaded<T>> Parse(std::string_view raw, const std::string& name, bool is_template) {
  if (raw.size() > kMaxFileBytes) {
    return Fail(ErrorCode::kConfig, {},
                name + ": error: larger than " + std::to_string(kMaxFileBytes) +
                    " bytes\n1 error; configuration not loaded.");
  }
  const std::string text = Clean(raw);
  const SourceText source(name, text);
  Diagnostics diagnostics(source);
  const auto fail = [&diagnostics] { return Fail(ErrorCode::kConfig, {}, diagnostics.Report()); };
  if (const std::optional<Span> bad = FirstBadByte(text)) {
    // The line is not shown: it may hold anything.
    return Fail(ErrorCode::kConfig, {},
                name + ":" + std::to_string(bad->line + 1) + ": error: not a text in UTF-8 (byte " +
                    std::to_string(bad->column + 1) +
                    " of the line)\n1 error; configuration not loaded.");
  }
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
  CheckWhole(loaded.value, reader, diagnostics);
  if (diagnostics.errors() != 0) return fail();
  loaded.warnings = diagnostics.Warnings();
  for (const auto& [path, span] : reader.places()) {
    loaded.places.of[path] =
        name + ':' + std::to_string(span.line + 1) + ':' + std::to_string(span.column + 1);
  }
  return loaded;
}

// Returns: the file's bytes, one more than kMaxFileBytes at most.
Result<std::string> ReadFile(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) {
    if (failure && failure != std::errc::no_such_file_or_directory) {
      const bool denied = failure == std::errc::permission_denied;
      return Fail(denied ? ErrorCode::kNoPermission : ErrorCode::kIo, path, failure.message());
    }
    return Fail(ErrorCode::kNoInput, path, "no such file", "give the path of a YAML file");
  }
  if (std::filesystem::is_directory(status)) {
    return Fail(ErrorCode::kNoInput, path, "is a directory", "give the path of a YAML file");
  }
  if (!std::filesystem::is_regular_file(status)) {
    return Fail(ErrorCode::kNoInput, path, "is not a regular file", "give the path of a YAML file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int reason = errno;
    return Fail(reason == EACCES ? ErrorCode::kNoPermission : ErrorCode::kIo, path,
                std::string("cannot be read: ") + std::strerror(reason));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Fail(ErrorCode::kIo, path, "reading failed");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
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
  return Parse<NodeConfig>(text, name, false);
}

Result<Loaded<Experiment>> ParseExperiment(std::string_view text, const std::string& name) {
  return Parse<Experiment>(text, name, true);
}

Result<Loaded<NodeConfig>> LoadNode(const std::string& path) {
  Result<std::string> text = ReadFile(path);
  if (!text) return tl::unexpected(text.error());
  return ParseNode(*text, path);
}

Result<Loaded<Experiment>> LoadExperiment(const std::string& path) {
  Result<std::string> text = ReadFile(path);
  if (!text) return tl::unexpected(text.error());
  return ParseExperiment(*text, path);
}

Result<Loaded<NodeConfig>> LoadEither(const std::string& path) {
  Result<std::string> text = ReadFile(path);
  if (!text) return tl::unexpected(text.error());
  const SourceText source(path, *text);
  Diagnostics unused(source);
  bool sound = false;
  const TreeNode root = ParseTree(Clean(*text), source, unused, sound);
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
