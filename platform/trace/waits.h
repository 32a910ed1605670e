// Names of stall reasons, and stall reasons of descriptors as text, from the command trace of a completed run.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "models/sim/stall_attribution.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp::trace {

constexpr std::uint8_t kTagOfL2 = 9;  // tag of a load from the L2
// Name in reports, pages and timelines: "K from DRAM", "P from VEC", "space", "processor", "order" and similar. A
// load's tag is the index of its tensor in Q, K, V, C, P, O, partial results, bias, from 1.
std::string reason(const StallReason& cause);

// For entries that received a token from another: the content of the last token ("K from DRAM").
std::map<std::size_t, std::string> wait_reasons(const CommandTrace& command_trace,
                                                const SignallingDescriptors& signallers);

// All possible reasons, in a fixed order.
std::vector<std::string> wait_words();

// Content and receiver of each event's tokens, by register address: "C from MAC to core0 vec". With several receivers:
// the first and the number of others.
std::map<std::uint64_t, std::string> event_words(const CommandTrace& command_trace,
                                                 const SignallingDescriptors& signallers);

}  // namespace attnvp::trace
