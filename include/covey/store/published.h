// The folder in which a node leaves its best model for others to use: model.onnx,
// model.safetensors, latest.json, and the same of the model before it as previous.*.
//
// latest.json is written last: who has read it and finds that the SHA-256 of a file is another one
// looks again a moment later. Consumers watch the folder for latest.json being moved into it, load
// the new file, and then let go of the old model.
//
// Every file is replaced atomically; after a crash between two of them Publish of the next version
// mends the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "covey/base/result.h"
#include "covey/store/file_system.h"
#include "covey/store/model.h"

namespace covey::store {

// What latest.json says, as far as Covey reads it back.
struct Manifest {
  ModelFacts facts;
  std::string summary;      // "mlp 4-16-3"
  std::string fingerprint;  // 64 hex digits
  std::string onnx_sha256;  // of model.onnx
  std::string safetensors_sha256;
};

inline constexpr const char* kPublishedOnnx = "model.onnx";
inline constexpr const char* kPublishedSafetensors = "model.safetensors";
inline constexpr const char* kManifest = "latest.json";
inline constexpr ByteCount kMaxManifest{std::uint64_t{64} << 20};

// What latest.json says of a model in files of these hashes.
std::string ManifestText(const Model& model, const Manifest& manifest);

// Returns: nothing when the folder has no latest.json.
// Errors: kData when it can't be read as one; kIo, kNoPermission.
Result<std::optional<Manifest>> ReadManifest(const std::string& folder);

// Writes model.facts.version = the greatest so far + 1 into the folder, which is made when missing
// (mode 0755); what was there becomes previous.*. A version means one model for ever, also across
// Rollback.
// Returns: the manifest that was written.
// Errors: as EncodeModelOnnx and WriteAtomically.
// Cost: both files are written and synchronised to disk.
Result<Manifest> Publish(const std::string& folder, Model model,
                         FileSystem& files = RealFileSystem());

// Exchanges model.* and previous.*: the model before is the published one again.
// Returns: the manifest that holds now.
// Errors: kNoInput when there is no previous one; kData when it is damaged; as WriteAtomically.
Result<Manifest> Rollback(const std::string& folder, FileSystem& files = RealFileSystem());

// Whether a candidate may replace what is published: not worse by more than `margin` (points of
// accuracy from 0 to 1; without accuracy, the fraction by which the loss may grow).
// At margin 0: never worse. Without figures on either side: yes.
bool PassesGate(const ModelFacts& candidate, const ModelFacts& published, double margin);

}  // namespace covey::store
