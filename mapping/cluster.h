// One cluster as its command stream is replayed (replay.h): the processor, queues with what takes commands out of them,
// engines stage by stage, the DMA.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "mapping/costs.h"
#include "mapping/recording.h"
#include "mapping/replay.h"
#include "mapping/shared_bus.h"
#include "mapping/shared_l1.h"

namespace attnvp::mapping {

class Cluster {
 public:
  Cluster(std::uint32_t number, const Recording& recording, const Costs& costs, Contention contention, double share,
          Agenda& agenda, SharedBus& bus);

  void happen(const Happening& happening);
  // By the bus: the copy under way is over, or the next one may be issued.
  void served(bool over);
  // Tokens that another cluster gives are there at once. Whether the processor waited for some.
  bool release_processor();
  Replay result() const;

 private:
  static constexpr std::uint32_t kProcessor = 0xFFFF'FFFF;  // in place of a line's number
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;       // in place of a command's
  static constexpr std::size_t kResults = 8;  // out of an engine's pipeline and not yet stored, as Engine has it

  struct Entry {  // a command in a queue
    std::uint32_t command = 0;
    double issued = 0;  // when firmware has written it
  };
  // Who is where in an engine.
  struct Stages {
    std::uint32_t filling = kNone, filled = kNone, executing = kNone;
    bool waits = false;         // to be filled: for room in L0, or for those before
    bool buffer_taken = false;  // of L0
    bool blocked = false;       // done executing: there are too many results
    double ahead = 0;           // cycles of the units for what has not begun to execute
    struct Result {
      std::uint32_t command = 0;
      double due = 0;  // out of the pipeline
    };
    boost::circular_buffer<Result> results;
  };
  // A queue and what takes commands out of it: MAC and VEC of each core, then the DMA's channels.
  struct Line {
    Unit unit = Unit::kMac;
    std::vector<Entry> entries;
    std::size_t next = 0;                // the one that waits for tokens, or for its turn
    std::size_t gone = 0, room = 0;      // out of the queue, and how many there may be in it
    bool full = false;                   // the processor waits for it
    std::uint32_t wait = 0, within = 0;  // its event reference and, in that, event
    bool ready = false;                  // DMA: it has its tokens and waits for the bus
    bool asleep = true;                  // nothing will wake it but a new command, or tokens
    Stages stages;
    double began = 0, executed = 0, drained = 0;    // bound: of an engine, the command before
    double dram_free = 0, l2_free = 0, copied = 0;  //   and of a DMA channel
  };
  struct Event {
    std::uint32_t tokens = 0;
    std::uint32_t waiting = 0;        // lines,
    std::uint32_t line[4] = {};       //   the first ones of them;
    std::vector<std::uint32_t> more;  // the others
  };
  struct Copy {  // that the DMA has chosen
    std::uint32_t command;
    double arrival;  // of its first burst at the bus
    double bus, bursts, drain;
  };

  void plan(double time, Happens what, std::uint32_t id) { agenda_.plan(time, what, number_, id); }
  std::uint32_t line_of(const Queue& queue) const;
  const Cost& cost_of(std::uint32_t command) const { return costs_.of(r_.commands[command].cost); }

  // cluster.cpp
  double own_time(std::uint64_t bus_bytes, std::uint64_t commands) const;
  void processor();
  void stall(double cycles);
  void wake(std::uint32_t id, double time);
  void give(std::uint32_t event, std::uint32_t tokens);
  static void await(Event& event, std::uint32_t id);
  void signal(const Recording::Command& command);
  bool take(Line& line, std::uint32_t id, const Recording::Command& command);
  void leave_queue(Line& line, std::size_t gone);
  void line(std::uint32_t id);

  // cluster_engines.cpp
  void engine(Line& line, std::uint32_t id, std::uint32_t command, const Cost& cost);
  void units(Line& line, std::uint32_t id, std::uint32_t command, const Cost& cost);
  void cross(std::uint32_t id, Stage stage, std::uint32_t command);
  void crossed(std::uint32_t crosser);
  void fill(Line& line, std::uint32_t id);
  void execute(Line& line, std::uint32_t id);
  void executed(Line& line, std::uint32_t id);
  void drain(std::uint32_t id);
  void drained(Line& line, std::uint32_t id);

  // cluster_copies.cpp
  void copy_alone(Line& line, std::uint32_t id, const Entry& entry);
  void issue();
  double next_within() const;
  void begin();
  void end();
  void copied();

  std::uint32_t number_;
  const Recording& r_;
  const Costs& costs_;
  const MachineConfig& m_;
  bool bound_, possible_ = true;
  double share_;  // of the bus: one in so many bytes is this cluster's
  Agenda& agenda_;
  SharedBus& bus_;
  double window_ = 0;  // cycles of the bus for all bursts that may be under way
  double lead_ = 0;    // of the next copy's first burst before the end of the last one that was chosen
  double beat_ = 0, boot_ = 0, push_ = 0;
  double own_ = 0;  // what firmware takes by itself
  std::vector<Line> lines_;
  std::vector<Event> events_;
  SharedL1 l1_;
  double port_rate_ = 0;  // of L1
  double now_ = 0;
  // The DMA: copies on their way, one after the other; a cycle of the bus is what it carries in it.
  std::uint32_t dma_ = 0;  // the first of its lines, and L1's initiator
  std::deque<Copy> copies_;
  bool dma_shares_ = false;       // its way into L1
  bool under_way_ = false;        // the first of them
  double began_ = 0;              // when
  double bus_free_ = 0;           // from the last one that is over
  double alone_free_ = 0;         // from all, were there no other clusters
  double chosen_ = 0, done_ = 0;  // cycles of the bus for all, and for those that are over
  bool issuing_ = false;          // the last one that was chosen has bursts to issue,
  double next_at_ = 0;            //   until so many of `chosen_` are served
  std::uint32_t issued_ = 0;      // its line
  std::size_t step_ = 0;          // of the processor
  double stalled_ = 0;            // cycles it has waited for tokens; bound: when it last had them
  double end_ = 0, last_ = 0;     // of firmware, of what was done
};

}  // namespace attnvp::mapping
