// Looks into a simulated fleet from inside, and bugs that its tests plant there.
#pragma once

#include <cstdint>

#include "covey/base/time.h"
#include "covey/consensus/fifo.h"
#include "covey/consensus/message.h"
#include "covey/learner/learner.h"
#include "covey/learner/links.h"
#include "covey/tensor/flat_vector.h"

namespace covey::simulate {

// Told of everything that happens at a node, in virtual-time order.
// Thread: that of the run, which has only one then.
class Probe {
 public:
  virtual ~Probe() = default;

  // A life begins; `from` is the checkpoint that it should go on from, if there is one.
  virtual void Begins(std::uint32_t node, Time now, const learner::Learner& learner,
                      const learner::Saved* from) = 0;
  virtual void Ends(std::uint32_t node, Time now, const learner::Learner& learner) = 0;
  // The learner sends `message` to message.peer.
  virtual void Sent(std::uint32_t node, Time now, const consensus::Message& message) = 0;
  // A message has passed the gates of the links and is in `fifo`, unless that is full.
  virtual void Delivered(std::uint32_t node, Time now, const consensus::Message& message,
                         const consensus::Fifo& fifo) = 0;
  // The learner takes a message from `fifo`, and has then applied it or dropped it.
  virtual void Took(std::uint32_t node, Time now, const consensus::Fifo& fifo) = 0;
  virtual void Applied(std::uint32_t node, Time now, const consensus::Message& message) = 0;
  virtual void Trains(std::uint32_t node, tensor::ConstVectorView before) = 0;
  virtual void Trained(std::uint32_t node, tensor::ConstVectorView after) = 0;
  // The learner has done what an event asked of it.
  virtual void Turn(std::uint32_t node, Time now, const learner::Learner& learner,
                    const learner::Links& links, const consensus::Fifo& fifo) = 0;
  // Whether the run ends here.
  virtual bool stop() const = 0;
};

// Bugs of a simulated node, for tests that must find them: one at a time. Nothing outside
// `simulate` knows them.
struct PlantedBugs {
  bool deltas_twice = false;          // every tenth DELTAS moves x by twice what it says
  bool reply_altered = false;         // a reply is not what x was moved by
  bool reply_swallowed = false;       // WEIGHTS are applied, and now and then nobody is told
  bool not_a_number = false;          // now and then a model with a NaN is sent
  bool fifo_unbounded = false;        // the FIFO has no limits
  bool eviction_untold = false;       // who sent an evicted model does not hear of it
  bool checksums_off = false;         // damaged frames pass
  bool checkpoint_forgotten = false;  // a restart begins with new parameters
  bool session_reused = false;        // a restart begins with the exchange ids of the last life
  bool deaf_when_done = false;        // a node that is done never looks into its FIFO
  bool deadline_lost = false;         // the end of a wait is never told
};

}  // namespace covey::simulate
