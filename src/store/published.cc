#include "covey/store/published.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "covey/base/sha256.h"
#include "store/onnx_layers.h"
#include "store/system_error.h"

namespace covey::store {
namespace {

using ManifestJson = nlohmann::ordered_json;

constexpr const char* kManifestFormat = "covey.latest/1";

struct Names {
  const char* now;
  const char* before;
};
constexpr Names kModelFiles[] = {{kPublishedOnnx, "previous.onnx"},
                                 {kPublishedSafetensors, "previous.safetensors"},
                                 {kManifest, "previous.json"}};

ByteView BytesOf(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

std::string ShaOf(ByteView bytes) { return Sha256::Of(bytes).Hex(); }

bool Exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

// Gives the file a second name, which it takes over from whatever had it.
Status KeepAs(const std::string& path, const std::string& name, FileSystem& files) {
  if (!Exists(path)) return {};
  const std::string fresh = name + ".tmp." + std::to_string(::getpid());
  ::unlink(fresh.c_str());
  if (::link(path.c_str(), fresh.c_str()) != 0) {
    // A file system without hard links: a copy.
    const auto bytes = ReadFile(path, kMaxModelFile);
    if (!bytes) return tl::unexpected(bytes.error());
    WriteOptions options;
    options.mode = 0644;
    return WriteAtomically(name, bytes->view(), options, files);
  }
  if (files.Rename(fresh.c_str(), name.c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return SystemError(name, "can't be replaced", error);
  }
  // Renaming one name of a file to another name of the same file leaves both.
  ::unlink(fresh.c_str());
  return {};
}

// What there is becomes the previous model; then the contents of kModelFiles, the manifest last.
Status ReplaceAll(const std::string& folder, const std::array<ByteView, 3>& contents,
                  FileSystem& files) {
  for (const Names& names : kModelFiles) {
    Status kept = KeepAs(folder + "/" + names.now, folder + "/" + names.before, files);
    if (!kept) return kept;
  }
  WriteOptions options;
  options.mode = 0644;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    Status written =
        WriteAtomically(folder + "/" + kModelFiles[i].now, contents[i], options, files);
    if (!written) return written;
  }
  return {};
}

void PutFile(ManifestJson& json, const char* format, const char* name, const std::string& sha256) {
  json["files"][format]["name"] = name;
  json["files"][format]["sha256"] = sha256;
}

std::string TextAt(const ManifestJson& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::string ShaAt(const ManifestJson& json, const char* format) {
  const auto files = json.find("files");
  if (files == json.end() || !files->is_object()) return {};
  const auto file = files->find(format);
  return file != files->end() && file->is_object() ? TextAt(*file, "sha256") : std::string();
}

Result<Manifest> ParseManifest(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxManifest);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto* text = reinterpret_cast<const char*>(bytes->data());
  const ManifestJson json = ManifestJson::parse(text, text + bytes->size(), nullptr, false);
  if (!json.is_object() || TextAt(json, "format") != kManifestFormat) {
    return Fail(ErrorCode::kData, path,
                std::string("is not a manifest of format ") + kManifestFormat);
  }
  Manifest manifest;
  const auto count = [&](const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
  };
  const auto real = [&](const char* key) -> std::optional<double> {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_number()) return std::nullopt;
    return at->get<double>();
  };
  manifest.facts.version = count("version");
  manifest.facts.batches = count("batches");
  manifest.facts.held_out = count("held_out");
  manifest.facts.epoch = real("epoch").value_or(0);
  manifest.facts.accuracy = real("accuracy");
  manifest.facts.loss = real("loss");
  manifest.facts.fleet = TextAt(json, "fleet");
  manifest.facts.created_by = TextAt(json, "created_by");
  manifest.summary = TextAt(json, "model");
  manifest.fingerprint = TextAt(json, "fingerprint");
  manifest.onnx_sha256 = ShaAt(json, "onnx");
  manifest.safetensors_sha256 = ShaAt(json, "safetensors");
  return manifest;
}

// A file of the model before, when it is what its manifest says.
Result<AlignedBuffer> ReadPrevious(const std::string& path, const std::string& sha256) {
  auto bytes = ReadFile(path, kMaxModelFile);
  if (!bytes) return bytes;
  if (ShaOf(bytes->view()) != sha256) {
    return Fail(ErrorCode::kData, path, "is not the file that previous.json names");
  }
  return bytes;
}

}  // namespace

std::string ManifestText(const Model& model, const Manifest& manifest) {
  ManifestJson json;
  const ModelFacts& facts = manifest.facts;
  json["format"] = kManifestFormat;
  json["version"] = facts.version;
  json["model"] = manifest.summary;
  json["fingerprint"] = manifest.fingerprint;
  json["parameters"] = model.x.size();
  json["fleet"] = facts.fleet;
  json["created_by"] = facts.created_by;
  json["batches"] = facts.batches;
  json["epoch"] = facts.epoch;
  if (facts.accuracy) json["accuracy"] = *facts.accuracy;
  if (facts.loss) json["loss"] = *facts.loss;
  json["held_out"] = facts.held_out;
  ManifestJson& input = json["input"];
  input["name"] = "input";
  input["shape"] = OuterShape(model.spec.input);
  const std::size_t symbols = nn::Symbols(model.spec);
  if (symbols > 0) {
    input["symbols"] = symbols;
  } else {
    input["mean"] = model.input.mean;
    input["scale"] = model.input.scale;
  }
  json["outputs"] = nn::Outputs(model.spec);
  json["labels"] = model.labels;
  PutFile(json, "onnx", kPublishedOnnx, manifest.onnx_sha256);
  PutFile(json, "safetensors", kPublishedSafetensors, manifest.safetensors_sha256);
  return json.dump(2, ' ', false, ManifestJson::error_handler_t::replace) + '\n';
}

Result<std::optional<Manifest>> ReadManifest(const std::string& folder) {
  auto manifest = ParseManifest(folder + "/" + kManifest);
  if (manifest) return std::optional<Manifest>(std::move(*manifest));
  if (manifest.error().code == ErrorCode::kNoInput) return std::optional<Manifest>();
  return tl::unexpected(std::move(manifest.error()));
}

namespace {

// The greatest version that was ever given: after Rollback it is that of the previous model.
// A damaged manifest is replaced like an old one.
std::uint64_t LastVersion(const std::string& folder) {
  std::uint64_t version = 0;
  for (const char* const name : {kManifest, "previous.json"}) {
    const auto manifest = ParseManifest(folder + "/" + name);
    if (manifest) version = std::max(version, manifest->facts.version);
  }
  return version;
}

}  // namespace

Result<Manifest> Publish(const std::string& folder, Model model, FileSystem& files) {
  if (!Exists(folder)) {
    if (Status made = MakeFolder(folder); !made) return tl::unexpected(std::move(made.error()));
    // Robots' own programs read the model under other users.
    ::chmod(folder.c_str(), 0755);
  }
  model.facts.version = LastVersion(folder) + 1;
  Manifest manifest;
  manifest.facts = model.facts;
  manifest.summary = nn::Summary(model.spec);
  manifest.fingerprint = nn::FingerprintOf(model.spec).Hex();
  const auto onnx = EncodeModelOnnx(model);
  if (!onnx) return tl::unexpected(onnx.error());
  const AlignedBuffer safetensors = EncodeModelSafetensors(model);
  manifest.onnx_sha256 = ShaOf(onnx->view());
  manifest.safetensors_sha256 = ShaOf(safetensors.view());
  const std::string text = ManifestText(model, manifest);
  Status done = ReplaceAll(folder, {onnx->view(), safetensors.view(), BytesOf(text)}, files);
  if (!done) return tl::unexpected(std::move(done.error()));
  return manifest;
}

Result<Manifest> Rollback(const std::string& folder, FileSystem& files) {
  const auto manifest = ParseManifest(folder + "/previous.json");
  if (!manifest && manifest.error().code == ErrorCode::kNoInput) {
    return Fail(ErrorCode::kNoInput, folder, "has no previous model to go back to");
  }
  if (!manifest) return manifest;
  const auto onnx = ReadPrevious(folder + "/previous.onnx", manifest->onnx_sha256);
  if (!onnx) return tl::unexpected(onnx.error());
  const auto safetensors =
      ReadPrevious(folder + "/previous.safetensors", manifest->safetensors_sha256);
  if (!safetensors) return tl::unexpected(safetensors.error());
  const auto text = ReadFile(folder + "/previous.json", kMaxManifest);
  if (!text) return tl::unexpected(text.error());
  Status done = ReplaceAll(folder, {onnx->view(), safetensors->view(), text->view()}, files);
  if (!done) return tl::unexpected(std::move(done.error()));
  return *manifest;
}

bool PassesGate(const ModelFacts& candidate, const ModelFacts& published, double margin) {
  if (candidate.accuracy && published.accuracy) {
    return *candidate.accuracy >= *published.accuracy - margin;
  }
  if (candidate.loss && published.loss) return *candidate.loss <= *published.loss * (1 + margin);
  return true;
}

}  // namespace covey::store
