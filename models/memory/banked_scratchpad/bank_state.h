// State of the flows of a banked memory. A port moves one beat at a time, of its flows in turn, and holds it until all
// of its words have crossed. In every cycle the held beats request their banks, the oldest first; among equals the
// lower port. A word whose bank is taken waits a cycle. A paced flow requests its beats evenly and catches up after
// waits.
//
// States with equal keys behave equally for kHop cycles. The rest of a part therefore counts only up to that number,
// and lateness counts only up to what the flow can catch up.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/banked_scratchpad/bank_map.h"

namespace attnvp {

class BankState {
 public:
  static constexpr std::uint64_t kHop = 64;       // cycles
  static constexpr std::int64_t kPaceSteps = 16;  // resolution of the pace, in steps per cycle
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // True if a flow is so far behind its pace that it requests kHop beats without a pause.
  static bool late(std::int64_t release, std::int64_t gap) {
    return gap > 0 && release <= -static_cast<std::int64_t>(kHop) * (gap - kPaceSteps);
  }

  struct BankFlow {  // with beats left
    std::uint32_t slot = 0, port = 0;
    const StreamBeats* stream = nullptr;
    std::uint32_t part = 0, leg = 0;
    const BeatTable* table = nullptr;  // of the leg
    std::uint32_t beat = 0;            // index in the table
    std::uint32_t done = 0;            // beats since the start of run()
    std::uint64_t leg_left = 0;        // beats left, including the one that the port holds
    std::uint64_t part_left = 0;       // the same, of the part
    std::int64_t gap = 0;              // distance of two beats in steps of a cycle; 0: as soon as possible
    std::int64_t release = 0;          // time of the next request in steps, relative to the state's time

    bool last_part() const { return part + 1 == stream->parts.size(); }
    bool late() const { return BankState::late(release, gap); }
    void enter_part(std::uint32_t number);
    void enter_leg(std::uint32_t number);
  };
  struct BankPort {  // with flows
    std::uint32_t port = 0;
    std::uint32_t last = kNone;                  // slot of the last beat
    std::uint32_t flow = kNone;                  // index of the flow whose beat it holds
    std::uint32_t first = 0, end = 0, live = 0;  // indices of its flows; number of flows that have not ended
    std::uint64_t wants = 0;                     // banks that it needs,
    std::vector<std::uint64_t> more;             // and those that it needs repeatedly, as in BeatTable
    std::uint32_t held = 0;                      // cycles in which a beat waited, since the start of run()
  };
  struct Ports {
    std::vector<BankPort> all;           // by number
    std::vector<std::uint32_t> holding;  // indices of ports with a beat, oldest first
  };
  // Result of run() for one flow, with its position if it continues.
  struct FlowStep {
    std::uint32_t slot, port;
    std::uint32_t beats;
    std::uint32_t end;   // cycle after its last beat; 0: not ended
    std::uint32_t held;  // cycles in which the port's beat waited; set in the port's first flow only
    std::uint32_t beat, part, leg;
    std::uint64_t leg_left, part_left;
    std::int64_t release;
  };

  const std::vector<BankFlow>& flows() const { return flows_; }
  std::vector<BankFlow>& flows() { return flows_; }
  const Ports& ports() const { return ports_; }
  Ports& ports() { return ports_; }
  void add(const BankFlow& flow, std::uint32_t last);  // last: slot of the port's last beat, if it has no flows
  std::uint32_t remove(std::uint32_t slot);            // returns that slot
  // Inserts the flow without updating the ports; returns its index.
  std::uint32_t insert(const BankFlow& flow);

  // Simulates `cycles` cycles. Steps refer to the flows before the call.
  void run(std::uint64_t cycles, std::vector<FlowStep>& steps);
  void key(std::vector<std::uint64_t>& words) const;

 private:
  std::uint64_t present(std::uint64_t cycle);
  std::uint32_t next_flow(const BankPort& port, std::uint64_t cycle, std::uint64_t& next) const;
  bool grant(std::uint64_t cycle, std::vector<FlowStep>& steps);
  bool beat_done(BankPort& port, std::uint64_t cycle, std::vector<FlowStep>& steps);
  void settle(std::uint64_t cycles, std::vector<FlowStep>& steps);
  void drop_ended();
  void regroup();

  std::vector<BankFlow> flows_;  // by port and slot
  Ports ports_;
};

}  // namespace attnvp
