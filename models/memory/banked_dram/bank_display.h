// Waveform of the banks of a channel, on the part's command clock. A state begins at the end of its command, which is
// the reference point of data sheets. Distances between states are therefore those of the data sheet.
#pragma once

#include <memory>
#include <vector>

#include "models/memory/banked_dram/command.h"
#include "models/memory/banked_dram/config.h"
#include "models/memory/banked_dram/distances.h"
#include "models/sim/module.h"

namespace attnvp {

class BankDisplay {
 public:
  BankDisplay(CounterOwner& owner, const BankedConfig& config);

  bool on() const { return signals_.front()->on(); }
  void start(std::uint64_t epoch_fs);
  // Called in the order of commands. cut() may remove expected commands.
  void show(const DramCommandRun& run, bool expected);
  void cut(Tick at);

 private:
  enum State : std::uint64_t { kClosed, kOpen, kRead, kWrite, kRefresh };
  static const char* const kStates[];
  struct Change {
    Tick at;
    State state;
    bool expected;
  };
  struct Bank {
    std::vector<Change> told;  // the last past change and all future ones
    Tick opened = 0;           // end of the last activate
  };

  void forget(std::uint32_t bank, Tick at);
  void set(std::uint32_t bank, Tick at, State state, bool expected);
  void tell(std::uint32_t bank, const Change& change) {
    signals_[bank]->set_at(epoch_fs_ + static_cast<std::uint64_t>(change.at) * tick_fs_, change.state);
  }
  Tick closed_by(const DramCommandRun& run, Tick last) const;

  BankedConfig config_;
  std::uint64_t tick_fs_, epoch_fs_ = 0;
  std::vector<Bank> banks_;  // of all units
  std::vector<std::unique_ptr<Signal>> signals_;
};

}  // namespace attnvp
