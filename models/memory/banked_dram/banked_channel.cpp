#include "models/memory/banked_dram/banked_channel.h"

#include <algorithm>
#include <cmath>

#include "models/sim/trace/activity.h"

namespace attnvp {

namespace {

constexpr Tick kWindow = 1024;  // clocks of the averaging window

}  // namespace

BankedChannel::BankedChannel(sc_core::sc_module_name name, Context& context, const BankedConfig& config, Done done)
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

}  // namespace attnvp
