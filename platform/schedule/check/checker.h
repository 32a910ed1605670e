// Static schedule checker: whether a schedule gives the same result for all timings (docs/explanation/checking.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/schedule/check/trace.h"

namespace attnvp::schedule::check {

// Kinds of findings.
enum class FindingKind : std::uint8_t {
  kRefused,     // command that its engine refuses
  kUnwritten,   // read of memory that was never written
  kTorn,        // read of tensor rows left over from another tile
  kKeys,        // probabilities multiplied with rows of V of other keys
  kScales,      // sums of a tile added with the factor of another tile
  kInput,       // write to input data of the host
  kRace,        // a write and another access that are not ordered
  kFreed,       // use of L1 that is freed or not allocated
  kCrossing,    // access beyond the end of a buffer
  kUnfinished,  // firmware ends before the result is complete
  kMissing,     // part of the result is never written
  kDeadlock,    // wait without end
  kLeftOver,    // tokens that are not taken
  kContended,   // event with two takers
  kOverflow,    // more tokens than a counter holds
  kHeld,        // L1 that grows during the schedule and is held at its end
  kUnknown,     // not supported by the checker
};
const char* to_string(FindingKind kind);
const char* meaning(FindingKind kind);

// A command, or an action of the processor.
struct Party {
  std::uint32_t cluster = 0;
  std::string queue;         // as in the output of `attnvp schedule`
  std::uint64_t number = 0;  // in its queue, from 1
  std::string operation;
  std::string access;  // "writes", "reads"; empty: no access
  std::string place;   // "L1+0x100 (scores)", "K+0x0"
  std::uint32_t head = 0, row_block = 0;
  std::string source;  // source line in the dataflow, "firmware/dataflows/mas.cpp:87"; empty: unknown
  std::string step;    // source line of the shared step, "firmware/runtime/attention/attention.cpp:12"; empty: none
};

struct Finding {
  FindingKind kind{};
  std::vector<Party> parties;       // at most two, the earlier first
  std::uint64_t low = 0, high = 0;  // bytes [low, high); low = high: none
  std::string event;                // event that would order them, or that the finding concerns
  std::string detail;               // one clause
  std::uint64_t alike = 0;          // further findings of the same kind between the same queues
};
std::string to_text(const Finding& finding);

struct CheckOptions {
  std::uint64_t output_bytes = 0;  // of the result at Layer::o; 0: not checked
  std::size_t most = 20;           // maximum number of findings; further ones are counted
};

struct Report {
  std::vector<Finding> findings;
  std::uint64_t commands = 0;
  std::uint64_t held_at_end = 0;  // bytes of L1 at the end, of the cluster with the most
};

// Examines a complete trace.
Report examine(const Job& job, Trace& trace, const CheckOptions& options);

// Runs the job's firmware untimed for every cluster and examines its commands, with queues as empty as possible. If the
// firmware reads queue levels, also with queues as full as possible.
Report check(const Job& job, const MachineConfig& machine, const CheckOptions& options);

// For tests of the checker: a schedule with modified commands.
// Called for command `number` (from 1) of a queue.
using CommandMutation =
    std::function<void(std::uint32_t cluster, const Queue& queue, std::uint64_t number, hal::Descriptor& descriptor)>;
// Called for the n-th take or give (from 1) of a cluster's processor.
using TokenMutation = std::function<void(std::uint32_t cluster, std::uint64_t number, bool take, std::uint32_t& event,
                                         std::uint32_t& tokens)>;
Report check_changed(const Job& job, const MachineConfig& machine, const CheckOptions& options,
                     const CommandMutation& change, const TokenMutation& of_processor = {});

// Source lines of a finding's commands, from the debug information of this program or of the firmware's ELF file. The
// firmware runs again, and its return addresses identify each push.
void name_sources(Report& report, const Job& job, const MachineConfig& machine);

}  // namespace attnvp::schedule::check
