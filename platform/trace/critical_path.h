// Critical path of a run: the chain of commands and waits that leads back from the end of an interval to its beginning.
// A command starts after the latest of three times: the last event it waits for was signalled, the command before it on
// its engine ended, or the engine took it from its queue. The path follows the latest one. Stall reasons of descriptors
// as text are here too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "models/sim/stall_attribution.h"
#include "models/sim/trace/command_trace.h"

namespace attnvp::trace {

// Names of stall reasons, and stall reasons of descriptors as text, from the command trace of a completed run.

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

struct PathStep {
  enum class PathStepKind : std::uint8_t {
    kWork,       // the command computes or transfers
    kStart,      // between its cause and its first cycle of work
    kProcessor,  // its engine's queue was empty
  };
  PathStepKind kind = PathStepKind::kWork;
  std::size_t entry = 0;  // index in the command trace
  std::uint64_t from = 0, to = 0;
  std::string cause;  // why the next command waited for this one: "K from DRAM", "engine", "order"; empty: the last one
};

struct CriticalPath {
  std::uint64_t from = 0, to = 0;
  std::vector<PathStep> steps;  // in order of time, without gaps
  // Cycles by engine ("mac", "vec", "dma", "processor") and by what the command makes or loads, most first.
  std::vector<std::pair<std::string, std::uint64_t>> by_engine, by_tensor;
};

// `last`: cycles of the run, for commands that did not end.
CriticalPath critical_path(const CommandTrace& trace, const SignallingDescriptors& signallers, std::uint64_t from,
                           std::uint64_t to, std::uint64_t last);

std::string to_text(const CriticalPath& path, const CommandTrace& trace, std::size_t most_steps);
nlohmann::ordered_json to_json(const CriticalPath& path, const CommandTrace& trace, std::size_t most_steps);

// Part of a module's path that names its kind: "attnvp.cluster0.dma.channel1" gives "dma".
std::string engine_of(const std::string& track);

}  // namespace attnvp::trace
