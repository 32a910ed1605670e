// Findings of the schedule checker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::schedule::check {

enum class Kind : std::uint8_t {
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
const char* to_string(Kind kind);
const char* meaning(Kind kind);

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
  Kind kind{};
  std::vector<Party> parties;       // at most two, the earlier first
  std::uint64_t low = 0, high = 0;  // bytes [low, high); low = high: none
  std::string event;                // event that would order them, or that the finding concerns
  std::string detail;               // one clause
  std::uint64_t alike = 0;          // further findings of the same kind between the same queues
};
std::string to_text(const Finding& finding);

}  // namespace attnvp::schedule::check
