// What the tests of the configuration share.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "covey/config/load.h"

namespace covey::config {

// The smallest node file; `more` is appended.
inline std::string SmallNode(const std::string& more = {}) {
  return "model: {input: [4], layers: [{dense: {units: 2}}]}\n"
         "data: {train: {images: i, labels: l}}\n" +
         more;
}

inline std::string SmallExperiment(const std::string& more = {}) {
  return "experiment: {nodes: 2}\n"
         "train: {until: {epochs: 1}}\n" +
         SmallNode(more);
}

// The report of a node file that is wrong, without the closing line; "loaded" when it is not.
inline std::string Errors(const std::string& text) {
  const auto loaded = ParseNode(text, "n.yaml");
  if (loaded) return "loaded";
  std::string report = loaded.error().what;
  return report.substr(0, report.rfind('\n') + 1);
}

inline std::string ExperimentErrors(const std::string& text) {
  const auto loaded = ParseExperiment(text, "e.yaml");
  if (loaded) return "loaded";
  std::string report = loaded.error().what;
  return report.substr(0, report.rfind('\n') + 1);
}

// A file of the source tree.
inline std::string SourcePath(const std::string& path) {
  const char* root = std::getenv("COVEY_SOURCE");
  return std::string(root == nullptr ? "." : root) + "/" + path;
}

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace covey::config
