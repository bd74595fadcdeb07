// Strict YAML onto settings, and back.
//
// One description of all keys (src/config/schema.cc) serves reading, writing, the template, `Set`
// and hints. Strict: an unknown or duplicate key, a wrong type, a number without its unit, a value
// out of range, NaN, a number that YAML would take for octal, an anchor, alias, tag or merge key, a
// second document, a file above 1 MiB or nested deeper than 16 is an error. All errors of a file
// are reported together, in the order of their lines:
//
//     node.yaml:14:3: error: unknown key 'data.batchsize'
//        14 |   batchsize: 64
//           |   ^~~~~~~~~ did you mean 'batch' (default 32)?
//     1 error; configuration not loaded.
//
// Errors: kNoInput when the file does not exist, kNoPermission or kIo when it cannot be read, else
// kConfig; `what` holds the whole report, to be printed as it is. Nothing is loaded then.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/experiment.h"
#include "covey/config/node_config.h"

namespace covey::config {

// Where the keys of a file stand, for faults that show only later, when data are opened.
struct Places {
  std::map<std::string, std::string> of;  // "data.batch" -> "node.yaml:14:3"

  // Returns: the error with the place of the key that is its `where`, or of the section around that
  // key, in front: "node.yaml:14:3: data.batch". Another `where` stays as it is.
  Error Locate(Error error) const;
};

// A value and what is legal but probably not meant; each warning is "file:line:col: warning: ..."
// with its source line.
template <class T>
struct Loaded {
  T value;
  std::vector<std::string> warnings;
  Places places;
};

// Changes the settings of a file that was read without an error, before contradictions are looked
// for: those of the settings that result count, and are told at the file's lines. For options of a
// command line. An error of its own ends the loading and is passed on as it is.
using Amend = std::function<Status(Experiment&)>;

Result<Loaded<NodeConfig>> LoadNode(const std::string& path);
Result<Loaded<Experiment>> LoadExperiment(const std::string& path, const Amend& amend = {});

// The node that a file describes: of a node file that one, of an experiment file (told by its key
// `experiment`) the template.
Result<Loaded<NodeConfig>> LoadEither(const std::string& path);

// The same from memory; `name` stands for the file in messages.
Result<Loaded<NodeConfig>> ParseNode(std::string_view text, const std::string& name);
Result<Loaded<Experiment>> ParseExperiment(std::string_view text, const std::string& name,
                                           const Amend& amend = {});

// Returns: YAML with every key that has a value, defaults included; parsing it gives the same
// settings.
std::string WriteYaml(const NodeConfig& config);
std::string WriteYaml(const Experiment& experiment);

// Sets one scalar key from text as a file would write it: Set(config, "consensus.sends", "2"),
// Set(config, "train.until", "epochs 5").
// Errors: kConfig; `where` is the key; `config` is unchanged.
Status Set(NodeConfig& config, const std::string& key, std::string_view value);
// The same for an experiment; its own keys begin with "experiment." and "expect.".
Status Set(Experiment& experiment, const std::string& key, std::string_view value);

// Checks what no key alone can tell (plaintext beyond loopback, a model without an output, ...);
// loading does it too. Errors: kConfig with every contradiction, one in a line.
Status Check(const NodeConfig& config);
Status Check(const Experiment& experiment);

// One key of the configuration.
struct KeyInfo {
  std::string path;   // "network.seeds[].key"
  std::string type;   // "integer", "duration", "one of adam, sgd, quasi_global", "section", ...
  std::string range;  // "1 to 65536"; empty: any
  std::string default_value;  // as a file would write it; empty: unset or required
  std::string doc;
  bool required = false;
};

std::vector<KeyInfo> DescribeNode();
std::vector<KeyInfo> DescribeExperiment();  // only what an experiment file has beyond a node file

// Returns: a commented node file with every key at its default, and examples where a key is
// required.
std::string NodeTemplate();

}  // namespace covey::config
