// What is wrong with a schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::schedule::check {

enum class Kind : std::uint8_t {
  kRefused,     // a command that its engine does not take
  kUnwritten,   // reads what nothing has written
  kTorn,        // reads rows of a tensor that are left over from another tile
  kKeys,        // multiplies probabilities with rows of V of other keys
  kScales,      // adds a tile's sums with the factor of another one
  kInput,       // writes to what the host has left there to be read
  kRace,        // a write and another access that nothing orders
  kFreed,       // uses space that firmware has given back, or does not hold
  kCrossing,    // goes over the end of a buffer into another one
  kUnfinished,  // firmware ends, and the result may not be there yet
  kMissing,     // of the result, nobody has written
  kDeadlock,    // waits for ever
  kLeftOver,    // tokens that nobody takes
  kContended,   // an event that two queues take
  kOverflow,    // more tokens than a counter holds
  kHeld,        // L1 that grows while the schedule runs, and is held at its end
  kUnknown,     // what the checker does not follow
};
const char* to_string(Kind kind);
const char* meaning(Kind kind);

// A command, or what the processor does.
struct Party {
  std::uint32_t cluster = 0;
  std::string queue;         // as `attnvp schedule` names it
  std::uint64_t number = 0;  // in its queue, from 1
  std::string operation;
  std::string access;  // "writes", "reads"; empty: none
  std::string place;   // "L1+0x100 (scores)", "K+0x0"
  std::uint32_t head = 0, row_block = 0;
  std::string source;  // line of the dataflow, "firmware/dataflows/mas.cpp:87"; empty: not known
  std::string step;    // of the shared step that it calls, "firmware/runtime/attention.cpp:12"; empty: none
};

struct Finding {
  Kind kind{};
  std::vector<Party> parties;       // at most two, the earlier one first
  std::uint64_t low = 0, high = 0;  // bytes [low, high); none: low = high
  std::string event;                // that would order them, or of which it is
  std::string detail;               // one clause
  std::uint64_t alike = 0;          // further ones of the same kind between the same queues
};
std::string to_text(const Finding& finding);

}  // namespace attnvp::schedule::check
