#include "rtl/vec/rtl_linear_unit.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace attnvp::rtl {

namespace {

constexpr std::uint64_t kFloatBytes = sizeof(std::uint32_t);

// The row's `count` numbers from `element` on.
void read(const LinearWork::Operand& operand, std::uint64_t row, std::uint64_t element, std::uint64_t count,
          std::uint32_t* to) {
  if (operand.rows.first == nullptr) {
    std::fill_n(to, count, operand.otherwise);
  } else {
    std::memcpy(to, operand.rows.at(row) + element * kFloatBytes, count * kFloatBytes);
  }
}

// Whether the scale of a row was there before this cycle.
bool has_scale(const LinearWork& work, std::uint64_t row, std::uint64_t now) {
  if (work.scales == nullptr) return true;
  const VecWork& s = *work.scales;
  return s.finished > row + 1 || (s.finished == row + 1 && s.last_finished_at < now);
}

}  // namespace

RtlLinearUnit::RtlLinearUnit(sc_core::sc_module_name name, Context& context, std::uint64_t elements_per_cycle,
                             Step& progress)
    : ClockedRtl(name, context, LinearRtl::make(elements_per_cycle), progress),
      rtl_(static_cast<LinearRtl&>(block())),
      x_(rtl_.lanes()),
      z_(rtl_.lanes()) {}

void RtlLinearUnit::feed(std::shared_ptr<LinearWork> work, std::uint64_t row) {
  requests_.push_back({std::move(work), row, ctx_.clock.now()});
  wake();
}

void RtlLinearUnit::at_edge(std::uint64_t now) {
  begin_row(now);
  collect(rtl_.settle(feeding_ ? &command_ : nullptr, feeding_ ? x_.data() : nullptr, z_.data()));
}

void RtlLinearUnit::begin_row(std::uint64_t now) {
  if (feeding_ || requests_.empty() || requests_.front().cycle == now) return;
  if (!has_scale(*requests_.front().work, requests_.front().row, now)) return;
  fed_ = std::move(requests_.front());
  requests_.pop_front();
  feeding_ = true;
  const LinearWork& work = *fed_.work;
  command_ = {work.divide, static_cast<std::uint32_t>(work.columns)};
  read(work.a, fed_.row, 0, 1, &command_.a);
  read(work.b, fed_.row, 0, 1, &command_.b);
  if (work.scales != nullptr && !work.scales->of_row.empty()) command_.a = work.scales->of_row[fed_.row].sum;
  results_.push_back({fed_.work, fed_.row, 0});
  fed_elements_ = 0;
  next_beat();
}

void RtlLinearUnit::next_beat() {
  const LinearWork& work = *fed_.work;
  const std::uint64_t count = std::min<std::uint64_t>(x_.size(), work.columns - fed_elements_);
  read(work.x, fed_.row, fed_elements_, count, x_.data());
  read(work.z, fed_.row, fed_elements_, count, z_.data());
}

void RtlLinearUnit::collect(const LinearRtl::Edge& edge) {
  if (edge.gives_beat) {
    Result& result = results_.front();
    LinearWork& work = *result.work;
    const std::uint64_t count = std::min<std::uint64_t>(rtl_.lanes(), work.columns - result.elements);
    if (!work.out.empty()) rtl_.beat(work.out.data() + result.row * work.columns + result.elements, count);
    result.elements += count;
    if (edge.last_beat) {
      ++work.finished;
      results_.pop_front();
      notify_progress();
    }
  }
  if (!edge.takes_beat) return;
  if (!edge.takes_command) {
    fed_elements_ += x_.size();
    next_beat();
    return;
  }
  ++fed_.work->loaded;
  ++fed_.work->taken;
  feeding_ = false;
  fed_.work.reset();
  notify_progress();
}

}  // namespace attnvp::rtl
