#include "models/memory/banked_dram/traffic.h"

#include <algorithm>

namespace attnvp {

DramTraffic::DramTraffic(const BankedConfig& config, const TrafficConfig& traffic, DramListener* watch)
    : config_(config),
      traffic_(traffic),
      mapping_(config.mapping, config, 1),
      watch_(watch),
      channel_(config, *this),
      random_(traffic.seed),
      address_(0, config.channel_bytes() - traffic.bytes) {}

DramRequest DramTraffic::make() {
  std::uint64_t address =
      traffic_.step_bytes > 0 ? sent_ * traffic_.step_bytes % (config_.channel_bytes() - 1) : address_(random_);
  address -= address % traffic_.bytes;
  DramRequest request;
  request.read = share_(random_) < traffic_.read_share;
  request.tag = request.read ? 1 : 0;
  request.place = mapping_.place(address);
  request.bursts = std::max(1U, traffic_.bytes / config_.burst_bytes());
  return request;
}

void DramTraffic::send(Tick now) {
  postponed_ = false;
  if (sent_ == traffic_.requests) return;
  const DramRequest request = make();
  ++sent_;
  ++under_way_[request.tag];
  channel_.push(request, now + 1);
}

// Sends as soon as the port has accepted the previous request.
void DramTraffic::accepted(std::uint64_t /*tag*/, Tick free) {
  accepted_ = true;
  free_ = free - 1;
}

void DramTraffic::issued(const DramCommandRun& run) {
  if (watch_ != nullptr) watch_->issued(run);
}

void DramTraffic::done(std::uint64_t tag, Tick end) {
  last_answer_ = std::max(end, last_answer_ + 1);
  answers_.push_back({last_answer_, tag == 1});
}

TrafficResult DramTraffic::run() {
  send(0);
  while (true) {
    const Tick channel = channel_.next();
    const Tick answer = answers_.empty() ? DramChannel::kNever : answers_.front().at;
    const Tick port = accepted_ ? free_ : DramChannel::kNever;
    if (channel == DramChannel::kNever && answer == DramChannel::kNever && port == DramChannel::kNever) break;
    if (port <= answer && port <= channel) {
      accepted_ = false;
      if (may_send()) {
        send(port);
      } else {
        postponed_ = true;
      }
    } else if (answer <= channel) {
      --under_way_[answers_.front().read ? 1 : 0];
      answers_.pop_front();
      if (postponed_ && may_send()) send(answer);
    } else {
      channel_.step();
    }
  }
  TrafficResult result{last_answer_, traffic_.requests * traffic_.bytes, channel_.counts()};
  result.counts.open_clocks = channel_.open_clocks(last_answer_);
  return result;
}

}  // namespace attnvp
