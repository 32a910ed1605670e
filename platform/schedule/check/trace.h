// What order depends on, of all clusters' command streams: queues and processors as lines of steps, which tokens a step
// takes and gives, what it reads and writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/bus/stream.h"
#include "models/machine.h"
#include "models/storage/host_memory.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule::check {

using LineId = std::uint32_t;
constexpr std::uint32_t kNone = 0xFFFF'FFFF;

// An event has as many tokens as were given so far; a step may go on when they are as many as its line takes of that
// event up to and with it.
struct Take {
  std::uint32_t event;
  std::uint64_t needed;  // what others take before it in the program's order counts as well
  std::uint64_t own;     // without that
};
struct Give {
  std::uint32_t event, tokens;
};

// Of events that several queues take: what they take together, in the program's order, or each by itself.
enum class Tokens : std::uint8_t { kAll, kOwn };

struct Access {
  Region region;
  bool write = false;
  bool running = false;  // maxima or sums that an engine hands from command to command
  bool by_row = false;   // row i has to do with row i of the command's other operands only
};

// How a copy's bytes go: what comes out of the cluster's own L1 is written by the stage that reads, everything else by
// the one that retires (models/dma_controller). Engines have ways of their own.
enum class Way : std::uint8_t { kEngine, kOutOfL1, kRetired };

struct Step {
  enum class Kind : std::uint8_t { kCommand, kPush, kGive, kTake, kSpace, kEnd };
  Kind kind = Kind::kCommand;
  Way way = Way::kEngine;
  bool after_previous = false;  // begins when all before it in its queue have given their tokens
  bool holds_next = false;      // what is behind it takes no tokens before it has given its own
  std::uint32_t takes = 0, first_take = 0, gives = 0, first_give = 0, accesses = 0, first_access = 0;
  std::uint32_t pushed = 0;         // a command: the processor's step that put it into the queue
  LineId to = kNone;                // a push: whereto
  std::uint64_t low = 0, high = 0;  // kSpace: what is given back of L1, addresses; nothing: low = high
};

struct Line {
  std::uint32_t cluster = 0;
  bool processor = false;
  Queue queue;
  std::uint32_t depth = 0;  // of the queue
  std::vector<Step> steps;
  std::vector<std::uint32_t> commands;  // of each step: which descriptor
};

struct Event {
  struct Use {
    LineId line;
    std::uint32_t step, take;  // which of Trace::takes
    std::uint32_t tokens;
  };
  std::vector<LineId> takers, givers;
  std::vector<Use> uses;                            // takes, in the processor's order
  std::vector<std::uint64_t> taken;                 // by each taker
  std::vector<std::uint32_t> last;                  // tokens that each giver gave last
  std::uint64_t all = 0;                            // by all takers
  std::uint64_t given = 0, given_by_processor = 0;  // in all
};

// Space that firmware holds, newest last, as long as it gives it back newest first.
struct Buffer {
  std::uint64_t low = 0, high = 0;  // addresses
  std::uint32_t tag = 0;
};

// What is known to be wrong without any order: where, and what.
struct Complaint {
  enum class Kind : std::uint8_t { kRefused, kOutside, kHeld, kHalted, kContended };
  Kind kind;
  LineId line;
  std::uint32_t step;
  std::uint64_t low = 0, high = 0;
  std::string text;
};

class Trace {
 public:
  explicit Trace(const MachineConfig& machine);

  const MachineConfig& machine() const { return machine_; }
  LineId processor(std::uint32_t cluster) const { return cluster * lines_per_cluster_; }
  LineId line_of(std::uint32_t cluster, const Queue& queue) const;  // kNone: there is no such queue
  std::uint32_t event_of(std::uint32_t cluster, std::uint32_t event) const { return cluster * events_ + event; }
  std::string event_name(std::uint32_t event, std::uint32_t seen_from) const;  // "e3", "c2.e3"
  std::string line_name(LineId line) const;

  std::vector<Line> lines;
  std::vector<Event> events;
  std::vector<Take> takes;
  std::vector<Give> gives;
  std::vector<Access> accesses;
  std::vector<hal::Descriptor> descriptors;
  std::vector<Complaint> complaints;
  // Tokens for, or copies to the L1 of, another cluster: between which pairs.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> bridges;
  bool foreign_l1 = false;
  std::vector<std::vector<Buffer>> buffers;  // of each cluster, as firmware held them at its end
  std::vector<Buffer> tags;                  // all there were

  // Of the line's next step.
  void take(LineId line, Step& step, std::uint32_t event, std::uint32_t tokens);
  void give(LineId line, Step& step, std::uint32_t event, std::uint32_t tokens);

  // Where nothing orders two takers of an event, it complains, and counts what they take apart.
  void settle();

  // Its memory is the host's (models/storage/host_memory.h). Throws host_memory::Exceeded.
  void account();

 private:
  const MachineConfig& machine_;
  std::uint32_t lines_per_cluster_, events_;
  host_memory::Share share_{"the record of commands that are checked"};
};

}  // namespace attnvp::schedule::check
