// Gantt chart of one head for the page: commands and waits of the time in which the head is computed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "models/sim/stall_attribution.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp::explore {

// {head, heads, cycles, window: [from, to], tracks, operations, causes, slices: [track, from, to, operation, head, row
// block, command], waits: [track, from, to, cause, command]}. `head` counts heads of all batches; a head that is not in
// the trace selects the middle one. If there are too many commands, only those of the head are listed, and then only
// the first ones.
nlohmann::ordered_json gantt_json(const CommandTrace& trace, const SignallingDescriptors& signallers, std::int64_t head,
                                  std::uint64_t cycles);

}  // namespace attnvp::explore
