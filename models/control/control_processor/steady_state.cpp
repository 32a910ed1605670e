#include "models/control/control_processor/steady_state.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "firmware/hal/registers.h"
#include "models/sim/descriptor_shape.h"

namespace attnvp {

namespace {

constexpr std::size_t kMostBytes = 8 << 20, kMostRecords = 1 << 17;  // that are kept
constexpr std::size_t kMostBoundaries = 2048;
constexpr std::uint64_t kMostSampled = 255, kUnmatched = 64;  // boundaries without a period, before fewer are taken

enum AccessKind : std::uint8_t {
  kOther,       // ends a period
  kCommand,     // a write that has its effect here and now
  kDescriptor,  // a whole descriptor under construction
  kDoorbell,
  kAnswer,  // a read whose result follows from the state
};

struct AccessPlace {
  AccessKind kind = kOther;
  int rank = 0;             // of a doorbell's queue; the queue with the highest is watched
  std::uint64_t queue = 0;  // address
};

enum QueueRank { kDmaRank, kVecRank, kMacRank };

AccessPlace in_queue(bool write, std::uint64_t queue, std::uint64_t within, std::size_t bytes, int rank) {
  if (write && within == hal::kQueueDescriptor && bytes >= hal::kDescriptorBytes) return {kDescriptor, rank, queue};
  if (write && within == hal::kQueueDoorbell) return {kDoorbell, rank, queue};
  if (write) return {kCommand, rank, queue};
  return {within == hal::kQueueLevel || within == hal::kEngineState ? kAnswer : kOther, rank, queue};
}

AccessPlace place_of(const SteadyState::FirmwareAccess& access) {
  if (access.write && access.address - hal::kMailboxBase < hal::kMailboxSize) return {kCommand};
  const std::uint64_t control = hal::cluster_base(0), offset = access.address - control;
  if (offset >= hal::kClusterStride) return {};
  if (offset < hal::kDmaOffset) {
    const bool is_count = offset < hal::kEventsSize && offset % hal::kEventStride == hal::kEventCount;
    return {access.write ? kCommand : is_count ? kAnswer : kOther};
  }
  if (offset < hal::kDmaOffset + hal::kDmaSize) {
    const std::uint64_t within = (offset - hal::kDmaOffset) % hal::kQueueStride;
    return in_queue(access.write, access.address - within, within, access.bytes, kDmaRank);
  }
  if (offset >= hal::kCoreOffset) {
    const std::uint64_t within = (offset - hal::kCoreOffset) % hal::kEngineSize;
    const bool is_vec = (offset - hal::kCoreOffset) % hal::kCoreStride >= hal::kVecOffset;
    return in_queue(access.write, access.address - within, within, access.bytes, is_vec ? kVecRank : kMacRank);
  }
  return {access.write ? kCommand : kOther};
}

// Bytes from the first one of a copy's operand to its last.
std::uint64_t extent_of(const hal::Descriptor& d, int i) {
  const std::uint64_t planes = std::max(d.tail.copy.planes, 1U), rows = std::max(d.rows, 1U);
  return (planes - 1) * d.tail.copy.plane_stride[i] + (rows - 1) * d.operand[i].row_stride + d.row_bytes(i);
}

constexpr std::size_t address_offset(std::size_t operand) {
  return offsetof(hal::Descriptor, operand) + operand * sizeof(hal::Operand) + offsetof(hal::Operand, address);
}

}  // namespace

SteadyState::SteadyState(Context& context, const std::vector<Module*>& modules, std::uint64_t dram_bytes)
    : ctx_(context), modules_(modules), dram_end_(hal::kDramBase + dram_bytes) {}

void SteadyState::begin(std::uint64_t end_fs) {
  end_fs_ = end_fs;
  queue_ = 0;
  rank_ = -1;
  sampled_ = unmatched_ = 0;
  is_repeating_ = false;
  forget();
}

bool SteadyState::is_possible() {
  visitor_.begin(ctx_.clock.now(), ctx_.clock.now_fs());
  return visit();
}

void SteadyState::forget() {
  first_ = end_of_records();
  records_.clear();
  data_.clear();
  boundaries_.clear();
  latest_.clear();
  sums_.clear();
  is_cut_ = false;
}

bool SteadyState::visit() {
  if (!ctx_.event_queue.visit_state(visitor_)) return false;
  ctx_.signallers.visit_state(visitor_);
  return std::all_of(modules_.begin(), modules_.end(),
                     [this](Module* module) { return module->visit_state(visitor_); });
}

bool SteadyState::access(const FirmwareAccess& access, ProcessorBus& bus) {
  bool is_ok = true;
  if (is_repeating_) {
    if (repeats(access, is_ok)) return is_ok;
    leave(bus);
  }
  if (is_boundary(access) && find_period()) {
    is_repeating_ = true;
    if (repeats(access, is_ok)) return is_ok;
    leave(bus);
  }
  is_ok = bus.perform(access);
  record(access, is_ok);
  return is_ok;
}

void SteadyState::end(ProcessorBus& bus) {
  if (is_repeating_) leave(bus);
}

// Doorbells of the first queue of the highest rank. The more of them began no period, the fewer are taken.
bool SteadyState::is_boundary(const FirmwareAccess& access) {
  const AccessPlace place = place_of(access);
  if (place.kind != kDoorbell || place.rank < rank_) return false;
  if (place.rank > rank_) {
    rank_ = place.rank;
    queue_ = place.queue;
    boundaries_.clear();
    latest_.clear();
    sums_.clear();
  }
  return place.queue == queue_ && (shape_under_construction() & sampled_) == 0;
}

// Shape of the descriptor that was written last; 0: the last access was another one.
std::uint64_t SteadyState::shape_under_construction() const {
  if (records_.empty() || !records_.back().is_descriptor) return 0;
  const AccessRecord& last = records_.back();
  hal::Descriptor d{};
  std::memcpy(&d, &data_[last.data], std::min<std::size_t>(last.bytes, sizeof d));
  return ctx_.signallers.shape_of(d);
}

// Digests the state. True: it was the same before, at the start of `period_`.
bool SteadyState::find_period() {
  if (boundaries_.size() >= kMostBoundaries) {
    forget();
    return false;
  }
  if (++unmatched_ % kUnmatched == 0) sampled_ = std::min(2 * sampled_ + 1, kMostSampled);
  const std::uint64_t now_fs = ctx_.clock.now_fs();
  visitor_.begin(ctx_.clock.now(), now_fs);
  visitor_.value(now_fs % ctx_.clock.period_fs());
  visitor_.value(shape_under_construction());
  if (!visit()) return false;
  const std::vector<std::uint64_t>& sums = visitor_.sums();
  const std::size_t here = boundaries_.size();
  const auto [latest, is_new] = latest_.try_emplace(visitor_.digest(), here);
  const std::size_t former = is_new ? kNone : std::exchange(latest->second, here);
  boundaries_.push_back({end_of_records(), ctx_.cycles(), sums_.size(), sums.size(), former});
  sums_.insert(sums_.end(), sums.begin(), sums.end());
  for (std::size_t i = former; i != kNone; i = boundaries_[i].former) {
    if (begin_period(i)) return true;
  }
  return false;
}

// True: what lies between that boundary and the latest one is a period.
bool SteadyState::begin_period(std::size_t boundary) {
  const StateBoundary &before = boundaries_[boundary], &here = boundaries_.back();
  if (before.sum_count != here.sum_count || before.position == here.position || before.cycle == here.cycle) {
    return false;
  }
  period_.boundary = boundary;
  period_.first = before.position;
  period_.accesses = here.position - before.position;
  period_.cycles = here.cycle - before.cycle;
  const auto change = [&](std::size_t i) { return sums_[here.sums + i] - sums_[before.sums + i]; };
  for (const std::size_t i : visitor_.lasting()) {
    if (change(i) != 0 && change(i) != period_.cycles) return false;
  }
  period_.sums.resize(here.sum_count);
  for (std::size_t i = 0; i < here.sum_count; ++i) period_.sums[i] = change(i);

  period_.repeated = 0;
  period_.ranges = {};
  period_.last.resize(period_.accesses);
  for (std::uint64_t i = 0; i < period_.accesses; ++i) {
    const AccessRecord& r = at(period_.first + i);
    if (!r.moves) continue;
    period_.last[i] = r.moved;
    (r.operand == 0 ? period_.ranges[r.tag].is_read : period_.ranges[r.tag].is_written) = true;
  }
  return true;
}

// True if the access equals the one that follows in the period. A read is then answered.
bool SteadyState::repeats(const FirmwareAccess& access, bool& is_ok) {
  const AccessRecord made = record_of(access, place_of(access).kind == kDescriptor);
  std::uint64_t index = period_.repeated % period_.accesses;
  if (index == 0 && !is_in_time()) return false;
  if (!equals(made, access.data, at(period_.first + index))) {
    if (!follow_former(made, access.data)) return false;
    index = period_.repeated % period_.accesses;
  }
  AccessRecord r = at(period_.first + index);
  if (r.moves && !moves_along(index, made.moved)) return false;
  if (!access.write) std::memcpy(access.data, &data_[r.data], r.bytes);
  if (index == 0 && period_.repeated > 0 && records_.size() > kMostRecords) {
    is_cut_ = true;
    records_.resize(std::min<std::size_t>(records_.size(), period_.first + period_.accesses - first_));
  }
  r.moved = made.moved;
  records_.push_back(r);
  ++period_.repeated;
  is_ok = r.is_ok;
  return true;
}

// One more period, with one in reserve, must end in time.
bool SteadyState::is_in_time() {
  const __uint128_t periods = period_.repeated / period_.accesses + 2, step = ctx_.clock.period_fs();
  const __uint128_t end = ctx_.clock.now_fs() + (ctx_.skipped_cycles + periods * period_.cycles) * step;
  return end < end_fs_;
}

// The same effect on time: trace labels may differ, and the address in DRAM. `data`: of the access that was made.
bool SteadyState::equals(const AccessRecord& made, const void* data, const AccessRecord& r) const {
  if (made.write != r.write || made.address != r.address || made.bytes != r.bytes) return false;
  if (!made.write) return true;
  if (made.moves != r.moves || made.operand != r.operand || made.tag != r.tag) return false;
  if (r.moves && made.moved + r.extent > dram_end_) return false;
  const void* const before = &data_[r.data];
  if (data == before) return true;
  if (!r.is_descriptor) return std::memcmp(data, before, r.bytes) == 0;
  hal::Descriptor d{}, former{};
  std::memcpy(&d, data, std::min<std::size_t>(r.bytes, sizeof d));
  std::memcpy(&former, before, std::min<std::size_t>(r.bytes, sizeof former));
  if (r.moves) d.operand[r.operand].address = former.operand[r.operand].address;
  make_canonical(d);
  make_canonical(former);
  return std::memcmp(&d, &former, r.bytes) == 0;
}

// Ranges that are both read and written move as a whole, so that the same commands touch the same bytes.
bool SteadyState::moves_along(std::uint64_t index, std::uint64_t address) {
  AccessPeriod::MovedRange& range = period_.ranges[at(period_.first + index).tag];
  const std::uint64_t distance = address - std::exchange(period_.last[index], address);
  if (!range.is_read || !range.is_written) return true;
  if (!range.has_moved) range.distance = distance;
  range.has_moved = true;
  return distance == range.distance;
}

// Changes to an earlier boundary with the same state if the accesses so far, and the one just made, followed there.
bool SteadyState::follow_former(const AccessRecord& made, const void* data) {
  const std::uint64_t repeated = period_.repeated, here = boundaries_.back().position;
  if (repeated >= period_.accesses || boundaries_[period_.boundary].former == kNone) return false;
  AccessPeriod before = period_;
  for (std::size_t i = boundaries_[period_.boundary].former; i != kNone; i = boundaries_[i].former) {
    const std::uint64_t first = boundaries_[i].position;
    if (!equals(made, data, at(first + repeated))) continue;
    const auto same = [&](std::uint64_t k) { return equals(at(here + k), &data_[at(here + k).data], at(first + k)); };
    std::uint64_t k = 0;
    while (k < repeated && same(k)) ++k;
    if (k < repeated || !begin_period(i)) continue;
    const auto moves = [&](std::uint64_t n) { return !at(first + n).moves || moves_along(n, at(here + n).moved); };
    for (k = 0; k < repeated && moves(k);) ++k;
    if (k < repeated) continue;
    period_.repeated = repeated;
    return true;
  }
  period_ = std::move(before);
  return false;
}

SteadyState::AccessRecord SteadyState::record_of(const FirmwareAccess& access, bool is_descriptor) const {
  AccessRecord r;
  r.address = access.address;
  r.bytes = static_cast<std::uint32_t>(access.bytes);
  r.write = access.write;
  r.is_descriptor = is_descriptor;
  if (!is_descriptor) return r;
  hal::Descriptor d{};
  std::memcpy(&d, access.data, std::min(access.bytes, sizeof d));
  const int operand = dram_operand(d);
  if (operand < 0 || operand > 1 || d.opcode != hal::Opcode::kCopy) return r;
  r.moves = true;
  r.operand = static_cast<std::uint8_t>(operand);
  r.moved = d.operand[operand].address;
  r.tag = ctx_.signallers.tag(r.moved);
  r.extent = extent_of(d, operand);
  return r;
}

void SteadyState::record(const FirmwareAccess& access, bool is_ok) {
  const AccessPlace place = place_of(access);
  if (place.kind == kOther) return forget();
  if (data_.size() > kMostBytes || records_.size() > kMostRecords) forget();
  AccessRecord r = record_of(access, place.kind == kDescriptor);
  r.is_ok = is_ok;
  r.data = data_.size();
  const auto* const bytes = static_cast<const unsigned char*>(access.data);
  data_.insert(data_.end(), bytes, bytes + access.bytes);
  records_.push_back(r);
}

// Ends the repetition: advances by its whole periods and makes the accesses of the rest.
void SteadyState::leave(ProcessorBus& bus) {
  is_repeating_ = false;
  const std::uint64_t periods = period_.repeated / period_.accesses, rest = period_.repeated % period_.accesses;
  if (periods > 0) {
    advance(periods);
    sampled_ = unmatched_ = 0;
  }
  std::vector<unsigned char> data;
  for (std::uint64_t i = end_of_records() - rest; i < end_of_records(); ++i) {
    const AccessRecord& r = at(i);
    data.assign(data_.begin() + static_cast<std::ptrdiff_t>(r.data),
                data_.begin() + static_cast<std::ptrdiff_t>(r.data + r.bytes));
    if (r.moves) std::memcpy(data.data() + address_offset(r.operand), &r.moved, sizeof r.moved);
    const bool is_ok = bus.perform({r.write, r.address, data.data(), r.bytes});
    if (is_ok != r.is_ok || (!r.write && std::memcmp(data.data(), &data_[r.data], r.bytes) != 0)) {
      throw std::logic_error("a period of commands was answered differently than the one before");
    }
  }
  if (is_cut_) forget();
}

void SteadyState::advance(std::uint64_t periods) {
  visitor_.begin(ctx_.clock.now(), ctx_.clock.now_fs());
  visitor_.advance_sums(period_.sums.data(), periods);
  visit();
  for (Module* const module : modules_) module->recount();
  ctx_.skipped_cycles += periods * period_.cycles;
}

}  // namespace attnvp
