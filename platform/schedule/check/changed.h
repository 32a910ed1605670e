// The checker on a schedule whose commands are changed on their way: for what tests of it itself.
#pragma once

#include <functional>

#include "platform/schedule/check/checker.h"

namespace attnvp::schedule::check {

// Of a cluster's command `number`, from 1, in a queue.
using Change =
    std::function<void(std::uint32_t cluster, const Queue& queue, std::uint64_t number, hal::Descriptor& descriptor)>;
// Of a cluster's processor: its n-th take or give, from 1.
using EventChange = std::function<void(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& event,
                                       std::uint32_t& tokens)>;
Report check_changed(const Job& job, const MachineConfig& machine, const Options& options, const Change& change,
                     const EventChange& of_processor = {});

}  // namespace attnvp::schedule::check
