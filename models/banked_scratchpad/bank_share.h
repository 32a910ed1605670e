// Arbitration of a memory of banks, each of which gives one word a cycle. A port moves one beat at a time, of its flows
// in turn, and holds it until every word of it has crossed. Every cycle the beats that ports hold go for their banks,
// the oldest first, of equal ones that of the lower port; what finds its bank taken waits a cycle. A flow that is paced
// asks for its beats evenly, but makes up for what it has waited.
//
// Cycles are gone through once each, when somebody asks for what comes after them; where ports and flows are as they
// were before, as many rounds as are alike are taken at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/banked_scratchpad/bank_map.h"
#include "models/scratchpad/arbiter.h"

namespace attnvp {

class BankShare : public Arbiter {
 public:
  BankShare(const BankMap& map, std::uint32_t ports, std::uint64_t port_bytes, std::uint64_t base);

  std::uint64_t alone_cycles(std::uint64_t bytes, std::uint64_t pace) const override;
  std::size_t open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                   const Stream& stream) override;
  void close(std::uint64_t now, std::size_t slot) override;
  std::uint64_t finish(std::size_t slot, std::uint64_t now) override;
  double remaining(std::size_t slot, std::uint64_t now) override;
  double port_rate(std::uint32_t port) const override;
  std::uint64_t bank_cycles(std::size_t slot) const override;
  const std::vector<std::size_t>& moved() const override { return moved_; }
  void reset() override;

  // Words that the bank with the most has given.
  std::uint64_t busiest_bank_words() const;
  // Cycles in which a port waited for a bank, of all ports.
  std::uint64_t conflict_cycles() const;

 private:
  static constexpr std::uint64_t kPaceSteps = 16;  // of a cycle: how finely a pace is kept
  struct Part {
    std::shared_ptr<const RegionBeats> region;
    std::uint64_t beats = 0;
  };
  // Where a flow is, and what repeats of it.
  struct Place {
    std::size_t part = 0, leg = 0;
    std::uint64_t beat = 0;       // of the leg
    std::uint64_t part_left = 0;  // beats, the one that the port holds among them
    std::uint64_t left = 0;       // likewise, of all parts
    std::uint64_t asked = 0;      // beats done
  };
  struct Flow {
    bool active = false;
    std::uint32_t port = 0;
    std::uint64_t bytes = 0, beats = 0;
    std::vector<Part> parts;
    Place at;
    std::uint64_t start = 0, gap = 0, pace_end = 0;  // gap: of two beats, in steps of a cycle
    std::uint64_t ended = 0;                         // when the last beat was over
    std::uint64_t held_before = 0;
    bool early = false;       // since the reference was taken: its beat was not asked for yet,
    std::uint64_t slack = 0;  // or had been for so many cycles at least
    std::uint64_t release() const { return start + at.asked * gap / kPaceSteps; }  // of the next beat
    const BeatTable& table() const { return parts[at.part].region->legs()[at.leg].table; }
    std::uint64_t phase() const { return at.beat % table().beats(); }
  };
  struct Port {
    std::vector<std::size_t> flows;  // that have beats left, by slot
    std::size_t last = SIZE_MAX;     // slot of the last beat
    std::size_t current = SIZE_MAX;  // slot of the beat that is held
    std::uint64_t since = 0;
    std::vector<std::uint64_t> wants;  // masks as in BeatTable
    std::uint64_t held = 0;            // cycles in which a beat waited
  };
  // All that decides what happens next, but for how much is left.
  struct Snapshot {
    struct OfFlow {
      std::size_t slot;
      Place at;
      std::int64_t late;
    };
    struct OfPort {
      std::size_t last, current;
      std::uint64_t since, held;  // since: back from the snapshot's time
      std::vector<std::uint64_t> wants;
    };
    std::uint64_t time = 0;
    std::vector<OfFlow> flows;
    std::vector<OfPort> ports;
  };

  void advance(std::uint64_t now);
  std::uint64_t present();
  std::size_t next_flow(Port& port, std::uint64_t& next);
  void grant();
  void beat_done(Port& port);
  void choose_leader();
  void forget() { reference_.flows.clear(); }
  void at_leader(std::uint64_t now);
  void note(Snapshot& snapshot) const;
  std::uint64_t rounds(const Snapshot& then, const Snapshot& now, std::uint64_t until) const;
  void skip(const Snapshot& then, const Snapshot& now, std::uint64_t rounds);

  BeatCache cache_;
  std::uint64_t port_bytes_, base_;
  std::vector<Flow> flows_;
  std::vector<Port> ports_;
  std::vector<std::uint32_t> in_use_;   // ports with flows
  std::vector<std::uint32_t> holding_;  // ports with a beat, the oldest first
  std::uint64_t now_ = 0;               // cycles before this one are done
  std::vector<std::uint64_t> bank_words_;
  std::vector<std::size_t> moved_;  // none: finish() is asked again when its time has come
  // Two times at which everything is alike are looked for where the flow with the most beats begins a table anew, by
  // comparing with a reference that is replaced after 1, 2, 4, ... such times.
  std::size_t leader_ = SIZE_MAX;
  Snapshot reference_, present_;
  std::uint64_t looked_ = 0, looks_ = 1;
};

}  // namespace attnvp
