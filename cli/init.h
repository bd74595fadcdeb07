// covey init: from data never seen before to a node that can be started.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/csv.h"

namespace covey {

struct InitOptions {
  std::string data;     // table, IDX or NPY file, or folder of images
  std::string answers;  // labels of an IDX or NPY file
  std::string to = "node";
  std::string name;   // empty: the last part of `to`
  std::string fleet;  // empty: that of `join`, else "covey"
  std::string listen;
  std::string advertise;   // what others dial; empty: as `listen`
  std::string join;        // a node's join.yaml
  std::string invitation;  // of the operator
  std::vector<std::string> classes;
  std::vector<std::size_t> size;  // of a folder's images: height and width
  data::CsvSettings csv;
  bool force = false;
  bool yes = false;
  bool json = false;
};

// Looks at the data, chooses model, answer and normalisation, or takes them from the fleet that is
// joined, and writes into the folder `to`:
//   node.yaml        what coveyd runs, commented; it has been tried: data and model fit
//   join.yaml        what another node needs to join: no secret in it
//   authorized_keys  who may connect
//   state/           the node's key, and its admission when it has an invitation
// A fleet's node whose authorized_keys is beside its join.yaml lets the new node in; with an
// invitation nobody has to be told.
//
// On a terminal it asks for what no option gives; the answer to Enter is in brackets. `yes`: asks
// nothing. Prints what it did, and the next command.
// Errors: kCantCreate when `to` has a node.yaml and not `force` (a key is never replaced); kUsage;
//   kData for an invitation that is none or of another fleet;
//   those of the data, as data::Open and data::DescribeCsv; kConfig for `join`, kData when the data
//   don't fit its model.
Status Init(InitOptions options);

}  // namespace covey
