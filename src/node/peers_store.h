// The file in which a node keeps its peers from one life to the next (membership/peers_file.h).
#pragma once

#include <string>
#include <vector>

#include "covey/membership/peers_file.h"

namespace covey::node {

class PeersStore {
 public:
  explicit PeersStore(std::string path) : path_(std::move(path)) {}

  // Returns: who is in the file; nobody when there is none. One that can't be read is renamed to
  // <path>.damaged and told about: a node can do without it.
  std::vector<membership::StoredPeer> Load() const;

  // Writes the file when other peers are to be kept than last time, or their ages are a minute old.
  // A failure is told about and tried again.
  void Save(const std::vector<membership::Known>& peers, Time now);

 private:
  std::string path_;
  std::string kept_;  // keys and addresses of what was written last
  Time written_{};
};

}  // namespace covey::node
