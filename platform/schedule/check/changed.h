// Checker on a schedule with modified commands, for tests of the checker.
#pragma once

#include <functional>

#include "platform/schedule/check/checker.h"

namespace attnvp::schedule::check {

// Called for command `number` (from 1) of a queue.
using Change =
    std::function<void(std::uint32_t cluster, const Queue& queue, std::uint64_t number, hal::Descriptor& descriptor)>;
// Called for the n-th take or give (from 1) of a cluster's processor.
using EventChange = std::function<void(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& event,
                                       std::uint32_t& tokens)>;
Report check_changed(const Job& job, const MachineConfig& machine, const Options& options, const Change& change,
                     const EventChange& of_processor = {});

}  // namespace attnvp::schedule::check
