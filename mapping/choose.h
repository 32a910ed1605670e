// Chooses what a schedule leaves open, on the host, from the dataflow's declaration and its own command stream: no
// dataflow is known here by name.
//
// What is structural (parameters with a word of their own, such as "stream") is gone through; from a first guess for
// the others, shrunk until it fits, one parameter after the other takes the value with the least estimate, until none
// of them gets better.
#pragma once

#include "mapping/candidates.h"
#include "models/machine.h"

namespace attnvp::mapping {

struct Choice {
  bool fits = false;
  Words words;                 // complete, if it fits
  hal::JobResult refusal{};    // why it does not: firmware's word on the smallest schedule that was tried,
  std::uint64_t l1_bytes = 0;  //   and what that takes of L1
  double cycles = 0;           // estimated, where something was open,
  double commands = 0;         //   and of the cluster that has most
  std::uint64_t digest = 0;    // Estimate's
};

// `job` with the words that are given, 0 for those that are open.
Choice choose(const Job& job, const firmware::Dataflow& dataflow, const MachineConfig& machine);
// Where that begins, in a fraction of its time: what the dataflow is good for on that machine, roughly.
Choice look(const Job& job, const firmware::Dataflow& dataflow, const MachineConfig& machine);

}  // namespace attnvp::mapping
