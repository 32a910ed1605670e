#include "models/memory/banked_dram/banked_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "models/sim/trace/command_trace.h"

namespace attnvp {

namespace {

constexpr Tick kWindow = 1024;  // clocks of the averaging window

}  // namespace

BankedChannel::BankedChannel(sc_core::sc_module_name name, Context& context, const BankedConfig& config,
                             BurstCallback done)
    : Module(name, context),
      config_(config),
      done_(std::move(done)),
      channel_(config, *this),
      tick_fs_(static_cast<std::uint64_t>(std::llround(config.tCK_seconds * 1e15))),
      display_(*this, config) {}

void BankedChannel::start(std::uint64_t epoch_fs) {
  channel_.reset();
  epoch_fs_ = epoch_fs;
  data_clocks_ = window_ = window_clocks_ = told_ = 0;
  next_ = DramChannel::kNever;
  foreseen_ = false;
  display_.start(epoch_fs);
  depth_.set(0);
  efficiency_.set_real(0);
}

void BankedChannel::push(const DramRequest& request, Tick arrival) {
  if (foreseen_) display_.cut(arrival);
  foreseen_ = false;
  channel_.push(request, arrival);
  queued.raise_to(channel_.queued());
  depth_.set(channel_.queued());
}

// Adds future refreshes to a waveform. An idle channel issues its refreshes with the next request; a copy therefore
// runs ahead until all rows are closed.
void BankedChannel::foresee() {
  foreseen_ = true;
  if (!display_.on()) return;
  foreseeing_ = true;
  DramChannel ahead = channel_;
  ahead.refresh_when_idle();
  while (ahead.closes_rows()) ahead.step();
  foreseeing_ = false;
}

void BankedChannel::issued(const DramCommandRun& run) {
  if (display_.on()) display_.show(run, foreseeing_);
  if (foreseeing_) return;
  switch (run.command) {
    case DramCommand::kActivate:
      activates += 1;
      break;
    case DramCommand::kPrecharge:
    case DramCommand::kPrechargeAll:
      precharges += 1;
      break;
    case DramCommand::kRefresh:
      refreshes += 1;
      break;
    case DramCommand::kRefreshBank:
      bank_refreshes += 1;
      break;
    default:
      (is_read(run.command) ? read_bursts : write_bursts) += run.count;
      bytes += std::uint64_t{run.count} * config_.burst_bytes();
      data_clocks_ += Tick{run.count} * config_.burst_clocks();
      break;
  }
  if (Activity* const activity = activity_of(ctx_)) tell(*activity, run);
  if (efficiency_.on()) show_efficiency(run);
}

void BankedChannel::done(std::uint64_t tag, Tick end) {
  const DramChannelCounts& c = channel_.counts();
  row_hits.raise_to(c.hits);
  row_misses.raise_to(c.misses);
  row_conflicts.raise_to(c.conflicts);
  turnarounds.raise_to(c.turnarounds);
  const auto raise = [&](Counter& counter, std::uint64_t n) {
    const std::uint64_t before = counter.value();
    counter.raise_to(n);
    Activity* const activity = activity_of(ctx_);
    if (activity == nullptr || counter.value() == before) return;
    activity->done(counter, static_cast<double>(counter.value() - before), time_of(told_), time_of(end));
  };
  raise(refreshes, c.refreshes);  // including refreshes skipped while idle
  raise(bank_refreshes, c.bank_refreshes);
  raise(open_clocks, channel_.open_clocks(end));
  told_ = std::max(told_, end);
  depth_.set(channel_.queued());
  done_(tag, end);
}

// Activates are reported over tRCD, refreshes over tRFC, bursts over the time of their data.
void BankedChannel::tell(Activity& activity, const DramCommandRun& run) {
  const auto told = [&](const Counter& counter, Tick clocks) {
    activity.done(counter, run.count, time_of(run.at), time_of(run.at + clocks));
  };
  if (run.command == DramCommand::kActivate) told(activates, config_.tRCDRD);
  if (run.command == DramCommand::kRefresh) told(refreshes, config_.tRFC);
  if (run.command == DramCommand::kRefreshBank) told(bank_refreshes, config_.tRFCpb);
  if (is_column(run.command)) {
    told(is_read(run.command) ? read_bursts : write_bursts, Tick{run.count - 1} * run.step + config_.burst_clocks());
  }
}

// Shows the part of the last window in which data crossed the buses.
void BankedChannel::show_efficiency(const DramCommandRun& run) {
  if (run.at >= window_ + kWindow) {
    const double share = static_cast<double>(window_clocks_) / static_cast<double>(kWindow * config_.pseudo_channels);
    efficiency_.set_real_at(time_of(run.at), 100 * std::min(share, 1.0));
    window_ = run.at / kWindow * kWindow;
    window_clocks_ = 0;
  }
  if (is_column(run.command)) window_clocks_ += Tick{run.count} * config_.burst_clocks();
}

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
  for (DisplayedBank& bank : banks_) bank = {{{0, kClosed, false}}, 0};
  for (const auto& signal : signals_) signal->set(kClosed);
}

// Replaces changes at the same or a later time.
void BankDisplay::set(std::uint32_t bank, Tick at, DisplayedState state, bool expected) {
  std::vector<BankChange>& told = banks_[bank].told;
  auto later = std::find_if(told.begin(), told.end(), [at](const BankChange& change) { return change.at > at; });
  for (auto change = later; change != told.end(); ++change) {
    change->state = state;
    tell(bank, *change);
  }
  if (later != told.begin() && std::prev(later)->at == at) later = told.erase(std::prev(later));
  tell(bank, *told.insert(later, {at, state, expected}));
}

// Drops changes before the last one at or before `at`.
void BankDisplay::forget(std::uint32_t bank, Tick at) {
  std::vector<BankChange>& told = banks_[bank].told;
  const auto later = std::find_if(told.begin(), told.end(), [at](const BankChange& change) { return change.at > at; });
  if (later != told.begin()) told.erase(told.begin(), std::prev(later));
}

void BankDisplay::cut(Tick at) {
  for (std::uint32_t bank = 0; bank < banks_.size(); ++bank) {
    DisplayedState state = kClosed;
    for (BankChange& change : banks_[bank].told) {
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
  const DisplayedBank& bank = banks_[run.unit * config_.banks_of_unit() + run.bank];
  const Tick open = std::min<Tick>(config_.tRAS, Tick{config_.tRC} - config_.tRP);
  const Tick recovery = is_read(run.command) ? Tick{config_.tRTP}
                                             : Tick{config_.WL} + config_.tDQSS + config_.burst_clocks() + config_.tWR;
  return std::max(bank.opened + open, last + recovery);
}

void BankDisplay::show(const DramCommandRun& run, bool expected) {
  const std::uint32_t banks = config_.banks_of_unit(), first = run.unit * banks, bank = first + run.bank;
  const auto all = [&](Tick at, DisplayedState state) {
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
