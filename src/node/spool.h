// Samples that come as whole files: a folder that they are renamed into.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "covey/base/result.h"
#include "node/intake.h"

namespace covey::node {

// Takes tables (.csv), arrays (.npz with the arrays x and y) and images (.png, .jpg, .jpeg, .pgm,
// .ppm), these in a folder that has the name of their class. Names that begin with a dot or end in
// .tmp or .part are passed over: a file is written under such a name and then renamed. A file with
// a single wrong sample is not taken at all: it goes to <folder>/bad, with <name>.reason beside it;
// a good one goes to <folder>/done, or is removed. A node that is killed in between goes on where
// it was: every sample is taken once.
class Spool {
 public:
  Spool(Intake& intake, std::string folder, bool remove);

  // Makes the folders. Errors: kCantCreate, kNoPermission.
  Status Prepare();
  // Takes what is there, in the order of names.
  // Errors: kIo of the journal: to be tried again later.
  Status Scan();

 private:
  // Gives the samples of a file one by one, each with where the next one begins. A visitor that
  // returns an error ends it.
  using Visit = std::function<Status(const data::LiveSample& sample, std::size_t next)>;
  using Samples = std::function<Status(const Visit& visit)>;

  // folder: inside of the spool: "" or "cat/".
  Status ScanFolder(const std::string& folder);
  // name: inside of the spool.
  Status TakeFile(const std::string& name);
  Result<Samples> SamplesOf(const std::string& name) const;
  Result<Samples> Table(const std::string& path) const;
  Result<Samples> Arrays(const std::string& path) const;
  Result<Samples> Image(const std::string& path, const std::string& label) const;
  Status Add(const Samples& samples, const std::string& identity, std::size_t done);
  void Quarantine(const std::string& name, const std::string& reason);

  Intake& intake_;
  const std::string folder_;
  const bool remove_;
};

}  // namespace covey::node
