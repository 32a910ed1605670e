// Decoding with memory as a GPU has it beside the papers' ideal memory, and what each of its limits does to what
// LeanAttention gains.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/reproduce/lean_study.h"

namespace attnvp::reproduce {

struct LeanMemory {
  struct Gain {
    std::string shape, context;
    double flash_decoding = 0, flash2 = 0;  // cycles of these over lean's
  };
  struct Machine {
    std::string what;  // is different from the first one
    std::vector<Gain> gains;
    double mean(double Gain::*over) const;
    double most(double Gain::*over) const;
  };
  std::vector<Machine> machines;
};

// In timing mode, contexts of 1K and 4K.
LeanMemory run_lean_memory(const std::function<void(const std::string&)>& progress);
Section lean_memory_section(const LeanMemory& study);  // both memories side by side
Section lean_reasons_section(const LeanMemory& study);

}  // namespace attnvp::reproduce
