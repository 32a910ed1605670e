// Whether a schedule does the same on every machine of its kind, however long anything takes
// (docs/explanation/checking.md).
#pragma once

#include <vector>

#include "platform/schedule/check/finding.h"
#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

struct Options {
  std::uint64_t output_bytes = 0;  // of the result at Layer::o; 0: there is none to look at
  std::size_t most = 20;           // findings, further ones are counted
};

struct Report {
  std::vector<Finding> findings;
  std::uint64_t commands = 0;
  std::uint64_t held_at_end = 0;  // bytes of L1, of the cluster that holds most
};

// Of a trace that is complete.
Report examine(const Job& job, Trace& trace, const Options& options);

// Runs the job's firmware untimed for every cluster and examines what it does, with queues as empty and, where firmware
// asks for that, as full as it can find them.
Report check(const Job& job, const MachineConfig& machine, const Options& options);

}  // namespace attnvp::schedule::check
