#include "models/memory/banked_dram/channel.h"

#include <algorithm>

namespace attnvp {

Tick DramChannel::CommandBus::gap(Tick at, Tick wanted) const {
  at = std::max(at, gaps);
  const Tick begin = from + (at - from) / step * step;
  at = std::max(at, begin + length);
  if (at + wanted > begin + step) at = begin + step + length;
  return std::min(at, until);
}

void DramChannel::CommandBus::take(Tick at, Tick end) {
  if (at < until) {
    gaps = end;
  } else {
    *this = {at, end, 0, 0, end};
  }
}

DramChannel::DramChannel(const BankedConfig& config, DramListener& listener)
    : config_(config),
      d_(config),
      length_{d_.act, d_.pre, d_.cas, d_.cas},
      listener_(listener),
      split_(config.write_queue > 0) {
  reset();
}

void DramChannel::reset() {
  const std::uint32_t units = config_.units(), banks = config_.banks_of_unit();
  nodes_.clear();
  free_ = kNone;
  banks_.assign(std::size_t{units} * banks, {});
  wants_.assign(banks_.size(), {});
  groups_.assign(std::size_t{units} * config_.bank_groups, {});
  units_.assign(units, {});
  for (std::uint32_t i = 0; i < banks_.size(); ++i) {
    banks_[i].unit = i / banks;
    banks_[i].group = i / config_.banks;
    wants_[i].unit = banks_[i].unit;
    wants_[i].group = banks_[i].group;
  }
  active_.assign((banks_.size() + 63) / 64, 0);
  const Tick interval = config_.refresh == RefreshPolicy::kPerBank ? config_.tREFIpb : config_.tREFI;
  for (std::uint32_t i = 0; i < units && config_.refresh != RefreshPolicy::kOff; ++i) {
    // Spread over the interval, last rank first.
    units_[i].due = interval - Tick{i} * interval / units;
  }
  row_bus_ = column_bus_ = {};
  input_.clear();
  port_free_ = 0, last_bank_ = 0, next_id_ = 1, queued_ = 0, writes_ = 0, draining_ = false, now_ = 0;
  planned_ = false;
  counts_ = {};
}

void DramChannel::push(const DramRequest& request, Tick arrival) {
  input_.push_back({request, arrival});
  if (input_.size() == 1) planned_ = false;
}

bool DramChannel::closes_rows() const {
  return config_.refresh != RefreshPolicy::kOff &&
         std::any_of(units_.begin(), units_.end(),
                     [](const RankLimits& unit) { return unit.open > 0 || unit.refreshing; });
}

Tick DramChannel::port_time() const {
  if (input_.empty() || !has_room()) return kNever;
  return std::max(input_.front().arrival, port_free_);
}

void DramChannel::plan() {
  planned_ = true;
  const Tick port = port_time();
  if (queued_ == 0 && port != kNever) skip_refreshes(port);
  Tick due = kNever;
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].refreshing && units_[i].due < due) due = units_[i].due, due_unit_ = i;
  }
  due = due == kNever ? kNever : std::max(due, now_);
  best_ = choose();
  // Order at equal times: port, refresh, commands.
  next_ = best_.at, event_ = ChannelEvent::kCommand;
  if (due <= next_) next_ = due, event_ = ChannelEvent::kRefresh;
  if (port <= next_) next_ = port, event_ = ChannelEvent::kPort;
  // Without other work, refreshes wait for the next request.
  if (event_ == ChannelEvent::kRefresh && idle() && !refreshes_when_idle_)
    next_ = best_.at, event_ = ChannelEvent::kCommand;
}

void DramChannel::step() {
  if (!planned_) plan();
  planned_ = false;
  now_ = next_;
  switch (event_) {
    case ChannelEvent::kPort:
      accept(now_, now_ + 1);
      break;
    case ChannelEvent::kRefresh:
      begin_refresh(units_[due_unit_]);
      break;
    case ChannelEvent::kCommand:
      issue(best_);
      break;
  }
}

void DramChannel::accept(Tick now, Tick free) {
  std::int32_t index = free_;
  if (index == kNone) {
    index = static_cast<std::int32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[index].next;
  }
  RequestNode& node = nodes_[index];
  node = {input_.front().request, next_id_++, now, kNone, false};
  input_.pop_front();
  last_bank_ = bank_index(node.request.place);
  Bank& bank = banks_[last_bank_];
  RequestList& list = bank.lists[split_ && !node.request.read ? 1 : 0];
  if (list.tail == kNone) {
    list.head = index;
  } else {
    nodes_[list.tail].next = index;
  }
  list.tail = index;
  ++list.count;
  ++queued_;
  port_free_ = free;
  const std::uint64_t tag = node.request.tag;
  if (!node.request.read) {
    ++writes_;
    if (split_) switch_direction();
  }
  pick(last_bank_);
  listener_.accepted(tag, free);
}

// Switches between separate queues of reads and writes. Writes are served above write_high, down to write_low, or if no
// reads are queued.
void DramChannel::switch_direction() {
  const std::uint32_t reads = queued_ - writes_;
  const bool now = draining_ ? writes_ > 0 && (writes_ > config_.write_low || reads == 0)
                             : writes_ > 0 && (writes_ >= config_.write_high || reads == 0);
  if (now == draining_) return;
  draining_ = now;
  pick_all();
}

void DramChannel::pick_all() {
  for (std::uint32_t i = 0; i < banks_.size(); ++i) pick(i);
}

void DramChannel::pick(std::uint32_t index) {
  Bank& bank = banks_[index];
  const RequestList& list = list_of(bank);
  bank.wanted = kNone;
  want(index, list.head != kNone && !bank.blocked);
  if (list.head == kNone) return;
  std::int32_t chosen = list.head;
  bool further_hit = false;
  if (bank.open) {
    const bool aged = config_.age_limit > 0 && now_ - nodes_[list.head].accepted > Tick{config_.age_limit};
    for (std::int32_t i = list.head; i != kNone && !aged; i = nodes_[i].next) {
      if (nodes_[i].request.place.row != bank.row) continue;
      chosen = i;
      if (config_.page == PagePolicy::kOpenAdaptive || config_.page == PagePolicy::kClosedAdaptive) {
        for (std::int32_t k = nodes_[i].next; k != kNone && !further_hit; k = nodes_[k].next) {
          further_hit = nodes_[k].request.place.row == bank.row;
        }
      }
      break;
    }
  }
  const RequestNode& node = nodes_[chosen];
  Want& want = wants_[index];
  bank.wanted = chosen;
  want.id = node.id;
  if (!bank.open) {
    bank.command = DramCommand::kActivate;
    want.kind = kActivates;
  } else if (node.request.place.row != bank.row) {
    bank.command = DramCommand::kPrecharge;
    want.kind = kPrecharges;
  } else {
    bool close = config_.page == PagePolicy::kClosed;
    if (config_.page == PagePolicy::kOpenAdaptive) close = list.count > 1 && !further_hit;
    if (config_.page == PagePolicy::kClosedAdaptive) close = !further_hit;
    if (node.request.read) {
      bank.command = close ? DramCommand::kReadPrecharge : DramCommand::kRead;
      want.kind = kReads;
    } else {
      bank.command = close ? DramCommand::kWritePrecharge : DramCommand::kWrite;
      want.kind = kWrites;
    }
  }
  want.ready = bank.ready[want.kind];
  if (bank.command == DramCommand::kReadPrecharge) raise(want.ready, bank.read_precharge);
}

DramChannel::Choice DramChannel::precharge_all(std::uint32_t index) const {
  const RankLimits& unit = units_[index];
  Choice c;
  c.unit = index, c.bank = index * config_.banks_of_unit(), c.command = DramCommand::kPrechargeAll;
  c.id = 0;  // precedes all requests
  Tick at = std::max(now_, unit.ready[kPrecharges]);
  for (std::uint32_t i = c.bank; i < c.bank + config_.banks_of_unit(); ++i) raise(at, banks_[i].ready[kPrecharges]);
  c.at = row_bus_.slot(at, d_.pre);
  c.end = c.at + d_.pre;
  return c;
}

DramChannel::Choice DramChannel::refresh_choice(std::uint32_t index) const {
  const RankLimits& unit = units_[index];
  const std::uint32_t banks = config_.banks_of_unit();
  Choice c;
  c.unit = index, c.id = 0;
  Tick at = now_, length = d_.ref;
  if (config_.refresh == RefreshPolicy::kPerBank) {
    c.bank = index * banks + unit.next_bank;
    const Bank& bank = banks_[c.bank];
    c.command = bank.open ? DramCommand::kPrecharge : DramCommand::kRefreshBank;
    if (bank.open) {
      length = d_.pre;
      raise(at, std::max(bank.ready[kPrecharges], unit.ready[kPrecharges]));
    } else {
      raise(at, std::max(bank.ready[kActivates] + d_.act_ref, unit.refresh_bank));
    }
  } else {
    if (unit.open > 0) return precharge_all(index);
    c.bank = index * banks;
    c.command = DramCommand::kRefresh;
    for (std::uint32_t i = c.bank; i < c.bank + banks; ++i) raise(at, banks_[i].ready[kActivates] + d_.act_ref);
  }
  c.at = row_bus_.slot(at, length);
  c.end = c.at + length;
  return c;
}

DramChannel::Choice DramChannel::choose() {
  // With separate buses, row and column commands are chosen independently.
  std::array<Choice, 2> best;
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    if (!units_[i].refreshing) continue;
    const Choice c = refresh_choice(i);
    if (c.end < best[0].end) best[0] = c;
  }
  for (std::size_t word = 0; word < active_.size(); ++word) {
    for (std::uint64_t left = active_[word]; left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(64 * word + static_cast<unsigned>(__builtin_ctzll(left)));
      const Want& want = wants_[i];
      Choice& b = best[config_.row_bus && want.kind >= kReads ? 1 : 0];
      const Tick at = start_of(want), end = at + length_[want.kind];
      if (end > b.end || (end == b.end && want.id > b.id)) continue;
      b.at = at, b.end = end, b.id = want.id, b.bank = i;
    }
  }
  const Choice& row = best[0];
  const Choice& column = best[1];
  Choice& chosen = best[column.at < row.at || (column.at == row.at && column.id < row.id) ? 1 : 0];
  if (chosen.id != 0 && chosen.at != kNever) {
    chosen.unit = wants_[chosen.bank].unit;
    chosen.command = banks_[chosen.bank].command;
  }
  return chosen;
}

}  // namespace attnvp
