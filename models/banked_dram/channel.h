// A channel of banked DRAM: its controller, and the state of its banks as far as limits between commands need it. No
// SystemC: times are clocks, and what happens next is worked out from event to event.
//
// Requests come through a port, one a clock, into queues of the banks. A bank wants one command at a time: of its
// requests the oldest that hits the open row, else the oldest. Of all banks' commands the one goes first that is over
// first, of those the one for the oldest request.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/banked_dram/address_mapping.h"
#include "models/banked_dram/command.h"
#include "models/banked_dram/config.h"
#include "models/banked_dram/distances.h"

namespace attnvp {

inline void raise(Tick& time, Tick to) { time = std::max(time, to); }

struct DramRequest {
  std::uint64_t tag = 0;  // the owner's
  bool read = true;
  DramPlace place;
  std::uint32_t bursts = 1;  // one after the other in the row
};

class DramListener {
 public:
  virtual ~DramListener() = default;
  // The port has taken the request; from `free` on it takes the next one.
  virtual void accepted(std::uint64_t /*tag*/, Tick /*free*/) {}
  // In the order of time, but for the later ones of a run.
  virtual void issued(const DramCommandRun& /*run*/) {}
  // Told ahead: the last data of the request cross the bus until then.
  virtual void done(std::uint64_t tag, Tick end) = 0;
};

struct DramChannelCounts {
  std::uint64_t hits = 0;       // requests whose row was open
  std::uint64_t misses = 0;     // whose bank had no open row
  std::uint64_t conflicts = 0;  // whose bank had another one open
  std::uint64_t activates = 0, precharges = 0, refreshes = 0, bank_refreshes = 0;
  std::uint64_t read_bursts = 0, write_bursts = 0;
  std::uint64_t turnarounds = 0;  // of the data buses, between reads and writes
  std::uint64_t open_clocks = 0;  // of all units, in which a bank was open; those that are still open not counted
};

class DramChannel {
 public:
  DramChannel(const BankedConfig& config, DramListener& listener);

  static constexpr Tick kNever = INT64_MAX;

  // Not before any event that was stepped over.
  void push(const DramRequest& request, Tick arrival);
  // The time of the next event, kNever when there is nothing to do.
  Tick next() {
    if (!planned_) plan();
    return next_;
  }
  void step();  // what happens then
  // Nothing queued: refreshes go on all the same, and are made up for with the next request.
  bool idle() const { return queued_ == 0 && input_.empty(); }
  std::uint32_t queued() const { return queued_ + static_cast<std::uint32_t>(input_.size()); }
  const DramChannelCounts& counts() const { return counts_; }
  // For a copy, which goes ahead of the channel: its refreshes wait for no request,
  void refresh_when_idle() {
    refreshes_when_idle_ = true;
    planned_ = false;
  }
  // and a refresh is going to close rows, or to come right after that.
  bool closes_rows() const;
  // Of all units, clocks in which a bank was open, until `now`.
  std::uint64_t open_clocks(Tick now) const;
  void reset();

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr Tick kLongAgo = Tick{1} << 40;
  struct Node {
    DramRequest request;
    std::uint64_t id;  // order of acceptance
    Tick accepted;
    std::int32_t next;
    bool opened;  // a row was opened or closed for it
  };
  struct List {
    std::int32_t head = kNone, tail = kNone;
    std::uint32_t count = 0;
  };
  enum Kind : std::uint8_t { kActivates, kPrecharges, kReads, kWrites, kKinds };
  // Earliest starts of commands, as far as a bank, a group or a rank is concerned.
  using Ready = std::array<Tick, kKinds>;
  struct Bank {
    std::uint32_t unit = 0, group = 0;  // group: of the channel
    bool open = false, blocked = false;
    std::uint32_t row = 0;
    Ready ready{};
    Tick read_precharge = 0;  // of a read with auto-precharge, beyond ready[kReads]
    List lists[2];            // reads and writes; one for both without write queue
    std::int32_t wanted = kNone;
    DramCommand command = DramCommand::kActivate;
  };
  struct Want {  // of a bank, all that choosing looks at
    Tick ready = 0;
    std::uint64_t id = 0;
    std::uint32_t unit = 0, group = 0;
    Kind kind = kActivates;
  };
  struct Unit {
    Ready ready{};
    Tick refresh_bank = 0;
    // The last four activates.
    std::array<Tick, 4> window{-kLongAgo, -kLongAgo, -kLongAgo, -kLongAgo};
    std::uint32_t oldest = 0;
    Tick due = kNever;        // the next refresh
    bool refreshing = false;  // it is to be done now
    std::uint32_t next_bank = 0;
    std::uint32_t open = 0;  // banks
    Tick opened = 0;         // when the first of them was
    Kind last = kKinds;      // direction of the data bus
  };
  // A command that may go out next.
  struct Choice {
    Tick at = kNever, end = kNever;
    std::uint64_t id = UINT64_MAX;
    std::uint32_t bank = 0, unit = 0;
    DramCommand command = DramCommand::kPrecharge;
  };
  struct CommandBus {  // taken until `until`; by a run from `from` on, with a gap in every step
    Tick from = 0, until = 0, step = 0, length = 0;
    Tick gaps = 0;  // those before are taken
    Tick slot(Tick at, Tick wanted) const {
      return at >= until ? at : wanted > step - length ? until : gap(at, wanted);
    }
    Tick gap(Tick at, Tick wanted) const;
    void take(Tick at, Tick end);
  };

  void plan();
  Choice choose();
  Tick start_of(const Want& want) const {
    const Tick at = std::max({now_, want.ready, units_[want.unit].ready[want.kind], groups_[want.group][want.kind]});
    return (want.kind >= kReads ? column_bus_ : row_bus_).slot(at, length_[want.kind]);
  }
  Choice precharge_all(std::uint32_t unit) const;
  Choice refresh_choice(std::uint32_t unit) const;
  Tick port_time() const;
  void accept(Tick now, Tick free);
  void pick(std::uint32_t bank);
  void pick_all();
  List& list_of(Bank& bank) { return bank.lists[draining_ ? 1 : 0]; }
  void begin_refresh(Unit& unit);
  void skip_refreshes(Tick until);
  void issue(const Choice& choice);
  void issue_column(const Choice& choice);
  void count_activate(Unit& unit, Tick at);
  void close(Unit& unit, Tick at) {  // one of its banks
    if (--unit.open == 0) counts_.open_clocks += static_cast<std::uint64_t>(std::max<Tick>(at - unit.opened, 0));
  }
  void activate(const Choice& choice);
  void precharge(const Choice& choice);
  void refresh(const Choice& choice);
  std::uint32_t run_length(const Choice& choice, const Node& node, Tick step) const;
  void column_limits(const Bank& bank, bool read, Tick last);
  void remove(Bank& bank, std::int32_t node);
  void switch_direction();
  bool has_room() const {
    return banks_[last_bank_].lists[0].count + banks_[last_bank_].lists[1].count < config_.queue;
  }
  std::uint32_t bank_index(const DramPlace& place) const {
    return (place.unit * config_.bank_groups + place.group) * config_.banks + place.bank;
  }
  void want(std::uint32_t bank, bool wanted) {
    if (wanted) {
      active_[bank / 64] |= std::uint64_t{1} << (bank % 64);
    } else {
      active_[bank / 64] &= ~(std::uint64_t{1} << (bank % 64));
    }
  }

  BankedConfig config_;
  Distances d_;
  std::array<Tick, kKinds> length_;
  DramListener& listener_;
  bool split_;  // reads and writes wait apart

  std::vector<Node> nodes_;
  std::int32_t free_ = kNone;
  std::vector<Bank> banks_;
  std::vector<std::uint64_t> active_;  // banks that want something
  std::vector<Want> wants_;            // of each bank
  std::vector<Ready> groups_;
  std::vector<Unit> units_;
  CommandBus row_bus_, column_bus_;  // the same, unless config_.row_bus
  struct Waiting {
    DramRequest request;
    Tick arrival;
  };
  std::deque<Waiting> input_;
  Tick port_free_ = 0;
  std::uint32_t last_bank_ = 0;  // stored into last: while its queue is full, the port is closed
  std::uint64_t next_id_ = 1;
  std::uint32_t queued_ = 0, writes_ = 0;
  bool draining_ = false;
  bool refreshes_when_idle_ = false;
  Tick now_ = 0;

  enum class Event : std::uint8_t { kPort, kRefresh, kCommand };
  bool planned_ = false;
  Tick next_ = kNever;
  Event event_ = Event::kPort;
  Choice best_;
  std::uint32_t due_unit_ = 0;
  DramChannelCounts counts_;
};

}  // namespace attnvp
