// Where the public data sets lie on this machine.
#pragma once

#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/experiment.h"

namespace covey::harness {

// Folders with one folder for each data set, in the order in which they are searched: $COVEY_DATA,
// else $XDG_CACHE_HOME/covey/data, else ~/.cache/covey/data, as scripts/fetch-data chooses; then
// /usr/share/datasets.
std::vector<std::string> DataFolders();

// Replaces relative file names of the experiment's data, such as mnist/train-images-idx3-ubyte, by
// those found, plain or with .gz: from the working directory first, then from `folders`. Names with
// another first folder than a known data set's that are nowhere stay as they are.
// Errors: kNoInput: a file of a known data set is nowhere; names where it was looked for.
Status FindDataFiles(const std::vector<std::string>& folders, config::Experiment& experiment);

}  // namespace covey::harness
