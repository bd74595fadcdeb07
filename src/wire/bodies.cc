#include "covey/wire/bodies.h"

namespace covey::wire {

std::string CleanText(std::string_view text, std::size_t limit) {
  std::string clean(text.substr(0, limit));
  for (char& c : clean) {
    if (c < ' ' || c > '~') c = '?';
  }
  return clean;
}

}  // namespace covey::wire
