#include "models/banked_dram/banked_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attnvp {

namespace {

enum BankState : std::uint64_t { kClosed, kOpen, kRead, kWrite, kRefresh };
const char* const kBankStates[] = {"closed", "open", "read", "write", "refresh", nullptr};
constexpr Tick kWindow = 1024;  // clocks over which efficiency is the mean

}  // namespace

BankedChannel::BankedChannel(sc_core::sc_module_name name, Context& context, const BankedConfig& config, Done done)
    : Module(name, context),
      config_(config),
      done_(std::move(done)),
      channel_(config, *this),
      tick_fs_(static_cast<std::uint64_t>(std::llround(config.tCK_seconds * 1e15))) {
  for (std::uint32_t unit = 0; unit < config.units(); ++unit) {
    for (std::uint32_t bank = 0; bank < config.banks_of_unit(); ++bank) {
      const std::string of_rank = config.units() > 1 ? fmt::format("rank{}.", unit) : "";
      banks_.push_back(std::make_unique<Signal>(*this, fmt::format("{}bank{}", of_rank, bank), kBankStates));
      banks_.back()->sparse();
    }
  }
}

void BankedChannel::start(std::uint64_t epoch_fs) {
  channel_.reset();
  epoch_fs_ = epoch_fs;
  data_clocks_ = window_ = window_clocks_ = 0;
  for (const auto& bank : banks_) bank->set(kClosed);
  depth_.set(0);
  efficiency_.set_real(0);
}

void BankedChannel::push(const DramRequest& request, Tick arrival) {
  channel_.push(request, arrival);
  queued.raise_to(channel_.queued());
  depth_.set(channel_.queued());
}

void BankedChannel::issued(const DramCommandRun& run) {
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
  if (banks_.front()->on()) show(run);
  if (efficiency_.on()) show_efficiency(run);
}

void BankedChannel::done(std::uint64_t tag, Tick end) {
  const DramChannelCounts& c = channel_.counts();
  row_hits.raise_to(c.hits);
  row_misses.raise_to(c.misses);
  row_conflicts.raise_to(c.conflicts);
  turnarounds.raise_to(c.turnarounds);
  refreshes.raise_to(c.refreshes);  // those that were skipped while nobody asked, too
  bank_refreshes.raise_to(c.bank_refreshes);
  open_clocks.raise_to(channel_.open_clocks(end));
  depth_.set(channel_.queued());
  done_(tag, end);
}

void BankedChannel::show(const DramCommandRun& run) {
  const std::uint32_t first = run.unit * config_.banks_of_unit();
  const std::uint64_t at = time_of(run.at);
  Signal& bank = *banks_[first + run.bank];
  const auto all = [&](std::uint64_t time, BankState state) {
    for (std::uint32_t i = 0; i < config_.banks_of_unit(); ++i) banks_[first + i]->set_at(time, state);
  };
  switch (run.command) {
    case DramCommand::kActivate:
      bank.set_at(at, kOpen);
      break;
    case DramCommand::kPrecharge:
      bank.set_at(at, kClosed);
      break;
    case DramCommand::kPrechargeAll:
      all(at, kClosed);
      break;
    case DramCommand::kRefresh:
      all(at, kRefresh);
      all(time_of(run.at + config_.tRFC), kClosed);
      break;
    case DramCommand::kRefreshBank:
      bank.set_at(at, kRefresh);
      bank.set_at(time_of(run.at + config_.tRFCpb), kClosed);
      break;
    default:
      bank.set_at(at, is_read(run.command) ? kRead : kWrite);
      bank.set_at(time_of(run.at + Tick{run.count - 1} * run.step + config_.burst_clocks()),
                  closes_bank(run.command) ? kClosed : kOpen);
      break;
  }
}

// Share of the last stretch of time in which data crossed the buses.
void BankedChannel::show_efficiency(const DramCommandRun& run) {
  if (run.at >= window_ + kWindow) {
    const double share = static_cast<double>(window_clocks_) / static_cast<double>(kWindow * config_.pseudo_channels);
    efficiency_.set_real_at(time_of(run.at), 100 * std::min(share, 1.0));
    window_ = run.at / kWindow * kWindow;
    window_clocks_ = 0;
  }
  if (is_column(run.command)) window_clocks_ += Tick{run.count} * config_.burst_clocks();
}

}  // namespace attnvp
