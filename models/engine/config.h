// Keys that several engines share.
#pragma once

#include <string>

#include "models/keys/keys.h"

namespace attnvp {

inline config::KeyInfo queue_depth_key(const std::string& what) {
  return config::number("queue_depth", config::Unit::kCount, 2, 4096,
                        "descriptors that " + what + "; a full queue stalls the writer");
}

inline config::KeyInfo pipeline_cycles_key(const std::string& what) {
  return config::number("pipeline_cycles", config::Unit::kCycles, 0, 65536, "last " + what + " in to last result out");
}

}  // namespace attnvp
