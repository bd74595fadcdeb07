// Values as they stand in a YAML file.
#pragma once

#include <string>

#include "config/visitor.h"

namespace covey::config {

// Returns: the value of a binding as YAML takes it, in quotes when it needs them; "" when it is
// unset.
std::string ScalarText(const Binding& binding);

// Returns: "[28, 28]"; of a pair of equals "3".
std::string ListText(const ListBinding& binding);

// Returns: "forever", "{epochs: 40}".
std::string ChoiceText(const ChoiceBinding& binding);

// Returns: "want one of forever, {batches: ...}, {epochs: ...}".
std::string ChoiceForms(const ChoiceBinding& binding);

}  // namespace covey::config
