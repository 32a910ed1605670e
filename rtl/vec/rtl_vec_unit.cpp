#include "rtl/vec/rtl_vec_unit.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace attnvp::rtl {

RtlVecUnit::RtlVecUnit(sc_core::sc_module_name name, Context& context, std::uint64_t elements_per_cycle,
                       sim::Event& progress)
    : ClockedRtl(name, context, VecRtl::make(elements_per_cycle), progress),
      rtl_(static_cast<VecRtl&>(block())),
      word_(rtl_.word()) {}

void RtlVecUnit::feed(std::shared_ptr<VecWork> work, std::uint64_t row) {
  requests_.push_back({std::move(work), row, ctx_.clock.now()});
  wake();
}

bool RtlVecUnit::withdraw(const VecWork& work) {
  const auto of_work = [&work](const Request& request) { return request.work.get() == &work; };
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
  const VecWork& work = *fed_.work;
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
  const VecWork& work = *fed_.work;
  if (work.in.first == nullptr) return;
  const std::uint64_t count = std::min<std::uint64_t>(word_.size(), work.fed(fed_.row) - fed_elements_);
  const auto* const row = reinterpret_cast<const arith::Half*>(work.in.at(fed_.row));
  if (work.seen.empty()) {
    std::copy_n(row + fed_elements_, count, word_.data());
    return;
  }
  const RowMask::Columns& seen = work.seen[fed_.row];
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = fed_elements_ + i;
    word_[i] = seen.count() == 0 ? static_cast<arith::Half>(arith::kHalfInfinity | arith::kHalfSign) : row[seen.at(at)];
  }
}

void RtlVecUnit::collect(const VecRtl::Edge& edge, std::uint64_t now) {
  if (edge.row_taken) {
    if (readings_.front().completes) {
      ++readings_.front().work->taken;
      notify_progress();
    }
    readings_.pop_front();
  }
  if (edge.gives_beat) {
    RowResult& result = results_.front();
    VecWork& work = *result.work;
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

}  // namespace attnvp::rtl
