#include "platform/schedule/check/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "firmware/hal/registers.h"
#include "firmware/runtime/dataflow.h"
#include "models/engine/row_mask.h"
#include "models/interconnect/bus/stream.h"
#include "models/sim/trace/operation.h"
#include "platform/schedule/counter.h"

namespace attnvp::schedule::check {

namespace {

AddressMap memories_of(const MachineConfig& m) {
  AddressMap map;
  for (std::uint32_t c = 0; c < m.clusters; ++c) {
    map.add({hal::l1_base(c), m.with_cluster(c).l1.size_bytes, fmt::format("cluster{}.l1", c), true});
  }
  map.add({hal::kDramBase, m.dram.size_bytes, "dram", true});
  if (m.has_l2()) map.add({hal::kL2Base, m.l2.size_bytes, "l2", true});
  return map;
}

// True for operands whose row i affects only row i of the result.
bool is_by_row(const hal::Descriptor& d, const hal::OperandInfo& o) {
  if (o.rows != hal::OperandExtent::kRows) return false;
  const hal::OperationInfo& info = *hal::find(d.opcode);
  return info.unit == Unit::kVec || (info.family == hal::Family::kProduct && o.role == hal::OperandRole::kRead);
}

bool same_bytes(const Region& a, const Region& b) {
  return a.address == b.address && a.rows == b.rows && a.row_bytes == b.row_bytes && a.row_stride == b.row_stride;
}

// Runs of columns that at least one row sees under a block map or pattern.
std::vector<RowMask::VisibleRun> mapped_runs(const hal::Descriptor& d, std::uint32_t columns) {
  const RowMask mask(d, columns);
  std::vector<char> seen(columns, 0);
  for (std::uint32_t row = 0; row < d.rows; ++row) {
    for (const RowMask::VisibleRun& r : mask.of(row).runs)
      std::fill(seen.begin() + static_cast<std::ptrdiff_t>(r.first), seen.begin() + static_cast<std::ptrdiff_t>(r.end),
                1);
  }
  std::vector<RowMask::VisibleRun> runs;
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
    for (const RowMask::VisibleRun& r : mapped_runs(d, columns)) {
      add(rule.key + static_cast<std::uint32_t>(r.first), rule.key + static_cast<std::uint32_t>(r.end));
    }
    return parts;
  }
  add(0, v.head);
  add(v.first, v.end);
  return parts;
}

}  // namespace

Accesses::Accesses(const MachineConfig& m) : machine_(m), memories_(memories_of(m)) {
  for (std::uint32_t c = 0; c < m.clusters; ++c) {
    const MachineConfig own = m.with_cluster(c);
    clusters_.push_back({own.l1.size_bytes, mac_planners(own), vec_planners(own)});
  }
}

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
  const auto own = [&](int side) {
    return d.operand[side].address - hal::l1_base(cluster) < clusters_[cluster].l1_bytes;
  };
  step.copy_path = own(0) && !own(1) ? CopyPath::kOutOfL1 : CopyPath::kRetired;
  return {};
}

Refusal Accesses::of_engine(std::uint32_t cluster, const Queue& queue, const hal::Descriptor& d, TraceStep& step,
                            std::vector<Access>& accesses) {
  Plan plan;
  hal::Descriptor in_memory = d;  // the same events order data that bypass L1
  in_memory.flags &= static_cast<std::uint16_t>(~(hal::kForwarded | hal::kKept));
  ClusterUnits& units = clusters_[cluster];
  Refusal refusal = queue.unit == Unit::kMac ? units.mac[queue.index].plan(in_memory, plan)
                                             : units.vec[queue.index % units.vec.size()].plan(in_memory, plan);
  if (refusal.any()) return refusal;
  step.after_previous = plan.after_previous;
  const std::size_t first = accesses.size();
  for (const attnvp::Stream* stream : {&plan.fill, &plan.body, &plan.last, &plan.drain}) {
    for (int i = 0; i < stream->regions; ++i) {
      const Region& r = stream->region[static_cast<std::size_t>(i)];
      if (r.traffic_bytes == 0) continue;
      const FaultCode bad = check_region(r, hal::l1_base(cluster), units.l1_bytes);
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

namespace {
constexpr std::size_t kBetween = 1U << 14;  // steps or complaints between checks of memory use
}

TraceRecorder::TraceRecorder(Trace& trace, Accesses& accesses, std::uint32_t cluster, Levels levels)
    : trace_(trace), accesses_(accesses), cluster_(cluster), levels_(levels) {}

TraceStep TraceRecorder::processor_step(TraceStep::StepKind kind) const {
  TraceStep step;
  step.kind = kind;
  step.first_take = static_cast<std::uint32_t>(trace_.takes.size());
  step.first_give = static_cast<std::uint32_t>(trace_.gives.size());
  step.first_access = static_cast<std::uint32_t>(trace_.accesses.size());
  return step;
}

void TraceRecorder::add_processor_step(const TraceStep& step) {
  const LineId line = trace_.processor(cluster_);
  trace_.lines[line].steps.push_back(step);
  if (trace_.lines[line].steps.size() % kBetween == 0) trace_.update_memory();
}

void TraceRecorder::complain(Complaint::ComplaintKind kind, LineId line, std::uint64_t low, std::uint64_t high,
                             std::string text) {
  const auto step = static_cast<std::uint32_t>(trace_.lines[line].steps.size());
  trace_.complaints.push_back({kind, line, step, low, high, std::move(text)});
  if (trace_.complaints.size() % kBetween == 0) trace_.update_memory();
}

void TraceRecorder::add_events(LineId line, const hal::Descriptor& d, TraceStep& step) {
  const std::uint32_t events = trace_.machine().events.events;
  for (const hal::EventRef& w : d.wait) {
    for (std::uint32_t e = w.first(); w.tokens() > 0 && e < w.first() + w.span() && e < events; ++e) {
      trace_.take(line, step, trace_.event_of(cluster_, e), w.tokens());
    }
  }
  for (int i = 0; i < hal::kSignals; ++i) {
    const hal::EventRef& s = d.signal[i];
    if (s.tokens() == 0) continue;
    const bool remote = i + 1 == hal::kSignals && d.remote > 0 && d.remote <= trace_.machine().clusters;
    const std::uint32_t cluster = remote ? d.remote - 1 : cluster_;
    if (cluster != cluster_) trace_.bridges.emplace_back(cluster_, cluster);
    for (std::uint32_t e = s.first(); e < s.first() + s.span() && e < events; ++e) {
      trace_.give(line, step, trace_.event_of(cluster, e), s.tokens());
    }
  }
}

// Accesses to the cluster's own L1 must lie within one allocated buffer, if the buffers are known.
void TraceRecorder::check_space(LineId line, const TraceStep& step) {
  const std::vector<Buffer>& buffers = trace_.buffers[cluster_];
  const std::uint64_t base = hal::l1_base(cluster_);
  for (std::uint32_t i = step.first_access; i < step.first_access + step.accesses; ++i) {
    const Access& a = trace_.accesses[i];
    const std::uint64_t low = a.region.address, high = a.region.end();
    if (low < hal::kL1Base) continue;
    if (low - base >= hal::kL1Stride) {
      trace_.foreign_l1 = true;
      trace_.bridges.emplace_back(cluster_, static_cast<std::uint32_t>((low - hal::kL1Base) / hal::kL1Stride));
      continue;
    }
    if (!stacked_ || buffers.empty()) continue;
    const Buffer* in = nullptr;
    for (auto b = buffers.rbegin(); b != buffers.rend() && in == nullptr; ++b) in = b->low <= low ? &*b : nullptr;
    if (in != nullptr && high <= in->high) continue;
    const bool held = high <= base + held_;
    complain(Complaint::ComplaintKind::kOutside, line, low, high,
             held ? "crosses from one buffer into the next" : "lies beyond what firmware holds of L1");
  }
}

void TraceRecorder::command(const Queue& queue, const hal::Descriptor& d) {
  const LineId line = trace_.line_of(cluster_, queue);
  if (line == kNone) {
    return complain(Complaint::ComplaintKind::kRefused, trace_.processor(cluster_), 0, 0, "there is no such queue");
  }
  if (std::exchange(first_, false)) held_at_first_ = held_;
  TraceStep push = processor_step(TraceStep::StepKind::kPush);
  push.to = line;
  TraceStep step = processor_step(TraceStep::StepKind::kCommand);
  step.pushed = static_cast<std::uint32_t>(trace_.lines[trace_.processor(cluster_)].steps.size());
  const Refusal refusal = accesses_.of(cluster_, queue, d, step, trace_.accesses);
  if (refusal.any()) {
    trace_.accesses.resize(step.first_access);
    complain(Complaint::ComplaintKind::kRefused, line, refusal.address, refusal.address, refusal.detail);
  }
  step.accesses = static_cast<std::uint32_t>(trace_.accesses.size()) - step.first_access;
  add_events(line, d, step);
  check_space(line, step);
  trace_.lines[line].commands.push_back(static_cast<std::uint32_t>(trace_.descriptors.size()));
  trace_.descriptors.push_back(d);
  trace_.lines[line].steps.push_back(step);
  add_processor_step(push);
}

void TraceRecorder::replace(const Queue& queue, const hal::Descriptor& /*descriptor*/) {
  const LineId line = trace_.line_of(cluster_, queue);
  complain(Complaint::ComplaintKind::kHalted, line == kNone ? trace_.processor(cluster_) : line, 0, 0,
           "the processor halts an engine and gives it other commands, which the checker does not follow");
}

void TraceRecorder::give(std::uint32_t event, std::uint32_t tokens) {
  if (!has(event)) return;
  TraceStep step = processor_step(TraceStep::StepKind::kGive);
  trace_.give(trace_.processor(cluster_), step, trace_.event_of(cluster_, event), tokens);
  add_processor_step(step);
}

void TraceRecorder::take(std::uint32_t event, std::uint32_t tokens) {
  if (!has(event)) return;
  TraceStep step = processor_step(TraceStep::StepKind::kTake);
  trace_.take(trace_.processor(cluster_), step, trace_.event_of(cluster_, event), tokens);
  add_processor_step(step);
}

bool TraceRecorder::has(std::uint32_t event) {
  if (event < trace_.machine().events.events) return true;
  complain(Complaint::ComplaintKind::kRefused, trace_.processor(cluster_), 0, 0,
           fmt::format("the processor names event {}, which the event unit does not have", event));
  return false;
}

// A tag gives the purpose of the next allocation; a release without tag frees the newest buffer. A release with a tag
// makes addresses unknown.
void TraceRecorder::allocated(std::uint64_t bytes) {
  std::vector<Buffer>& buffers = trace_.buffers[cluster_];
  const std::uint64_t base = hal::l1_base(cluster_), before = held_;
  held_ = bytes;
  if (bytes < before && tag_ != static_cast<std::uint32_t>(firmware::L1Region::kOther)) stacked_ = false;
  if (!stacked_) return;
  if (bytes > before) {
    buffers.push_back({base + before, base + bytes, tag_});
    trace_.tags.push_back(buffers.back());
  } else if (bytes < before) {
    while (!buffers.empty() && buffers.back().high > base + bytes) {
      buffers.back().high = base + bytes;
      if (buffers.back().low >= buffers.back().high)
        buffers.pop_back();
      else
        break;
    }
    TraceStep step = processor_step(TraceStep::StepKind::kSpace);
    step.low = base + bytes;
    step.high = base + before;
    add_processor_step(step);
  }
}

std::uint32_t TraceRecorder::level(const Queue& queue) {
  const LineId line = trace_.line_of(cluster_, queue);
  asked_ = true;
  if (line == kNone) return 0;
  if (levels_ == Levels::kFull) return trace_.lines[line].depth;
  if (progress_ == nullptr) progress_ = std::make_unique<Progress>(trace_, Progress::Queues::kAsDeep);
  progress_->wake(trace_.processor(cluster_));
  progress_->run();
  progress_->begun.clear();
  // The commands of other clusters are unknown here; after a wait for them, queues are reported as full.
  const LineId processor = trace_.processor(cluster_);
  const std::uint32_t at = progress_->taken(processor);
  const std::vector<TraceStep>& steps = trace_.lines[processor].steps;
  if (at < steps.size() && steps[at].kind == TraceStep::StepKind::kTake) return trace_.lines[line].depth;
  return progress_->level(line);
}

void TraceRecorder::end() { add_processor_step(processor_step(TraceStep::StepKind::kEnd)); }

}  // namespace attnvp::schedule::check
