#include "explore/layers/fusion_choice.h"

#include <utility>

#include "platform/machine/error.h"
#include "platform/workload/layer/fusion.h"

namespace attnvp::explore {

const std::optional<FusionTimer::Timed>& FusionTimer::timed(const workload::Workload& operation) {
  const auto [known, is_new] = timed_.try_emplace(operation.identity());
  if (!is_new) return known->second;
  try {
    job::Schedule schedule =
        explore::schedule_of(machine_, operation, dataflow_, energy_, options_.tiling, options_.tuning);
    if (!runner_) runner_.emplace(machine_, energy_, false);
    const std::uint64_t cycles = runner_->run(operation, schedule, nullptr, {}).cycles;
    known->second = Timed{std::move(schedule), cycles};
  } catch (const job::RunError&) {
    runner_.reset();
  }
  return known->second;
}

void FusionTimer::choose(std::vector<workload::LayerGroup>& groups) {
  using Operations = std::vector<const workload::LayerOperation*>;
  // None if one of them has no space.
  const auto cycles_of = [this](const Operations& operations) {
    std::optional<std::uint64_t> cycles = 0;
    for (const workload::LayerOperation* o : operations) {
      const std::optional<Timed>& one = timed(o->workload);
      if (!one) return std::optional<std::uint64_t>();
      *cycles += one->cycles;
    }
    return cycles;
  };
  const workload::FusionChoice is_fast = [&](const Operations& apart, const Operations& together) {
    const std::optional<std::uint64_t> fused = cycles_of(together);
    if (!fused) return false;
    const std::optional<std::uint64_t> other = cycles_of(apart);
    return !other || *fused <= *other;
  };
  for (workload::LayerGroup& g : groups) g.operations = workload::fused(std::move(g.operations), is_fast);
}

const job::Schedule* FusionTimer::schedule_of(const std::string& identity) const {
  const auto known = timed_.find(identity);
  return known == timed_.end() || !known->second ? nullptr : &known->second->schedule;
}

}  // namespace attnvp::explore
