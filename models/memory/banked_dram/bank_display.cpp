#include "models/memory/banked_dram/bank_display.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace attnvp {

const char* const BankDisplay::kStates[] = {"closed", "open", "read", "write", "refresh", nullptr};

BankDisplay::BankDisplay(CounterOwner& owner, const BankedConfig& config)
    : config_(config), tick_fs_(static_cast<std::uint64_t>(std::llround(config.tCK_seconds * 1e15))) {
  for (std::uint32_t unit = 0; unit < config.units(); ++unit) {
    for (std::uint32_t bank = 0; bank < config.banks_of_unit(); ++bank) {
      const std::string of_rank = config.units() > 1 ? fmt::format("rank{}.", unit) : "";
      signals_.push_back(std::make_unique<Signal>(owner, fmt::format("{}bank{}", of_rank, bank), kStates));
      signals_.back()->sparse();
    }
  }
  banks_.resize(signals_.size());
}

void BankDisplay::start(std::uint64_t epoch_fs) {
  epoch_fs_ = epoch_fs;
  for (Bank& bank : banks_) bank = {{{0, kClosed, false}}, 0};
  for (const auto& signal : signals_) signal->set(kClosed);
}

// Replaces changes at the same or a later time.
void BankDisplay::set(std::uint32_t bank, Tick at, State state, bool expected) {
  std::vector<Change>& told = banks_[bank].told;
  auto later = std::find_if(told.begin(), told.end(), [at](const Change& change) { return change.at > at; });
  for (auto change = later; change != told.end(); ++change) {
    change->state = state;
    tell(bank, *change);
  }
  if (later != told.begin() && std::prev(later)->at == at) later = told.erase(std::prev(later));
  tell(bank, *told.insert(later, {at, state, expected}));
}

// Drops changes before the last one at or before `at`.
void BankDisplay::forget(std::uint32_t bank, Tick at) {
  std::vector<Change>& told = banks_[bank].told;
  const auto later = std::find_if(told.begin(), told.end(), [at](const Change& change) { return change.at > at; });
  if (later != told.begin()) told.erase(told.begin(), std::prev(later));
}

void BankDisplay::cut(Tick at) {
  for (std::uint32_t bank = 0; bank < banks_.size(); ++bank) {
    State state = kClosed;
    for (Change& change : banks_[bank].told) {
      if (change.expected && change.at > at) {
        change.state = state;
        tell(bank, change);
      }
      state = change.state;
    }
  }
}

// Time at which auto-precharge closes the bank: after tRAS and the recovery of its last burst, at least tRP before tRC
// ends.
Tick BankDisplay::closed_by(const DramCommandRun& run, Tick last) const {
  const Bank& bank = banks_[run.unit * config_.banks_of_unit() + run.bank];
  const Tick open = std::min<Tick>(config_.tRAS, Tick{config_.tRC} - config_.tRP);
  const Tick recovery = is_read(run.command) ? Tick{config_.tRTP}
                                             : Tick{config_.WL} + config_.tDQSS + config_.burst_clocks() + config_.tWR;
  return std::max(bank.opened + open, last + recovery);
}

void BankDisplay::show(const DramCommandRun& run, bool expected) {
  const std::uint32_t banks = config_.banks_of_unit(), first = run.unit * banks, bank = first + run.bank;
  const auto all = [&](Tick at, State state) {
    for (std::uint32_t i = first; i < first + banks; ++i) set(i, at, state, expected);
  };
  for (std::uint32_t i = first; !expected && i < first + banks; ++i) forget(i, run.at);
  switch (run.command) {
    case DramCommand::kActivate:
      banks_[bank].opened = run.at + config_.act_length;
      set(bank, banks_[bank].opened, kOpen, expected);
      break;
    case DramCommand::kPrecharge:
      set(bank, run.at + config_.pre_length, kClosed, expected);
      break;
    case DramCommand::kPrechargeAll:
      all(run.at + config_.pre_length, kClosed);
      break;
    case DramCommand::kRefresh:
      all(run.at + config_.ref_length, kRefresh);
      all(run.at + config_.ref_length + config_.tRFC, kClosed);
      break;
    case DramCommand::kRefreshBank:
      set(bank, run.at + config_.ref_length, kRefresh, expected);
      set(bank, run.at + config_.ref_length + config_.tRFCpb, kClosed, expected);
      break;
    default: {
      const Tick last = run.at + Tick{run.count - 1} * run.step + config_.cas_length;
      Tick until = last + config_.burst_clocks();
      if (is_read(run.command)) until = std::min(until, last + config_.tRTP);  // it may be closed then
      set(bank, run.at + config_.cas_length, is_read(run.command) ? kRead : kWrite, expected);
      set(bank, until, kOpen, expected);
      if (closes_bank(run.command)) set(bank, closed_by(run, last), kClosed, expected);
      break;
    }
  }
}

}  // namespace attnvp
