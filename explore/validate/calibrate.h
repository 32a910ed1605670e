// A machine's values fitted to measurements: the mean error's descent, one key after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/validate/validate.h"

namespace attnvp::validate {

struct Fit {
  struct Value {
    std::string key, before, after;  // as they are written in a machine file
  };
  std::string set, hardware;
  std::vector<Value> values;
  Errors before, after;
  std::size_t runs = 0;  // of the whole set
};

// At most three keys, all numbers. Throws config::ConfigError.
Fit calibrate(const std::string& path, const Options& options, const std::vector<std::string>& keys,
              const std::function<void(const std::string&)>& progress, const RowProgress& rows);
std::string to_text(const Fit& fit);

}  // namespace attnvp::validate
