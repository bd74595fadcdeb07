#include "api/member_messages.h"

namespace covey::api {
namespace {

void Put(const Member& from, v1::ApiMember* to) {
  to->set_key(from.key);
  to->set_address(from.address);
  to->set_state(from.state);
  to->set_reason(from.reason);
  to->set_since_seconds(from.since_seconds);
  if (from.heard_seconds) to->set_heard_seconds(*from.heard_seconds);
  to->set_linked(from.linked);
  to->set_dialled(from.dialled);
  to->set_problem(from.problem);
  to->set_software(from.software);
  if (from.rtt_seconds) to->set_rtt_seconds(*from.rtt_seconds);
  to->set_pings(from.pings);
  to->set_pongs(from.pongs);
}

Member ToMember(const v1::ApiMember& from) {
  Member to;
  to.key = from.key();
  to.address = from.address();
  to.state = from.state();
  to.reason = from.reason();
  to.since_seconds = from.since_seconds();
  if (from.has_heard_seconds()) to.heard_seconds = from.heard_seconds();
  to.linked = from.linked();
  to.dialled = from.dialled();
  to.problem = from.problem();
  to.software = from.software();
  if (from.has_rtt_seconds()) to.rtt_seconds = from.rtt_seconds();
  to.pings = from.pings();
  to.pongs = from.pongs();
  return to;
}

}  // namespace

void PutMembers(const NodeStatus& from, v1::ApiStatus* to) {
  for (const Member& member : from.members) Put(member, to->add_members());
  if (!from.admissions) return;
  to->mutable_admissions()->set_admitted(from.admissions->admitted);
  to->mutable_admissions()->set_revoked(from.admissions->revoked);
  to->mutable_admissions()->set_let_in(from.admissions->let_in);
}

void TakeMembers(const v1::ApiStatus& from, NodeStatus& to) {
  for (const v1::ApiMember& in : from.members()) to.members.push_back(ToMember(in));
  if (!from.has_admissions()) return;
  const v1::ApiAdmissions& in = from.admissions();
  to.admissions = Admissions{in.admitted(), in.revoked(), in.let_in()};
}

}  // namespace covey::api
