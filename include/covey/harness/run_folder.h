// The folder that one run leaves behind: runs/<time>-<name>/.
#pragma once

#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/experiment.h"
#include "covey/harness/expect.h"
#include "covey/harness/outcome.h"
#include "covey/harness/runner.h"
#include "covey/store/model.h"

namespace covey::harness {

struct RunFolder {
  std::string path;

  // `out` set: that folder, made when missing; it must not hold another run. Else "runs/<UTC
  // time>-<name>" below the working folder, "-2" and so on appended when it is taken, and the link
  // runs/latest moved to it. Characters that file names don't like become "-".
  // Errors: kCantCreate.
  static Result<RunFolder> Make(const std::string& out, const std::string& name);

  // config.resolved.yaml: the experiment after all options.
  Status WriteConfig(const config::Experiment& experiment) const;
  // summary.json, results.csv, report.html, and model/ when there is one.
  Status WriteResults(const Outcome& outcome, const std::vector<Verdict>& verdicts) const;
  // model/model.onnx and model/model.safetensors.
  Status WriteModel(const store::Model& model) const;

  std::string Report() const { return path + "/report.html"; }
  std::string Metrics() const { return path + "/metrics.jsonl"; }
};

}  // namespace covey::harness
