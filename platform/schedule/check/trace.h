// Trace of all clusters' command streams: each queue and processor is a line of steps, with the tokens that a step
// takes and gives and its memory accesses. Progress and Clocks order these steps.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/interconnect/bus/stream.h"
#include "models/machine.h"
#include "models/memory/storage/host_memory.h"
#include "platform/schedule/bus.h"

namespace attnvp::schedule::check {

using LineId = std::uint32_t;
constexpr std::uint32_t kNone = 0xFFFF'FFFF;

// Token condition of a step: the event must have received `needed` tokens, the sum that its takers use up to this step.
struct Take {
  std::uint32_t event;
  std::uint64_t needed;  // includes earlier takes of other lines in program order
  std::uint64_t own;     // takes of the own line only
};
struct Give {
  std::uint32_t event, tokens;
};

// Count for events with several takers: takes of all in program order, or of each line separately.
enum class Tokens : std::uint8_t { kAll, kOwn };

struct Access {
  Region region;
  bool write = false;
  bool running = false;  // maxima or sums that an engine forwards between commands
  bool by_row = false;   // row i depends only on row i of the command's other operands
};

// Stage that writes the result of a command. Copies out of the cluster's own L1 are written by the reading stage, other
// copies by the retiring stage (models/engine/dma_controller). Engines differ.
enum class CopyPath : std::uint8_t { kEngine, kOutOfL1, kRetired };

struct TraceStep {
  enum class StepKind : std::uint8_t { kCommand, kPush, kGive, kTake, kSpace, kEnd };
  StepKind kind = StepKind::kCommand;
  CopyPath copy_path = CopyPath::kEngine;
  bool after_previous = false;  // begins after all earlier steps of its queue have given their tokens
  bool holds_next = false;      // later steps take no tokens before it has given its own
  std::uint32_t takes = 0, first_take = 0, gives = 0, first_give = 0, accesses = 0, first_access = 0;
  std::uint32_t pushed = 0;         // command: the processor's step that pushed it
  LineId to = kNone;                // push: target queue
  std::uint64_t low = 0, high = 0;  // kSpace: freed L1 address range; low = high: none
};

struct TraceLine {
  std::uint32_t cluster = 0;
  bool processor = false;
  Queue queue;
  std::uint32_t depth = 0;  // of the queue
  std::vector<TraceStep> steps;
  std::vector<std::uint32_t> commands;  // index of the descriptor, for each step
};

struct TraceEvent {
  struct EventUse {
    LineId line;
    std::uint32_t step, take;  // index in Trace::takes
    std::uint32_t tokens;
  };
  std::vector<LineId> takers, signallers;
  std::vector<EventUse> uses;                       // takes in program order
  std::vector<std::uint64_t> taken;                 // tokens taken by each taker
  std::vector<std::uint32_t> last;                  // tokens in the last give of each signalling line
  std::uint64_t all = 0;                            // tokens taken by all takers
  std::uint64_t given = 0, given_by_processor = 0;  // tokens given in all
  // First commands that signal the event and wait for it, index in Trace::descriptors; kNone: none.
  std::uint32_t signalled_by = kNone, awaited_by = kNone;
};

// Space allocated by firmware, newest last, while it is freed in reverse order.
struct Buffer {
  std::uint64_t low = 0, high = 0;  // addresses
  std::uint32_t tag = 0;
};

// Errors that do not depend on the order of steps.
struct Complaint {
  enum class ComplaintKind : std::uint8_t { kRefused, kOutside, kHeld, kHalted, kContended };
  ComplaintKind kind;
  LineId line;
  std::uint32_t step;
  std::uint64_t low = 0, high = 0;
  std::string text;
  std::uint32_t event = kNone;  // kContended: the event; `text` is then the queue that takes its tokens as well
};

class Trace {
 public:
  explicit Trace(const MachineConfig& machine);

  const MachineConfig& machine() const { return machine_; }
  LineId processor(std::uint32_t cluster) const { return first_lines_[cluster]; }
  LineId line_of(std::uint32_t cluster, const Queue& queue) const;  // kNone: no such queue
  std::uint32_t event_of(std::uint32_t cluster, std::uint32_t event) const { return cluster * events_ + event; }
  std::string event_name(std::uint32_t event, std::uint32_t seen_from) const;  // "e3", "c2.e3"
  std::string line_name(LineId line) const;

  std::vector<TraceLine> lines;
  std::vector<TraceEvent> events;
  std::vector<Take> takes;
  std::vector<Give> gives;
  std::vector<Access> accesses;
  std::vector<hal::Descriptor> descriptors;
  std::vector<Complaint> complaints;
  // Pairs of clusters that exchange tokens or copy to each other's L1.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> bridges;
  bool foreign_l1 = false;
  std::vector<std::vector<Buffer>> buffers;  // of each cluster, as allocated at the end of firmware
  std::vector<Buffer> tags;                  // all buffers ever allocated

  // For the line's next step.
  void take(LineId line, TraceStep& step, std::uint32_t event, std::uint32_t tokens);
  void give(LineId line, TraceStep& step, std::uint32_t event, std::uint32_t tokens);

  // Reports events whose takers are not ordered, and counts their takes separately.
  void settle();

  // Accounts for the trace's host memory (models/memory/storage/host_memory.h). Throws host_memory::Exceeded.
  void update_memory();

 private:
  const MachineConfig& machine_;
  std::vector<LineId> first_lines_;      // by cluster
  std::vector<std::uint32_t> channels_;  // of DMA, by cluster
  std::uint32_t events_;
  host_memory::MemoryShare share_{"the record of commands that are checked"};
};

// Order of the steps of a trace: an engine that advances lines in a possible order, and the order that holds for all
// timings.

// Progress engine: advances lines as far as tokens, the processor and, optionally, queue depths allow. As every event
// has one taker, the result does not depend on the order of execution.
// One line can be held: it gives no tokens beyond a step, so that steps that still proceed do not depend on it.
class Progress {
 public:
  enum class Queues : std::uint8_t { kEndless, kAsDeep };
  Progress(const Trace& trace, Queues queues, Tokens tokens = Tokens::kAll);

  // Starts the lines of these clusters; repeat after each step added to the trace.
  void begin(const std::vector<std::uint32_t>& clusters);
  void hold(LineId line, std::uint32_t steps);  // completes at most `steps` steps
  void run();
  void wake(LineId line);

  // Steps that began since this was cleared, in a possible order.
  std::vector<std::pair<LineId, std::uint32_t>> begun;
  std::uint32_t taken(LineId line) const { return taken_[line]; }  // steps that have begun
  std::uint32_t level(LineId line) const { return pushed_[line] - taken_[line]; }
  std::uint64_t given(std::uint32_t event) const { return given_[event]; }

 private:
  bool may_begin(LineId line);
  void complete(LineId line);
  void advance(LineId line);

  const Trace& trace_;
  Queues queues_;
  Tokens tokens_;
  LineId held_ = kNone;
  std::uint32_t held_at_ = 0;
  std::vector<std::uint32_t> taken_, done_, pushed_;  // of each line
  std::vector<std::uint64_t> given_;                  // of each event
  std::vector<LineId> waiting_, next_waiting_;  // first waiting line of each event; next waiting line of each line
  std::vector<char> waits_, queued_, full_;     // of each line; full: the processor waits for space
  std::vector<LineId> work_;
};

// Happens-before relation of steps, as vector clocks that hold for all timings: for each step, the steps of each other
// queue that must have completed before it begins. Each queue is held at each step in turn; steps that still proceed do
// not depend on it.
class Clocks {
 public:
  explicit Clocks(const Trace& trace, Tokens tokens = Tokens::kAll);
  // Whether `step` of `line` always begins after step `other_step` of `other` has completed.
  bool after(LineId line, std::uint32_t step, LineId other, std::uint32_t other_step) const {
    const std::uint32_t column = column_[std::size_t{line} * lines_ + other];
    return column != kNone && clock_[line][std::size_t{step} * columns_[line] + column] > other_step;
  }

 private:
  void sweep(const Trace& trace, const std::vector<std::uint32_t>& clusters, LineId held, Tokens tokens);

  std::size_t lines_;
  std::vector<std::uint32_t> column_;              // line -> column in another line's clock
  std::vector<std::uint32_t> columns_;             // number of columns of each line
  std::vector<std::vector<std::uint32_t>> clock_;  // clock of each line, step by step
};

}  // namespace attnvp::schedule::check
