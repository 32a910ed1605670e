#include "rtl/vec/rtl_linear_unit.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace attnvp::rtl {

namespace {

constexpr std::uint64_t kFloatBytes = sizeof(std::uint32_t);

// Reads `count` numbers of the row from `element` on.
void read(const LinearWork::Operand& operand, std::uint64_t row, std::uint64_t element, std::uint64_t count,
          std::uint32_t* to) {
  if (operand.rows.first == nullptr) {
    std::fill_n(to, count, operand.otherwise);
  } else {
    std::memcpy(to, operand.rows.at(row) + element * kFloatBytes, count * kFloatBytes);
  }
}

std::uint32_t of_row(const LinearWork::Operand& operand, std::uint64_t row) {
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
                                    [&work](const Request& request) { return request.work.get() == &work; });
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

void RtlLinearUnit::collect(const LinearRtl::Edge& edge, std::uint64_t now) {
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
