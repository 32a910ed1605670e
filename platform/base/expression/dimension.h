// Dimension of a quantity: a product of powers of bytes, seconds and picojoules.
#pragma once

#include <string>

#include "platform/machine/units.h"

namespace attnvp::expression {

struct Dimension {  // exponents; all 0: a plain number
  int bytes = 0, seconds = 0, picojoules = 0;
  bool operator==(const Dimension& o) const {
    return bytes == o.bytes && seconds == o.seconds && picojoules == o.picojoules;
  }
  bool operator!=(const Dimension& o) const { return !(*this == o); }
};
Dimension dimension_of(config::Unit unit);
std::string to_string(const Dimension& dimension);  // "a plain number", "bytes", "bytes/s"
// Value with a suitable prefix: "5.24 MB", "211 us", "12.0 mJ", "792,163".
std::string shown(double value, const Dimension& dimension);

}  // namespace attnvp::expression
