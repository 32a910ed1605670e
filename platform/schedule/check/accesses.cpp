#include "platform/schedule/check/accesses.h"

#include <fmt/format.h>

#include <algorithm>

#include "firmware/hal/registers.h"
#include "models/engine/row_mask.h"
#include "models/interconnect/bus/stream.h"
#include "models/sim/trace/operation.h"
#include "platform/schedule/planners.h"

namespace attnvp::schedule::check {

namespace {

AddressMap memories_of(const MachineConfig& m) {
  AddressMap map;
  for (std::uint32_t c = 0; c < m.clusters; ++c) {
    map.add({hal::l1_base(c), m.l1.size_bytes, fmt::format("cluster{}.l1", c), true});
  }
  map.add({hal::kDramBase, m.dram.size_bytes, "dram", true});
  if (m.has_l2()) map.add({hal::kL2Base, m.l2.size_bytes, "l2", true});
  return map;
}

// True for operands whose row i affects only row i of the result.
bool is_by_row(const hal::Descriptor& d, const hal::OperandInfo& o) {
  if (o.rows != hal::Extent::kRows) return false;
  const hal::OperationInfo& info = *hal::find(d.opcode);
  return info.unit == Unit::kVec || (info.family == hal::Family::kProduct && o.role == hal::Role::kRead);
}

bool same_bytes(const Region& a, const Region& b) {
  return a.address == b.address && a.rows == b.rows && a.row_bytes == b.row_bytes && a.row_stride == b.row_stride;
}

// Runs of columns that at least one row sees under a block map or pattern.
std::vector<RowMask::Run> mapped_runs(const hal::Descriptor& d, std::uint32_t columns) {
  const RowMask mask(d, columns);
  std::vector<char> seen(columns, 0);
  for (std::uint32_t row = 0; row < d.rows; ++row) {
    for (const RowMask::Run& r : mask.of(row).runs)
      std::fill(seen.begin() + static_cast<std::ptrdiff_t>(r.first), seen.begin() + static_cast<std::ptrdiff_t>(r.end),
                1);
  }
  std::vector<RowMask::Run> runs;
  for (std::uint64_t j = 0; j < columns; ++j) {
    if (seen[j] == 0) continue;
    if (!runs.empty() && runs.back().end == j) {
      ++runs.back().end;
    } else {
      runs.push_back({j, j + 1});
    }
  }
  return runs;
}

// A masked softmax reads the visible columns of its rows: at most two runs, except with a block map or pattern.
std::vector<Access> visible(const hal::Descriptor& d, const Access& all) {
  const hal::RuleTail& rule = d.tail.rule;
  const std::uint32_t columns = d.operand[0].columns, bytes = hal::element_bytes(d.type[0]);
  const hal::Visible v = hal::visible_rows(rule.mask, rule.row, d.rows, rule.key + columns);
  std::vector<Access> parts;
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    from = std::max(from, rule.key) - rule.key;
    to = std::max(to, rule.key) - rule.key;
    if (from >= to) return;
    parts.push_back(all);
    parts.back().region.address += std::uint64_t{from} * bytes;
    parts.back().region.row_bytes = std::uint64_t{to - from} * bytes;
  };
  if (RowMask(d, columns).by_run()) {
    for (const RowMask::Run& r : mapped_runs(d, columns)) {
      add(rule.key + static_cast<std::uint32_t>(r.first), rule.key + static_cast<std::uint32_t>(r.end));
    }
    return parts;
  }
  add(0, v.head);
  add(v.first, v.end);
  return parts;
}

}  // namespace

Accesses::Accesses(const MachineConfig& m)
    : machine_(m), memories_(memories_of(m)), mac_(mac_planners(m, m.clusters)), vec_(vec_planners(m)) {}

Refusal Accesses::check_events(const hal::Descriptor& d) const {
  for (const auto& refs : {d.wait, d.signal}) {
    for (int i = 0; i < hal::kWaits; ++i) {
      if (refs[i].tokens() == 0 || refs[i].first() + refs[i].span() <= machine_.events.events) continue;
      return {FaultCode::kBadEvent, 0, "the descriptor names an event that the event unit does not have"};
    }
  }
  if (d.remote > machine_.clusters) {
    return {FaultCode::kBadEvent, 0,
            fmt::format("the descriptor signals cluster {}, which there is not", d.remote - 1)};
  }
  return {};
}

Refusal Accesses::of(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& d, TraceStep& step,
                     std::vector<Access>& accesses) {
  Refusal refusal = check_header(d);
  if (!refusal.any()) refusal = check_events(d);
  if (refusal.any()) return refusal;
  const bool dma = queue.unit == Unit::kDma;
  if (d.opcode == hal::Opcode::kNop) {
    step.after_previous = step.holds_next = dma;  // processed by the channel's front end
    return {};
  }
  return dma ? of_copy(cluster, d, step, accesses) : of_engine(cluster, queue, d, step, accesses);
}

Refusal Accesses::of_copy(std::uint32_t cluster, const hal::Descriptor& d, TraceStep& step,
                          std::vector<Access>& accesses) const {
  if (Refusal other = check_opcode(d, Unit::kDma); other.any()) return other;
  const Refusal refusal = check_copy(d, memories_, hal::l1_base(cluster));
  if (refusal.any()) return refusal;
  for (int side = 0; side < 2; ++side) {
    for (std::uint32_t plane = 0; plane < d.tail.copy.planes; ++plane) {
      const std::uint64_t at = d.operand[side].address + std::uint64_t{plane} * d.tail.copy.plane_stride[side];
      accesses.push_back({{at, d.rows, d.row_bytes(side), d.operand[side].row_stride}, side == 1});
    }
  }
  const auto own = [&](int side) { return d.operand[side].address - hal::l1_base(cluster) < machine_.l1.size_bytes; };
  step.way = own(0) && !own(1) ? CopyPath::kOutOfL1 : CopyPath::kRetired;
  return {};
}

Refusal Accesses::of_engine(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& d, TraceStep& step,
                            std::vector<Access>& accesses) {
  Plan plan;
  hal::Descriptor in_memory = d;  // the same events order data that bypass L1
  in_memory.flags &= static_cast<std::uint16_t>(~(hal::kForwarded | hal::kKept));
  Refusal refusal = queue.unit == Unit::kMac
                        ? mac_[std::size_t{cluster} * machine_.cores + queue.index].plan(in_memory, plan)
                        : vec_[queue.index % vec_.size()].plan(in_memory, plan);
  if (refusal.any()) return refusal;
  step.after_previous = plan.after_previous;
  const std::size_t first = accesses.size();
  for (const attnvp::Stream* stream : {&plan.fill, &plan.body, &plan.last, &plan.drain}) {
    for (int i = 0; i < stream->regions; ++i) {
      const Region& r = stream->region[static_cast<std::size_t>(i)];
      if (r.traffic_bytes == 0) continue;
      const FaultCode bad = check_region(r, hal::l1_base(cluster), machine_.l1.size_bytes);
      if (bad != FaultCode::kNone) {
        return {bad, r.address,
                fmt::format("L1 {} of {} rows of {} bytes, {} bytes apart", r.write ? "write" : "read", r.rows,
                            r.row_bytes, r.row_stride)};
      }
      const bool known = std::any_of(accesses.begin() + static_cast<std::ptrdiff_t>(first), accesses.end(),
                                     [&](const Access& a) { return a.write == r.write && same_bytes(a.region, r); });
      if (!known) accesses.push_back({r, r.write});
    }
  }
  const bool matmul = d.opcode == hal::Opcode::kMatmul;
  for (std::size_t k = first; k < accesses.size(); ++k) {
    Access& a = accesses[k];
    for (int i = 0; i < hal::kOperands; ++i) {
      if (d.type[i] == hal::ElementType::kNone || a.region.address != d.operand[i].address) continue;
      const hal::OperandInfo* const info = hal::operand_info(d, i);
      if (info == nullptr) continue;
      a.running = a.running || info->is_running;
      a.by_row = a.by_row || is_by_row(d, *info);
      if (matmul && i == 1 && !a.write)
        a.region.rows -= std::min<std::uint64_t>(d.tail.matmul.absent, a.region.rows - 1);
    }
  }
  if ((d.flags & hal::kMasked) == 0 || queue.unit != Unit::kVec) return {};
  const auto scores =
      std::find_if(accesses.begin() + static_cast<std::ptrdiff_t>(first), accesses.end(),
                   [&](const Access& a) { return !a.write && a.region.address == d.operand[0].address; });
  if (scores == accesses.end()) return {};
  const std::vector<Access> parts = visible(d, *scores);
  accesses.insert(accesses.erase(scores), parts.begin(), parts.end());
  return {};
}

}  // namespace attnvp::schedule::check
