// Static schedule checker: whether a schedule gives the same result for all timings (docs/explanation/checking.md).
#pragma once

#include <functional>
#include <vector>

#include "platform/schedule/check/finding.h"
#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

struct Options {
  std::uint64_t output_bytes = 0;  // of the result at Layer::o; 0: not checked
  std::size_t most = 20;           // maximum number of findings; further ones are counted
};

struct Report {
  std::vector<Finding> findings;
  std::uint64_t commands = 0;
  std::uint64_t held_at_end = 0;  // bytes of L1 at the end, of the cluster with the most
};

// Examines a complete trace.
Report examine(const Job& job, Trace& trace, const Options& options);

// Runs the job's firmware untimed for every cluster and examines its commands, with queues as empty as possible. If the
// firmware reads queue levels, also with queues as full as possible.
Report check(const Job& job, const MachineConfig& machine, const Options& options);

// For tests of the checker: a schedule with modified commands.
// Called for command `number` (from 1) of a queue.
using Change =
    std::function<void(std::uint32_t cluster, const Queue& queue, std::uint64_t number, hal::Descriptor& descriptor)>;
// Called for the n-th take or give (from 1) of a cluster's processor.
using EventChange = std::function<void(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& event,
                                       std::uint32_t& tokens)>;
Report check_changed(const Job& job, const MachineConfig& machine, const Options& options, const Change& change,
                     const EventChange& of_processor = {});

}  // namespace attnvp::schedule::check
