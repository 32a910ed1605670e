// Channel of banked DRAM as a module, with its counters, its signals and the waveform of its banks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/memory/banked_dram/channel.h"
#include "models/memory/banked_dram/config.h"
#include "models/sim/module.h"

namespace attnvp {

// Waveform of the banks of a channel, on the part's command clock. A state begins at the end of its command, which is
// the reference point of data sheets. Distances between states are therefore those of the data sheet.
class BankDisplay {
 public:
  BankDisplay(CounterOwner& owner, const BankedConfig& config);

  bool on() const { return signals_.front()->on(); }
  void start(std::uint64_t epoch_fs);
  // Called in the order of commands. cut() may remove expected commands.
  void show(const DramCommandRun& run, bool expected);
  void cut(Tick at);

 private:
  enum DisplayedState : std::uint64_t { kClosed, kOpen, kRead, kWrite, kRefresh };
  static const char* const kStates[];
  struct BankChange {
    Tick at;
    DisplayedState state;
    bool expected;
  };
  struct DisplayedBank {
    std::vector<BankChange> told;  // the last past change and all future ones
    Tick opened = 0;               // end of the last activate
  };

  void forget(std::uint32_t bank, Tick at);
  void set(std::uint32_t bank, Tick at, DisplayedState state, bool expected);
  void tell(std::uint32_t bank, const BankChange& change) {
    signals_[bank]->set_at(epoch_fs_ + static_cast<std::uint64_t>(change.at) * tick_fs_, change.state);
  }
  Tick closed_by(const DramCommandRun& run, Tick last) const;

  BankedConfig config_;
  std::uint64_t tick_fs_, epoch_fs_ = 0;
  std::vector<DisplayedBank> banks_;  // of all units
  std::vector<std::unique_ptr<Signal>> signals_;
};

class Activity;

class BankedChannel : public Module, private DramListener {
 public:
  using BurstCallback = std::function<void(std::uint64_t tag, Tick end)>;
  BankedChannel(sc_core::sc_module_name name, Context& context, const BankedConfig& config, BurstCallback done);

  Counter bytes{*this, "bytes", "bytes", "bytes that crossed the channel's data buses"};
  Counter activates{*this, "activates", "commands", "rows opened", {"attnvp.dram", "activate"}};
  Counter read_bursts{*this, "read_bursts", "commands", "bursts read", {"attnvp.dram", "read_burst", true}};
  Counter write_bursts{*this, "write_bursts", "commands", "bursts written", {"attnvp.dram", "write_burst", true}};
  Counter open_clocks{*this,
                      "open_clocks",
                      "clocks",
                      "clocks of the part in which a bank was open, of all ranks",
                      {"attnvp.dram", "open", true}};
  Counter refreshes{*this, "refreshes", "commands", "refreshes of a rank", {"attnvp.dram", "refresh"}};
  Counter bank_refreshes{*this, "bank_refreshes", "commands", "refreshes of a bank", {"attnvp.dram", "refresh_bank"}};
  Counter precharges{*this, "precharges", "commands", "rows closed, but for those closed by a read or write"};
  Counter row_hits{*this, "row_hits", "pieces", "pieces of accesses whose row was open"};
  Counter row_misses{*this, "row_misses", "pieces", "pieces of accesses whose bank had no row open"};
  Counter row_conflicts{*this, "row_conflicts", "pieces", "pieces of accesses whose bank had another row open"};
  Counter turnarounds{*this, "turnarounds", "times", "changes between reading and writing of a data bus"};
  Counter queued{*this, "queued", "pieces", "most pieces of accesses that waited at a time"};

  void push(const DramRequest& request, Tick arrival);
  Tick next() {
    next_ = channel_.next();
    if (next_ == DramChannel::kNever && !foreseen_) foresee();
    return next_;
  }
  void step() { channel_.step(); }
  Tick burst_clocks() const { return data_clocks_; }  // in which data crossed a bus
  void start(std::uint64_t epoch_fs);                 // new time origin of the clock
  std::uint64_t tells_from() const override { return next_ == DramChannel::kNever ? UINT64_MAX : time_of(next_); }

 private:
  void issued(const DramCommandRun& run) override;
  void done(std::uint64_t tag, Tick end) override;
  void foresee();
  void tell(Activity& activity, const DramCommandRun& run);
  void show_efficiency(const DramCommandRun& run);
  std::uint64_t time_of(Tick tick) const { return epoch_fs_ + static_cast<std::uint64_t>(tick) * tick_fs_; }

  BankedConfig config_;
  BurstCallback done_;
  DramChannel channel_;
  std::uint64_t tick_fs_, epoch_fs_ = 0;
  Tick data_clocks_ = 0;
  Tick told_ = 0;                        // open rows are reported up to this time
  Tick window_ = 0, window_clocks_ = 0;  // data in the current window
  Tick next_ = DramChannel::kNever;      // the channel's next event; all earlier ones are reported
  bool foreseen_ = false;                // the channel is idle; the display has its next refreshes
  bool foreseeing_ = false;              // these refreshes are being issued
  Signal depth_{*this, "queued", 16};
  Signal efficiency_{*this, "efficiency", Signal::Real{"%"}};
  BankDisplay display_;
};

}  // namespace attnvp
