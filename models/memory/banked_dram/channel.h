// Controller of one channel of banked DRAM, with the bank state that timing constraints need. It needs no SystemC.
// Times are clocks of the part (Tick), computed from event to event.
//
// Requests enter bank queues through a port, one per clock. Scheduling is FR-FCFS: each bank serves the oldest request
// that hits its open row, or the oldest request if none does. Among the banks, the command that can finish first is
// issued; ties go to the oldest request.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/memory/banked_dram/address_mapping.h"
#include "models/memory/banked_dram/config.h"

namespace attnvp {

// Commands of a DRAM channel's command bus (JEDEC).
enum class DramCommand : std::uint8_t {
  kActivate,
  kRead,
  kReadPrecharge,  // with auto-precharge
  kWrite,
  kWritePrecharge,
  kPrecharge,     // one bank
  kPrechargeAll,  // all banks of a rank
  kRefresh,       // a rank
  kRefreshBank
};

// One command, or a run of `count` reads or writes that start at `at`, `step` clocks apart.
struct DramCommandRun {
  DramCommand command = DramCommand::kPrecharge;
  std::uint32_t unit = 0;   // rank of a pseudo-channel
  std::uint32_t group = 0;  // of the unit
  std::uint32_t bank = 0;   // index in the unit, over all groups
  std::uint32_t row = 0;
  std::int64_t at = 0;  // clocks
  std::uint32_t count = 1, step = 0;
};

inline bool is_column(DramCommand c) { return c >= DramCommand::kRead && c <= DramCommand::kWritePrecharge; }
inline bool is_read(DramCommand c) { return c == DramCommand::kRead || c == DramCommand::kReadPrecharge; }
inline bool is_write(DramCommand c) { return c == DramCommand::kWrite || c == DramCommand::kWritePrecharge; }
inline bool closes_bank(DramCommand c) {
  return c == DramCommand::kReadPrecharge || c == DramCommand::kWritePrecharge || c == DramCommand::kPrecharge;
}

inline void raise(Tick& time, Tick to) { time = std::max(time, to); }

struct DramRequest {
  std::uint64_t tag = 0;  // id, defined by the owner
  bool read = true;
  DramPlace place;
  std::uint32_t bursts = 1;  // successive bursts of the row
};

class DramListener {
 public:
  virtual ~DramListener() = default;
  // The port has accepted the request; it accepts the next one from `free` on.
  virtual void accepted(std::uint64_t /*tag*/, Tick /*free*/) {}
  // Called in order of time, except for later commands of a run.
  virtual void issued(const DramCommandRun& /*run*/) {}
  // Called in advance: the last data of the request cross the bus until `end`.
  virtual void done(std::uint64_t tag, Tick end) = 0;
};

struct DramChannelCounts {
  std::uint64_t hits = 0;       // requests whose row was open
  std::uint64_t misses = 0;     // requests whose bank had no open row
  std::uint64_t conflicts = 0;  // requests whose bank had another row open
  std::uint64_t activates = 0, precharges = 0, refreshes = 0, bank_refreshes = 0;
  std::uint64_t read_bursts = 0, write_bursts = 0;
  std::uint64_t turnarounds = 0;  // of the data buses, between reads and writes
  std::uint64_t open_clocks = 0;  // in which a bank was open, of all units; banks still open are not counted
};

class DramChannel {
 public:
  DramChannel(const BankedConfig& config, DramListener& listener);

  static constexpr Tick kNever = INT64_MAX;

  // `arrival` must not precede an executed event.
  void push(const DramRequest& request, Tick arrival);
  // Time of the next event; kNever if none is pending.
  Tick next() {
    if (!planned_) plan();
    return next_;
  }
  void step();  // executes the next event
  // No request is queued. Refreshes become due meanwhile and are issued with the next request.
  bool idle() const { return queued_ == 0 && input_.empty(); }
  std::uint32_t queued() const { return queued_ + static_cast<std::uint32_t>(input_.size()); }
  const DramChannelCounts& counts() const { return counts_; }
  // For a copy that runs ahead of the channel: refreshes are issued without waiting for a request.
  void refresh_when_idle() {
    refreshes_when_idle_ = true;
    planned_ = false;
  }
  // True if a refresh is about to close rows, or follows immediately.
  bool closes_rows() const;
  // Clocks up to `now` in which a bank was open, of all units.
  std::uint64_t open_clocks(Tick now) const;
  void reset();

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr Tick kLongAgo = Tick{1} << 40;
  struct RequestNode {
    DramRequest request;
    std::uint64_t id;  // order of acceptance
    Tick accepted;
    std::int32_t next;
    bool opened;  // a row was opened or closed for it
  };
  struct RequestList {
    std::int32_t head = kNone, tail = kNone;
    std::uint32_t count = 0;
  };
  enum DramCommandClass : std::uint8_t { kActivates, kPrecharges, kReads, kWrites, kKinds };
  // Earliest starts of commands, by the limits of a bank, a group or a rank.
  using Ready = std::array<Tick, kKinds>;
  struct Bank {
    std::uint32_t unit = 0, group = 0;  // group: number in the channel
    bool open = false, blocked = false;
    std::uint32_t row = 0;
    Ready ready{};
    Tick read_precharge = 0;  // limit of a read with auto-precharge, beyond ready[kReads]
    RequestList lists[2];     // reads and writes; one list for both without write queue
    std::int32_t wanted = kNone;
    DramCommand command = DramCommand::kActivate;
  };
  struct Want {  // request of a bank, as the arbiter needs it
    Tick ready = 0;
    std::uint64_t id = 0;
    std::uint32_t unit = 0, group = 0;
    DramCommandClass kind = kActivates;
  };
  struct RankLimits {
    Ready ready{};
    Tick refresh_bank = 0;
    // Starts of the last four activates (tFAW).
    std::array<Tick, 4> window{-kLongAgo, -kLongAgo, -kLongAgo, -kLongAgo};
    std::uint32_t oldest = 0;
    Tick due = kNever;        // time of the next refresh
    bool refreshing = false;  // the refresh is pending
    std::uint32_t next_bank = 0;
    std::uint32_t open = 0;          // number of open banks
    Tick opened = 0;                 // time at which the first of them was opened
    DramCommandClass last = kKinds;  // direction of the data bus
  };
  // Candidate for the next command.
  struct Choice {
    Tick at = kNever, end = kNever;
    std::uint64_t id = UINT64_MAX;
    std::uint32_t bank = 0, unit = 0;
    DramCommand command = DramCommand::kPrecharge;
  };
  struct CommandBus {  // busy until `until`; a run from `from` on leaves a gap in every step
    Tick from = 0, until = 0, step = 0, length = 0;
    Tick gaps = 0;  // earlier gaps are taken
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
  RequestList& list_of(Bank& bank) { return bank.lists[draining_ ? 1 : 0]; }
  void begin_refresh(RankLimits& unit);
  void skip_refreshes(Tick until);
  void issue(const Choice& choice);
  void issue_column(const Choice& choice);
  void count_activate(RankLimits& unit, Tick at);
  void close(RankLimits& unit, Tick at) {  // a bank of the unit
    if (--unit.open == 0) counts_.open_clocks += static_cast<std::uint64_t>(std::max<Tick>(at - unit.opened, 0));
  }
  void activate(const Choice& choice);
  void precharge(const Choice& choice);
  void refresh(const Choice& choice);
  std::uint32_t run_length(const Choice& choice, const RequestNode& node, Tick step) const;
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
  bool split_;  // separate queues for reads and writes

  std::vector<RequestNode> nodes_;
  std::int32_t free_ = kNone;
  std::vector<Bank> banks_;
  std::vector<std::uint64_t> active_;  // banks with a request
  std::vector<Want> wants_;            // by bank
  std::vector<Ready> groups_;
  std::vector<RankLimits> units_;
  CommandBus row_bus_, column_bus_;  // one bus, unless config_.row_bus
  struct WaitingRequest {
    DramRequest request;
    Tick arrival;
  };
  std::deque<WaitingRequest> input_;
  Tick port_free_ = 0;
  std::uint32_t last_bank_ = 0;  // bank of the last accepted request; the port is closed while its queue is full
  std::uint64_t next_id_ = 1;
  std::uint32_t queued_ = 0, writes_ = 0;
  bool draining_ = false;
  bool refreshes_when_idle_ = false;
  Tick now_ = 0;

  enum class ChannelEvent : std::uint8_t { kPort, kRefresh, kCommand };
  bool planned_ = false;
  Tick next_ = kNever;
  ChannelEvent event_ = ChannelEvent::kPort;
  Choice best_;
  std::uint32_t due_unit_ = 0;
  DramChannelCounts counts_;
};

}  // namespace attnvp
