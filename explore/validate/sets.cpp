// The list of all kinds of measurements.
#include "explore/validate/data_set.h"

namespace attnvp::validate {

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {};
  return all;
}

}  // namespace attnvp::validate
