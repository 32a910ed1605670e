// Effects of commands on the state of a channel.
#include <algorithm>

#include "models/memory/banked_dram/channel.h"

namespace attnvp {

void DramChannel::issue(const Choice& c) {
  switch (c.command) {
    case DramCommand::kActivate:
      activate(c);
      break;
    case DramCommand::kPrecharge:
    case DramCommand::kPrechargeAll:
      precharge(c);
      break;
    case DramCommand::kRefresh:
    case DramCommand::kRefreshBank:
      refresh(c);
      break;
    default:
      issue_column(c);
      return;
  }
  row_bus_.take(c.at, c.end);
  if (!config_.row_bus) column_bus_ = row_bus_;
}

void DramChannel::count_activate(RankLimits& unit, Tick at) {
  unit.window[unit.oldest] = at;
  unit.oldest = (unit.oldest + 1) % 4;
  raise(unit.ready[kActivates], unit.window[unit.oldest] + d_.act_window);
}

void DramChannel::activate(const Choice& c) {
  Bank& bank = banks_[c.bank];
  RankLimits& unit = units_[c.unit];
  RequestNode& node = nodes_[bank.wanted];
  bank.open = true;
  bank.row = node.request.place.row;
  raise(bank.ready[kReads], c.at + d_.act_read);
  raise(bank.ready[kWrites], c.at + d_.act_write);
  raise(bank.ready[kPrecharges], c.at + d_.act_pre);
  raise(bank.ready[kActivates], c.at + d_.act_act);
  raise(groups_[bank.group][kActivates], c.at + d_.act_group);
  raise(unit.ready[kActivates], c.at + d_.act_rank);
  raise(unit.refresh_bank, c.at + d_.act_rank + d_.act_ref);
  count_activate(unit, c.at);
  if (unit.open++ == 0) unit.opened = c.at;
  ++counts_.activates;
  if (!node.opened) {
    ++counts_.misses;
    node.opened = true;
  }
  pick(c.bank);
  listener_.issued(
      {c.command, c.unit, bank.group % config_.bank_groups, c.bank % config_.banks_of_unit(), bank.row, c.at});
}

void DramChannel::precharge(const Choice& c) {
  RankLimits& unit = units_[c.unit];
  const std::uint32_t banks = config_.banks_of_unit();
  const bool all = c.command == DramCommand::kPrechargeAll;
  const std::uint32_t first = all ? c.unit * banks : c.bank, end = all ? first + banks : first + 1;
  for (std::uint32_t i = first; i < end; ++i) {
    Bank& bank = banks_[i];
    if (bank.open) {
      bank.open = false;
      close(unit, c.at);
    }
    raise(bank.ready[kActivates], c.at + (all ? d_.preall_act : d_.pre_act));
  }
  raise(unit.ready[kPrecharges], c.at + d_.pre_rank);
  ++counts_.precharges;
  Bank& bank = banks_[c.bank];
  if (!all && bank.wanted != kNone && !bank.blocked && !nodes_[bank.wanted].opened) {
    ++counts_.conflicts;
    nodes_[bank.wanted].opened = true;
  }
  for (std::uint32_t i = first; i < end; ++i) pick(i);
  listener_.issued({c.command, c.unit, bank.group % config_.bank_groups, c.bank % banks, bank.row, c.at});
}

// Stops commands for the banks of a refresh that has become due.
void DramChannel::begin_refresh(RankLimits& unit) {
  unit.refreshing = true;
  const auto index = static_cast<std::uint32_t>(&unit - units_.data());
  const std::uint32_t banks = config_.banks_of_unit(), first = index * banks;
  const bool one = config_.refresh == RefreshPolicy::kPerBank;
  for (std::uint32_t i = one ? unit.next_bank : 0; i < (one ? unit.next_bank + 1 : banks); ++i) {
    banks_[first + i].blocked = true;
    want(first + i, false);
  }
}

void DramChannel::refresh(const Choice& c) {
  RankLimits& unit = units_[c.unit];
  const std::uint32_t banks = config_.banks_of_unit(), first = c.unit * banks;
  unit.refreshing = false;
  if (c.command == DramCommand::kRefresh) {
    unit.due += config_.tREFI;
    ++counts_.refreshes;
    for (std::uint32_t i = first; i < first + banks; ++i) {
      banks_[i].blocked = false;
      raise(banks_[i].ready[kActivates], c.at + d_.ref_act);
      pick(i);
    }
  } else {
    unit.due += config_.tREFIpb;
    unit.next_bank = (unit.next_bank + 1) % banks;
    ++counts_.bank_refreshes;
    banks_[c.bank].blocked = false;
    raise(banks_[c.bank].ready[kActivates], c.at + d_.refpb_act);
    raise(unit.ready[kActivates], c.at + d_.refpb_act_other);
    raise(unit.refresh_bank, c.at + d_.refpb_refpb);
    count_activate(unit, c.at);  // counts as an activate
    pick(c.bank);
  }
  listener_.issued({c.command, c.unit, 0, c.bank % banks, 0, c.at});
}

// Skips refreshes of an idle channel, with all rows closed; only the last one affects the state.
void DramChannel::skip_refreshes(Tick until) {
  const bool one = config_.refresh == RefreshPolicy::kPerBank;
  const Tick interval = one ? config_.tREFIpb : config_.tREFI;
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    RankLimits& unit = units_[u];
    if (unit.due == kNever || unit.refreshing || until - unit.due <= 2 * interval) continue;
    if (unit.open > 0) {
      const Choice close = precharge_all(u);
      if (until - close.end <= 2 * interval) continue;
      issue(close);
    }
    const Tick n = (until - std::max(unit.due, now_)) / interval - 1;
    unit.due += n * interval;
    (one ? counts_.bank_refreshes : counts_.refreshes) += static_cast<std::uint64_t>(n);
    if (one) unit.next_bank = static_cast<std::uint32_t>((unit.next_bank + n) % config_.banks_of_unit());
  }
}

void DramChannel::column_limits(const Bank& bank, bool read, Tick last) {
  Ready& unit = units_[bank.unit].ready;
  Ready& group = groups_[bank.group];
  if (read) {
    raise(group[kReads], last + d_.read_read_group);
    raise(unit[kReads], last + d_.column_rank);
    raise(unit[kWrites], last + d_.read_write);
  } else {
    raise(group[kWrites], last + d_.write_write_group);
    raise(unit[kWrites], last + d_.column_rank);
    raise(group[kReads], last + d_.write_read_group);
    raise(unit[kReads], last + d_.write_read_rank);
  }
  // Ranks that share the data bus.
  const std::uint32_t first = bank.unit / config_.ranks * config_.ranks;
  for (std::uint32_t other = first; other < first + config_.ranks; ++other) {
    if (other == bank.unit) continue;
    raise(units_[other].ready[kReads], last + (read ? d_.column_other : d_.write_read_other));
    raise(units_[other].ready[kWrites], last + (read ? d_.read_write_other : d_.column_other));
  }
}

// Number of bursts of the request that are issued before a command of another bank may start.
std::uint32_t DramChannel::run_length(const Choice& c, const RequestNode& node, Tick step) const {
  // Pseudo-channels alternate on the command bus.
  if (node.request.bursts == 1 || config_.pseudo_channels > 1) return 1;
  Tick until = kNever;
  for (const RankLimits& unit : units_) {
    if (unit.refreshing) return 1;
    until = std::min(until, unit.due);
  }
  for (std::size_t word = 0; word < active_.size(); ++word) {
    for (std::uint64_t left = active_[word]; left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(64 * word + static_cast<unsigned>(__builtin_ctzll(left)));
      if (i == c.bank) continue;
      const Want& want = wants_[i];
      // Younger reads and writes come later, unless bank groups can alternate.
      if (want.kind >= kReads && want.id > c.id && step <= d_.column_rank) continue;
      until = std::min(until, std::max(start_of(want), c.at + 1));
    }
  }
  if (until == kNever) return node.request.bursts;
  return static_cast<std::uint32_t>(std::clamp<Tick>((until - c.at - 1) / step + 1, 1, node.request.bursts));
}

void DramChannel::issue_column(const Choice& c) {
  Bank& bank = banks_[c.bank];
  RankLimits& unit = units_[c.unit];
  const std::int32_t index = bank.wanted;
  RequestNode& node = nodes_[index];
  const bool read = is_read(c.command);
  const Tick step = std::max(read ? d_.read_read_group : d_.write_write_group, d_.column_rank);
  std::uint32_t count = run_length(c, node, step);
  DramCommand command = c.command;
  const bool closes = command == DramCommand::kReadPrecharge || command == DramCommand::kWritePrecharge;
  // Only a request's last burst closes its row.
  if (closes && node.request.bursts > 1) {
    count = std::min(count, node.request.bursts - 1);
    command = read ? DramCommand::kRead : DramCommand::kWrite;
  }
  const Tick last = c.at + Tick{count - 1} * step;
  if (!node.opened) {
    ++counts_.hits;
    node.opened = true;
  }
  (read ? counts_.read_bursts : counts_.write_bursts) += count;
  const DramCommandClass direction = read ? kReads : kWrites;
  if (unit.last != kKinds && unit.last != direction) ++counts_.turnarounds;
  unit.last = direction;

  column_limits(bank, read, last);
  raise(bank.ready[kPrecharges], last + (read ? d_.read_pre : d_.write_pre));
  if (!read) raise(bank.read_precharge, last + d_.write_read_pre);
  if (closes_bank(command)) {
    raise(bank.ready[kActivates], last + (read ? d_.read_act : d_.write_act));
    bank.open = false;
    close(unit, last);
  }
  column_bus_ = {c.at, last + d_.cas, step, d_.cas, c.at};
  if (!config_.row_bus) row_bus_ = column_bus_;

  listener_.issued({command, c.unit, bank.group % config_.bank_groups, c.bank % config_.banks_of_unit(), bank.row, c.at,
                    count, static_cast<std::uint32_t>(step)});
  node.request.bursts -= count;
  if (node.request.bursts == 0) {
    const std::uint64_t tag = node.request.tag;
    remove(bank, index);
    pick(c.bank);
    if (split_) switch_direction();
    listener_.done(tag, last + (read ? d_.read_end : d_.write_end));
    // A request that waits at the port enters immediately; the following one is accepted a clock later than usual.
    if (!input_.empty() && input_.front().arrival <= c.at && port_free_ <= c.at && has_room()) accept(c.at, c.at + 2);
  } else {
    pick(c.bank);
  }
}

std::uint64_t DramChannel::open_clocks(Tick now) const {
  std::uint64_t clocks = counts_.open_clocks;
  for (const RankLimits& unit : units_) {
    if (unit.open > 0) clocks += static_cast<std::uint64_t>(std::max<Tick>(now - unit.opened, 0));
  }
  return clocks;
}

void DramChannel::remove(Bank& bank, std::int32_t index) {
  RequestList& list = list_of(bank);
  std::int32_t before = kNone;
  for (std::int32_t i = list.head; i != index; i = nodes_[i].next) before = i;
  (before == kNone ? list.head : nodes_[before].next) = nodes_[index].next;
  if (list.tail == index) list.tail = before;
  --list.count;
  --queued_;
  if (!nodes_[index].request.read) --writes_;
  nodes_[index].next = free_;
  free_ = index;
}

}  // namespace attnvp
