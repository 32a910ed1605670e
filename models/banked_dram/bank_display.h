// What a waveform shows of a channel's banks, on the part's own clock. A state begins at the end of its command, from
// which data sheets count: the distances between states are those of the data sheet.
#pragma once

#include <memory>
#include <vector>

#include "models/banked_dram/command.h"
#include "models/banked_dram/config.h"
#include "models/banked_dram/distances.h"
#include "models/module.h"

namespace attnvp {

class BankDisplay {
 public:
  BankDisplay(CounterOwner& owner, const BankedConfig& config);

  bool on() const { return signals_.front()->on(); }
  void start(std::uint64_t epoch_fs);
  // In the order of commands. Expected commands may still give way to others: cut().
  void show(const DramCommandRun& run, bool expected);
  // What was expected for after `at` does not come.
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
    std::vector<Change> told;  // the last one that has come, and those to come
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
