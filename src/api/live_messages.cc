#include "api/live_messages.h"

namespace covey::api {

void Put(const LiveStatus& from, v1::ApiLive* to) {
  to->set_to_train(from.to_train);
  to->set_set_aside(from.set_aside);
  to->set_start_at(from.start_at);
  to->set_waiting(from.waiting);
  to->set_accepted(from.accepted);
  to->set_rejected(from.rejected);
  to->set_quarantined(from.quarantined);
  to->set_last_rejected(from.last_rejected);
  if (from.age_seconds) to->set_age_seconds(*from.age_seconds);
  for (const auto& [label, samples] : from.classes) {
    v1::ApiClassCount* one = to->add_classes();
    one->set_label(label);
    one->set_samples(samples);
  }
}

LiveStatus ToLive(const v1::ApiLive& from) {
  LiveStatus to;
  to.to_train = from.to_train();
  to.set_aside = from.set_aside();
  to.start_at = from.start_at();
  to.waiting = from.waiting();
  to.accepted = from.accepted();
  to.rejected = from.rejected();
  to.quarantined = from.quarantined();
  to.last_rejected = from.last_rejected();
  if (from.has_age_seconds()) to.age_seconds = from.age_seconds();
  for (const v1::ApiClassCount& one : from.classes()) {
    to.classes.emplace_back(one.label(), one.samples());
  }
  return to;
}

void Put(const Samples& from, v1::ApiPush* to) {
  to->mutable_values()->Add(from.values.begin(), from.values.end());
  for (const std::string& name : from.classes) to->add_classes(name);
  to->mutable_targets()->Add(from.targets.begin(), from.targets.end());
  to->set_table(from.table);
}

Samples ToSamples(const v1::ApiPush& from) {
  Samples to;
  to.values.assign(from.values().begin(), from.values().end());
  to.classes.assign(from.classes().begin(), from.classes().end());
  to.targets.assign(from.targets().begin(), from.targets().end());
  to.table = from.table();
  return to;
}

void Put(const Pushed& from, v1::ApiPushed* to) {
  to->set_accepted(from.accepted);
  to->set_rejected(from.rejected);
  to->set_reason(from.reason);
}

Pushed ToPushed(const v1::ApiPushed& from) {
  return {from.accepted(), from.rejected(), from.reason()};
}

}  // namespace covey::api
