#include "rtl/vec/rtl_units.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace attnvp::rtl {

ClockedRtl::ClockedRtl(sc_core::sc_module_name name, Context& context, std::unique_ptr<RtlBlock> block,
                       sim::Event& progress)
    : Module(name, context), block_(std::move(block)), edge_(context.event_queue), progress_(progress) {
  for (const RtlBlock::Wire& wire : block_->wires()) {
    wires_.push_back(std::make_unique<Signal>(*this, wire.path, wire.bits));
    wires_.back()->sparse();
  }
  show();
  clock_ = run_clock();
}

void ClockedRtl::wake() {
  if (running_) return;
  running_ = true;
  edge_.notify_at(ctx_.clock.after(1));
}

// One cycle after the other while the block is busy. While traced, the falling edge has its own time.
sim::Process ClockedRtl::run_clock() {
  for (;;) {
    co_await edge_;
    const bool traced = !wires_.empty() && wires_.front()->on();
    std::uint64_t low_fs = ctx_.clock.period_fs();
    at_edge(ctx_.clock.now());
    block_->rise();
    clocked_cycles += 1;
    if (traced) {
      show();
      const std::uint64_t high_fs = low_fs / 2;
      co_await edge_.at(ctx_.clock.now_fs() + high_fs);
      low_fs -= high_fs;
    }
    block_->fall();
    if (traced) show();
    running_ = busy();
    if (running_) edge_.notify_at(ctx_.clock.now_fs() + low_fs);
  }
}

void ClockedRtl::show() {
  block_->changes([this](std::size_t wire, std::uint64_t value) { wires_[wire]->set(value); });
}

RtlVecUnit::RtlVecUnit(sc_core::sc_module_name name, Context& context, std::uint64_t elements_per_cycle,
                       sim::Event& progress)
    : ClockedRtl(name, context, VecRtl::make(elements_per_cycle), progress),
      rtl_(static_cast<VecRtl&>(block())),
      word_(rtl_.word()) {}

void RtlVecUnit::feed(std::shared_ptr<VecRowWork> work, std::uint64_t row) {
  requests_.push_back({std::move(work), row, ctx_.clock.now()});
  wake();
}

bool RtlVecUnit::withdraw(const VecRowWork& work) {
  const auto of_work = [&work](const VecRequest& request) { return request.work.get() == &work; };
  const auto first = std::remove_if(requests_.begin(), requests_.end(), of_work);
  const bool any = first != requests_.end();
  requests_.erase(first, requests_.end());
  return any;
}

bool RtlVecUnit::can_go_on() const {
  return !feeding_ && !requests_.empty() && requests_.front().work->ready(requests_.front().row, ctx_.clock.now() + 1);
}

void RtlVecUnit::at_edge(std::uint64_t now) {
  begin_row(now);
  collect(rtl_.settle(feeding_ ? &command_ : nullptr, feeding_ ? word_.data() : nullptr), now);
}

void RtlVecUnit::begin_row(std::uint64_t now) {
  if (feeding_ || requests_.empty() || requests_.front().cycle == now) return;
  if (!requests_.front().work->ready(requests_.front().row, now)) return;
  fed_ = std::move(requests_.front());
  requests_.pop_front();
  feeding_ = true;
  feeds_ = {kFeedWhole};
  if (fed_.work->fed(fed_.row) > rtl_.buffer()) {
    feeds_ = {kFeedMax, kFeedSum, kFeedOut};
    if ((fed_.work->flags & kOnline) != 0) feeds_ = {kFeedMax, kFeedOut};  // the output needs no sum
  }
  feed_ = 0;
  next_feed();
}

void RtlVecUnit::next_feed() {
  const VecRowWork& work = *fed_.work;
  command_ = {static_cast<std::uint8_t>(work.flags | feeds_[feed_]), static_cast<std::uint32_t>(work.fed(fed_.row)), 0};
  if (work.max_in.first != nullptr) {
    std::memcpy(&command_.running_max, work.max_in.at(fed_.row), sizeof command_.running_max);
  }
  fed_elements_ = 0;
  const bool last = feed_ + 1 == feeds_.size();
  if (feeds_[feed_] != kFeedMax) readings_.push_back({fed_.work, last});
  if (last) results_.push_back({fed_.work, fed_.row, 0});
  next_word();
}

void RtlVecUnit::next_word() {
  const VecRowWork& work = *fed_.work;
  if (work.in.first == nullptr) return;
  const std::uint64_t count = std::min<std::uint64_t>(word_.size(), work.fed(fed_.row) - fed_elements_);
  const auto* const row = reinterpret_cast<const arith::Half*>(work.in.at(fed_.row));
  if (work.seen.empty()) {
    std::copy_n(row + fed_elements_, count, word_.data());
    return;
  }
  const RowMask::VisibleColumns& seen = work.seen[fed_.row];
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = fed_elements_ + i;
    word_[i] = seen.count() == 0 ? static_cast<arith::Half>(arith::kHalfInfinity | arith::kHalfSign) : row[seen.at(at)];
  }
}

void RtlVecUnit::collect(const VecRtl::VecEdge& edge, std::uint64_t now) {
  if (edge.row_taken) {
    if (readings_.front().completes) {
      ++readings_.front().work->taken;
      notify_progress();
    }
    readings_.pop_front();
  }
  if (edge.gives_beat) {
    RowResult& result = results_.front();
    VecRowWork& work = *result.work;
    const std::uint64_t count = std::min<std::uint64_t>(rtl_.lanes(), work.fed(result.row) - result.elements);
    if (!work.out.empty()) rtl_.beat(work.out.data() + result.row * work.columns + result.elements, count);
    result.elements += count;
    if (edge.last_beat) {
      if (!work.of_row.empty()) work.of_row[result.row] = {rtl_.row_max(), rtl_.row_sum(), rtl_.row_scale()};
      work.finish(work.finished + 1, now);
      results_.pop_front();
      notify_progress();
    }
  }
  if (!edge.takes_word) return;
  if (!edge.takes_command) {
    fed_elements_ += word_.size();
    next_word();
  } else if (++feed_ < feeds_.size()) {
    next_feed();
  } else {
    ++fed_.work->loaded;
    feeding_ = false;
    fed_.work.reset();
    notify_progress();
  }
}

namespace {

constexpr std::uint64_t kFloatBytes = sizeof(std::uint32_t);

// Reads `count` numbers of the row from `element` on.
void read(const LinearWork::LinearOperand& operand, std::uint64_t row, std::uint64_t element, std::uint64_t count,
          std::uint32_t* to) {
  if (operand.rows.first == nullptr) {
    std::fill_n(to, count, operand.otherwise);
  } else {
    std::memcpy(to, operand.rows.at(row) + element * kFloatBytes, count * kFloatBytes);
  }
}

std::uint32_t of_row(const LinearWork::LinearOperand& operand, std::uint64_t row) {
  std::uint32_t value = 0;
  read(operand, row, 0, 1, &value);
  return value;
}

}  // namespace

RtlLinearUnit::RtlLinearUnit(sc_core::sc_module_name name, Context& context, sim::Event& progress)
    : ClockedRtl(name, context, LinearRtl::make(), progress),
      rtl_(static_cast<LinearRtl&>(block())),
      x_(rtl_.lanes()),
      z_(rtl_.lanes()),
      a_(rtl_.lanes()),
      b_(rtl_.lanes()) {}

void RtlLinearUnit::feed(const std::shared_ptr<LinearWork>& work, std::uint64_t rows) {
  if (work->fed == 0) requests_.push_back({work, ctx_.clock.now()});
  work->fed = rows;
  wake();
}

bool RtlLinearUnit::withdraw(const LinearWork& work) {
  const auto first = std::remove_if(requests_.begin(), requests_.end(),
                                    [&work](const LinearRequest& request) { return request.work.get() == &work; });
  if (first == requests_.end()) return false;
  first->work->fed = 0;
  requests_.erase(first, requests_.end());
  return true;
}

// True if the row was fed and its scale is available.
bool RtlLinearUnit::is_ready(const LinearWork& work, std::uint64_t row, std::uint64_t now) {
  return row < work.fed && work.ready(row, now) && (work.scales == nullptr || work.scales->finished_before(now) > row);
}

std::uint64_t RtlLinearUnit::beat_elements() const {
  return std::min<std::uint64_t>(x_.size(), command_.length - fed_elements_);
}

bool RtlLinearUnit::has_beat(std::uint64_t now) const {
  return is_ready(*fed_, (fed_elements_ + beat_elements() - 1) / fed_->columns, now);
}

bool RtlLinearUnit::can_go_on() const {
  const std::uint64_t next = ctx_.clock.now() + 1;
  if (feeding_) return offered_ || has_beat(next);
  return !requests_.empty() && is_ready(*requests_.front().work, 0, next);
}

void RtlLinearUnit::at_edge(std::uint64_t now) {
  if (!feeding_ && !requests_.empty() && requests_.front().cycle != now && is_ready(*requests_.front().work, 0, now)) {
    fed_ = std::move(requests_.front().work);
    requests_.pop_front();
    feeding_ = true;
    fed_elements_ = 0;
    command_ = {fed_->divide, static_cast<std::uint32_t>(fed_->rows * fed_->columns)};
    results_.push_back({fed_, 0});
  }
  if (feeding_ && !offered_ && has_beat(now)) next_beat();
  const std::uint32_t* const x = offered_ ? x_.data() : nullptr;
  collect(rtl_.settle(feeding_ ? &command_ : nullptr, x, z_.data(), a_.data(), b_.data()), now);
}

void RtlLinearUnit::next_beat() {
  const LinearWork& work = *fed_;
  const std::uint64_t count = beat_elements();
  offered_ = true;
  for (std::uint64_t i = 0; i < count;) {
    const std::uint64_t row = (fed_elements_ + i) / work.columns, element = (fed_elements_ + i) % work.columns;
    const std::uint64_t run = std::min(count - i, work.columns - element);
    const bool scaled = work.scales != nullptr && !work.scales->of_row.empty();
    read(work.x, row, element, run, &x_[i]);
    read(work.z, row, element, run, &z_[i]);
    std::fill_n(&a_[i], run, scaled ? work.scales->of_row[row].sum : of_row(work.a, row));
    std::fill_n(&b_[i], run, of_row(work.b, row));
    i += run;
  }
}

void RtlLinearUnit::collect(const LinearRtl::LinearEdge& edge, std::uint64_t now) {
  if (edge.gives_beat) {
    --beats_inside_;
    LinearResult& result = results_.front();
    LinearWork& work = *result.work;
    const std::uint64_t count = std::min<std::uint64_t>(rtl_.lanes(), work.rows * work.columns - result.elements);
    if (!work.out.empty()) rtl_.beat(work.out.data() + result.elements, count);
    result.elements += count;
    const std::uint64_t finished = result.elements / work.columns;
    if (finished > work.finished) work.finish(finished, now);
    if (edge.last_beat) results_.pop_front();
    notify_progress();
  }
  if (!edge.takes_beat) return;
  ++beats_inside_;
  offered_ = false;
  fed_elements_ += beat_elements();
  fed_->loaded = fed_->taken = fed_elements_ / fed_->columns;
  if (!edge.takes_command) return;
  feeding_ = false;
  fed_.reset();
  notify_progress();
}

}  // namespace attnvp::rtl
