// The section `faults`: a part of schema.cc.
#include <string>
#include <utility>

#include "config/bindings.h"
#include "config/schema_parts.h"

namespace covey::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr Duration kMost = hours(24 * 365);

void VisitTopology(Visitor& v, TopologySettings& t) {
  using Kind = TopologySettings::Kind;
  v.Scalar({"kind",
            "any: everybody, above 64 nodes a partial view. distance: who is within range, while "
            "all move. file: pairs of indices"},
           Word<Kind>(t.kind, {{Kind::kAny, "any"},
                               {Kind::kRing, "ring"},
                               {Kind::kGrid, "grid"},
                               {Kind::kRandomRegular, "random_regular"},
                               {Kind::kFile, "file"},
                               {Kind::kDistance, "distance"}}));
  v.Scalar({"peers", "any, above 64 nodes: random links of a node, on average"},
           Integer(t.peers, 2, 64));
  v.Scalar({"refresh", "any, above 64 nodes: a node replaces one of its links so often; 0s: never"},
           Time(t.refresh, Duration::zero(), kMost));
  v.Scalar({"degree", "random_regular: neighbours of every node"}, Integer(t.degree, 3, 1023));
  v.Scalar({"file", "file: two indices of nodes on each line, from 0"}, Path(t.file));
  v.Scalar({"range", "distance: how far a radio reaches, in metres"},
           Real(t.range, {.low = 0, .high = 1e6, .above = true}));
  v.Scalar({"area", "distance: side of the square that the nodes move in, in metres"},
           Real(t.area, {.low = 0, .high = 1e6, .above = true}));
  v.Scalar({"velocity", "distance: of every node towards its next random goal, in m/s"},
           Real(t.velocity, {.low = 0, .high = 1e4}));
}

void VisitLinks(Visitor& v, LinkFaults& l) {
  v.Scalar({"delay", "One way, of every frame: the mean"},
           Time(l.delay, Duration::zero(), hours(1)));
  v.Scalar({"delay_min", "No frame is faster; at most the mean"},
           Time(l.delay_min, Duration::zero(), hours(1)));
  v.Scalar({"delay_tail",
            "What exceeds delay_min is log-normal with this sigma: 0 is constant, 1 has a frame in "
            "a hundred at six times the mean"},
           Real(l.delay_tail, {.low = 0, .high = 3}));
  v.Scalar({"bandwidth", "Bytes a second, of each direction of a link"},
           Size(l.bandwidth, ByteCount{1}, ByteCount{std::uint64_t{1} << 40}));
  v.Scalar({"clog_every",
            "A direction of a link stops for a drawn time, mean time from one to the next; frames "
            "pile up and then flow; 0s: never"},
           Time(l.clog_every, Duration::zero(), kMost));
  v.Scalar({"clog_for", "Mean length of such a stop"}, Time(l.clog_for, milliseconds(1), kMost));
  v.Section({"topology", "Who may talk to whom"}, [&v, &l] { VisitTopology(v, l.topology); });
}

void VisitPartitionFault(Visitor& v, PartitionFault& p) {
  v.Scalar({"at", "Begins so long after the start", true}, Time(p.at, Duration::zero(), kMost));
  v.Scalar({"for", "And lasts so long", true}, Time(p.lasts, milliseconds(1), kMost));
  v.Scalar(
      {"groups", "halves, or indices such as '0-3, 7 | 4-6': who is not named reaches everybody"},
      Text(p.groups, 4096));
  v.Scalar({"one_way", "Only what the first group sends is held up"}, Boolean(p.one_way));
}

void VisitNodeFaults(Visitor& v, NodeFaults& n) {
  v.Scalar({"samples_per_second", "What a training phase costs in virtual time"},
           Real(n.samples_per_second, {.low = 0, .high = 1e12, .above = true}));
  v.Scalar({"speed", "Factor of that; in experiment.overrides 0.1 is a node ten times slower"},
           Real(n.speed, {.low = 0, .high = 1e6, .above = true}));
  v.Scalar({"speed_spread", "Sigma of a log-normal factor drawn for every node; 0: all alike"},
           Real(n.speed_spread, {.low = 0, .high = 3}));
  v.Scalar({"pause_every", "A node stands still now and then: mean time between; 0s: never"},
           Time(n.pause_every, Duration::zero(), kMost));
  v.Scalar({"pause_for", "Mean length of a pause"}, Time(n.pause_for, milliseconds(1), kMost));
  v.Scalar({"crash_at", "The node crashes then; 0s: not"},
           Time(n.crash_at, Duration::zero(), kMost));
  v.Scalar({"crash_every", "Mean time from one crash of a node to the next; 0s: never"},
           Time(n.crash_every, Duration::zero(), kMost));
  v.Scalar(
      {"down_for", "From a crash to the restart from the last checkpoint (train.checkpoint_every)"},
      Time(n.down_for, milliseconds(1), kMost));
  v.Scalar({"leave_at", "The node says goodbye then, and is gone; 0s: stays"},
           Time(n.leave_at, Duration::zero(), kMost));
}

}  // namespace

void VisitFaults(Visitor& v, FaultSettings& f) {
  v.Scalar({"weights_drop", "Fraction of outgoing models that are lost"}, Fraction(f.weights_drop));
  v.Scalar({"deltas_drop", "Fraction of outgoing replies that are lost"}, Fraction(f.deltas_drop));
  v.Scalar({"duplicate", "Fraction of outgoing messages that leave twice"}, Fraction(f.duplicate));
  v.Scalar({"delay", "Every outgoing message leaves this much later"},
           Time(f.delay, Duration::zero(), hours(1)));
  v.Scalar({"reorder",
            "And up to so much more, drawn evenly for each, so that they overtake each other"},
           Time(f.reorder, Duration::zero(), hours(1)));
  v.Scalar({"corrupt", "Fraction of outgoing frames with a flipped bit; turns checksums on"},
           Fraction(f.corrupt));
  v.Scalar({"cut", "Fraction of outgoing frames instead of which the link is lost"},
           Fraction(f.cut));
  v.Scalar({"throttle", "Bytes a second that the node sends, over all links; 0B: no limit"},
           Size(f.throttle, ByteCount{0}, ByteCount{std::uint64_t{1} << 40}));
  v.Scalar({"seed", "Of the dice; 0: node.seed"}, Integer(f.seed));
  v.Section({"links", "Links between nodes. Only covey-sim run --mode virtual honours these keys"},
            [&v, &f] { VisitLinks(v, f.links); });
  v.Items({"partitions", "Groups that lose each other for a while. Only with --mode virtual"},
          {.size = [&f] { return f.partitions.size(); },
           .resize = [&f](std::size_t size) { f.partitions.resize(size); },
           .visit = [&v, &f](std::size_t i) { VisitPartitionFault(v, f.partitions[i]); }});
  v.Section({"nodes", "Speed and life of nodes. Only with --mode virtual"},
            [&v, &f] { VisitNodeFaults(v, f.nodes); });
}

}  // namespace covey::config
