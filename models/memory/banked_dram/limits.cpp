#include "models/memory/banked_dram/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnvp {

namespace {

using C = DramCommand;
constexpr Tick kLongAgo = -(Tick{1} << 40);
constexpr C kReads[] = {C::kRead, C::kReadPrecharge};
constexpr C kWrites[] = {C::kWrite, C::kWritePrecharge};

const char* name_of(C command) {
  static const char* const kCommandNames[] = {"ACT", "RD", "RDA", "WR", "WRA", "PRE", "PREA", "REF", "REFpb"};
  return kCommandNames[static_cast<std::size_t>(command)];
}

}  // namespace

DramLimits::DramLimits(const BankedConfig& config) : config_(config), rules_(kCommands) {
  LastCommands never;
  never.fill(kLongAgo);
  banks_.assign(std::size_t{config.units()} * config.banks_of_unit(), never);
  groups_.assign(std::size_t{config.units()} * config.bank_groups, never);
  ranks_.assign(config.units(), never);
  activates_.assign(config.units(), {kLongAgo, kLongAgo, kLongAgo, kLongAgo});
  oldest_.assign(config.units(), 0);
  rows_.assign(banks_.size(), -1);
  rules_of(config);
}

Tick DramLimits::length_of(C command) const {
  if (command == C::kActivate) return config_.act_length;
  if (is_column(command)) return config_.cas_length;
  return command == C::kPrecharge || command == C::kPrechargeAll ? config_.pre_length : config_.ref_length;
}

void DramLimits::rules_of(const BankedConfig& c) {
  // Distances in clocks from the end of one command to the end of the other.
  const auto rule = [this](C before, C after, LimitScope scope, Tick clocks, const char* name) {
    rules_[static_cast<std::size_t>(after)].push_back(
        {before, after, scope, clocks + length_of(before) - length_of(after), name});
  };
  const Tick write_data = Tick{c.WL} + c.tDQSS + c.burst_clocks(), burst = c.burst_clocks();
  rule(C::kActivate, C::kActivate, LimitScope::kBank, c.tRC, "tRC");
  rule(C::kActivate, C::kActivate, LimitScope::kGroup, c.tRRD_L, "tRRD_L");
  rule(C::kActivate, C::kActivate, LimitScope::kRank, c.tRRD_S, "tRRD_S");
  rule(C::kActivate, C::kPrecharge, LimitScope::kBank, c.tRAS, "tRAS");
  rule(C::kActivate, C::kPrechargeAll, LimitScope::kRank, c.tRAS, "tRAS");
  rule(C::kPrecharge, C::kActivate, LimitScope::kBank, c.tRP, "tRP");
  rule(C::kPrechargeAll, C::kActivate, LimitScope::kRank, c.tRPab, "tRPab");
  rule(C::kPrecharge, C::kPrecharge, LimitScope::kRank, c.tPPD, "tPPD");
  rule(C::kRefresh, C::kActivate, LimitScope::kRank, c.tRFC, "tRFC");
  rule(C::kRefresh, C::kRefresh, LimitScope::kRank, c.tRFC, "tRFC");
  rule(C::kRefreshBank, C::kActivate, LimitScope::kBank, c.tRFCpb, "tRFCpb");
  rule(C::kRefreshBank, C::kActivate, LimitScope::kRank, c.tRREFD, "tRREFD");
  rule(C::kRefreshBank, C::kRefreshBank, LimitScope::kRank, c.tRFCpb, "tRFCpb");
  for (const C refresh : {C::kRefresh, C::kRefreshBank}) {
    const LimitScope scope = refresh == C::kRefresh ? LimitScope::kRank : LimitScope::kBank;
    rule(C::kPrecharge, refresh, scope, c.tRP, "tRP");
    rule(C::kPrechargeAll, refresh, LimitScope::kRank, c.tRPab, "tRPab");
    rule(C::kActivate, refresh, scope, c.tRC, "tRC");
    rule(C::kReadPrecharge, refresh, scope, c.tRTP + c.tRP, "tRTP + tRP");
    rule(C::kWritePrecharge, refresh, scope, write_data + c.tWR + c.tRP, "WL + BL + tWR + tRP");
  }
  for (const C read : kReads) {
    rule(C::kActivate, read, LimitScope::kBank, c.tRCDRD, "tRCD");
    rule(read, C::kPrecharge, LimitScope::kBank, c.tRTP, "tRTP");
    rule(read, C::kPrechargeAll, LimitScope::kRank, c.tRTP, "tRTP");
    for (const C other : kReads) {
      rule(read, other, LimitScope::kGroup, c.tCCD_L, "tCCD_L");
      rule(read, other, LimitScope::kRank, c.tCCD_S, "tCCD_S");
      rule(read, other, LimitScope::kOtherRank, burst + c.tRTRS, "BL + tRTRS");
    }
    for (const C write : kWrites) {
      rule(read, write, LimitScope::kRank, c.tRTW, "tRTW");
      rule(read, write, LimitScope::kOtherRank, Tick{c.RL} + burst + c.tRTRS - c.WL, "RL + BL + tRTRS - WL");
      rule(write, read, LimitScope::kGroup, write_data + c.tWTR_L, "WL + BL + tWTR_L");
      rule(write, read, LimitScope::kRank, write_data + c.tWTR_S, "WL + BL + tWTR_S");
      rule(write, read, LimitScope::kOtherRank, Tick{c.WL} + burst + c.tRTRS - c.RL, "WL + BL + tRTRS - RL");
    }
  }
  for (const C write : kWrites) {
    rule(C::kActivate, write, LimitScope::kBank, c.tRCDWR, "tRCD");
    rule(write, C::kPrecharge, LimitScope::kBank, write_data + c.tWR, "WL + BL + tWR");
    rule(write, C::kPrechargeAll, LimitScope::kRank, write_data + c.tWR, "WL + BL + tWR");
    for (const C other : kWrites) {
      rule(write, other, LimitScope::kGroup, c.write_to_write(), "tCCD_L_WR");
      rule(write, other, LimitScope::kRank, c.tCCD_S, "tCCD_S");
      rule(write, other, LimitScope::kOtherRank, burst + c.tRTRS, "BL + tRTRS");
    }
  }
  // Rows closed by a read or write with auto-precharge.
  rule(C::kReadPrecharge, C::kActivate, LimitScope::kBank, c.tRTP + c.tRP, "tRTP + tRP");
  rule(C::kWritePrecharge, C::kActivate, LimitScope::kBank, write_data + c.tWR + c.tRP, "WL + BL + tWR + tRP");
  rule(C::kWrite, C::kReadPrecharge, LimitScope::kBank, write_data + c.tWR - c.tRTP, "WL + BL + tWR - tRTP");
}

void DramLimits::issued(const DramCommandRun& run) {
  while (!waiting_.empty() && waiting_.top().at < run.at) {
    check(waiting_.top());
    waiting_.pop();
  }
  for (std::uint32_t i = 0; i < run.count; ++i) waiting_.push({run.at + Tick{i} * run.step, run});
}

void DramLimits::finish() {
  for (; !waiting_.empty(); waiting_.pop()) check(waiting_.top());
}

void DramLimits::violated(const CommandStart& e, const char* what, Tick distance, Tick wanted) {
  if (violations_++ > 0) return;
  first_ = fmt::format("{} of bank {} of rank {} at clock {}: {} is {} clocks, allowed are {} or more",
                       name_of(e.run.command), e.run.bank, e.run.unit, e.at, what, distance, wanted);
}

void DramLimits::check(const CommandStart& e) {
  ++commands_;
  const std::uint32_t bank = e.run.unit * config_.banks_of_unit() + e.run.bank;
  const std::uint32_t group = e.run.unit * config_.bank_groups + e.run.group;
  for (const Rule& rule : rules_[static_cast<std::size_t>(e.run.command)]) {
    const auto before = static_cast<std::size_t>(rule.before);
    const auto check_gap = [&](Tick last) {
      if (e.at - last < rule.clocks) violated(e, rule.name, e.at - last, rule.clocks);
    };
    if (rule.scope == LimitScope::kBank) check_gap(banks_[bank][before]);
    if (rule.scope == LimitScope::kGroup) check_gap(groups_[group][before]);
    if (rule.scope == LimitScope::kRank) check_gap(ranks_[e.run.unit][before]);
    if (rule.scope != LimitScope::kOtherRank) continue;
    const std::uint32_t first = e.run.unit / config_.ranks * config_.ranks;
    for (std::uint32_t rank = first; rank < first + config_.ranks; ++rank) {
      if (rank != e.run.unit) check_gap(ranks_[rank][before]);
    }
  }
  if (e.run.command == C::kActivate && e.at - activates_[e.run.unit][oldest_[e.run.unit]] < config_.tFAW) {
    violated(e, "tFAW", e.at - activates_[e.run.unit][oldest_[e.run.unit]], config_.tFAW);
  }
  check_bus(e, config_.row_bus && is_column(e.run.command) ? 1 : 0);
  check_state(e);
  remember(e);
}

void DramLimits::check_bus(const CommandStart& e, std::size_t bus) {
  if (e.at < bus_until_[bus]) violated(e, "the command bus", e.at - bus_until_[bus], 0);
  bus_until_[bus] = e.at + length_of(e.run.command);
}

// A row must be open for reads and writes, and closed for activates.
void DramLimits::check_state(const CommandStart& e) {
  const std::uint32_t banks = config_.banks_of_unit(), first = e.run.unit * banks;
  std::int64_t& row = rows_[first + e.run.bank];
  if (e.run.command == C::kActivate) {
    if (row >= 0) violated(e, "the open row", row, -1);
    row = e.run.row;
  } else if (is_column(e.run.command)) {
    if (row != e.run.row) violated(e, "the open row", row, e.run.row);
    if (closes_bank(e.run.command)) row = -1;
  } else if (e.run.command == C::kPrecharge) {
    row = -1;
  } else if (e.run.command == C::kPrechargeAll) {
    std::fill(rows_.begin() + first, rows_.begin() + first + banks, -1);
  } else if (e.run.command == C::kRefreshBank) {
    if (row >= 0) violated(e, "the open row", row, -1);
  } else {
    for (std::uint32_t i = 0; i < banks; ++i) {
      if (rows_[first + i] >= 0) violated(e, "an open row", rows_[first + i], -1);
    }
  }
}

void DramLimits::remember(const CommandStart& e) {
  const auto command = static_cast<std::size_t>(e.run.command);
  banks_[e.run.unit * config_.banks_of_unit() + e.run.bank][command] = e.at;
  groups_[e.run.unit * config_.bank_groups + e.run.group][command] = e.at;
  ranks_[e.run.unit][command] = e.at;
  if (e.run.command != C::kActivate) return;
  activates_[e.run.unit][oldest_[e.run.unit]] = e.at;
  oldest_[e.run.unit] = (oldest_[e.run.unit] + 1) % 4;
}

}  // namespace attnvp
