// Where the flows of a memory of banks are, and how that goes on. A port moves one beat at a time, of its flows in
// turn, and holds it until every word of it has crossed. Every cycle the beats that ports hold go for their banks, the
// oldest first, of equal ones that of the lower port; what finds its bank taken waits a cycle. A flow that is paced
// asks for its beats evenly, but makes up for what it has waited.
//
// States have a key, equal for those that go on alike for kHop cycles: what is left of a part counts only up to there,
// and how late a flow is only where it may catch up.
#pragma once

#include <cstdint>
#include <vector>

#include "models/banked_scratchpad/stream_beats.h"

namespace attnvp {

class BankState {
 public:
  static constexpr std::uint64_t kHop = 64;       // cycles
  static constexpr std::int64_t kPaceSteps = 16;  // of a cycle: how finely a pace is kept
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Whether a flow is so far behind its pace that it asks for kHop beats without a pause.
  static bool late(std::int64_t release, std::int64_t gap) {
    return gap > 0 && release <= -static_cast<std::int64_t>(kHop) * (gap - kPaceSteps);
  }

  struct Flow {  // that has beats left
    std::uint32_t slot = 0, port = 0;
    const StreamBeats* stream = nullptr;
    std::uint32_t part = 0, leg = 0;
    const BeatTable* table = nullptr;  // of the leg
    std::uint32_t beat = 0;            // of the table
    std::uint32_t done = 0;            // beats since run() began
    std::uint64_t leg_left = 0;        // beats, the one that the port holds among them
    std::uint64_t part_left = 0;       // likewise
    std::int64_t gap = 0;              // of two beats, in steps of a cycle; 0: asks for one as soon as it can
    std::int64_t release = 0;          // when it asks for the next one, in steps from the state's time on

    bool last_part() const { return part + 1 == stream->parts.size(); }
    bool late() const { return BankState::late(release, gap); }
    void enter_part(std::uint32_t number);
    void enter_leg(std::uint32_t number);
  };
  struct Port {  // that has flows
    std::uint32_t port = 0;
    std::uint32_t last = kNone;                  // slot of the last beat
    std::uint32_t flow = kNone;                  // whose beat it holds: index
    std::uint32_t first = 0, end = 0, live = 0;  // flows: indices, and how many have not ended
    std::uint64_t wants = 0;                     // banks, and
    std::vector<std::uint64_t> more;             // those that it wants again, as in BeatTable
    std::uint32_t held = 0;                      // cycles in which a beat waited, since run() began
  };
  struct Ports {
    std::vector<Port> all;               // by number
    std::vector<std::uint32_t> holding;  // those with a beat, the oldest first: indices
  };
  // What happened to a flow, and where it is then if it goes on.
  struct Step {
    std::uint32_t slot, port;
    std::uint32_t beats;
    std::uint32_t end;   // cycle after its last beat; 0: goes on
    std::uint32_t held;  // cycles in which its port's beat waited, said with the port's first flow
    std::uint32_t beat, part, leg;
    std::uint64_t leg_left, part_left;
    std::int64_t release;
  };

  const std::vector<Flow>& flows() const { return flows_; }
  std::vector<Flow>& flows() { return flows_; }
  const Ports& ports() const { return ports_; }
  Ports& ports() { return ports_; }
  void add(const Flow& flow, std::uint32_t last);  // last: slot of the port's last beat, if it has no flows
  std::uint32_t remove(std::uint32_t slot);        // the same of it
  // The flow alone, where the ports are known. Returns its index.
  std::uint32_t insert(const Flow& flow);

  // Goes on for so many cycles. Steps are of the flows as they stood before.
  void run(std::uint64_t cycles, std::vector<Step>& steps);
  void key(std::vector<std::uint64_t>& words) const;

 private:
  std::uint64_t present(std::uint64_t cycle);
  std::uint32_t next_flow(const Port& port, std::uint64_t cycle, std::uint64_t& next) const;
  bool grant(std::uint64_t cycle, std::vector<Step>& steps);
  bool beat_done(Port& port, std::uint64_t cycle, std::vector<Step>& steps);
  void settle(std::uint64_t cycles, std::vector<Step>& steps);
  void drop_ended();
  void regroup();

  std::vector<Flow> flows_;  // by port and slot
  Ports ports_;
};

}  // namespace attnvp
