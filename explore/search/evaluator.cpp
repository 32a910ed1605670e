#include "explore/search/evaluator.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/elaboration/platform.h"

namespace attnvp::explore {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;  // relative: energy is a sum of many products
}  // namespace

Cost cost_of(Objective objective, double cycles, double energy_pj, double clock_hz) {
  switch (objective) {
    case Objective::kEnergy:
      return {energy_pj, cycles};
    case Objective::kEdp:
      return {energy_pj * 1e-12 * cycles / clock_hz, cycles};
    case Objective::kCycles:
      break;
  }
  return {cycles, energy_pj};
}

Evaluator::Evaluator(const Problem& problem, const Space& space, Options options)
    : problem_(problem), space_(space), options_(std::move(options)), bounds_(space.size()) {
  const Bound bound(problem);
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const hal::Tiling t = space.tiling(i);
    if (!Space::fits_l0(problem.machine, t)) continue;
    bounds_[i] =
        cost_of(options_.objective, bound.cycles(t), bound.energy_pj(t) * (1 - kRounding), problem.machine.clock_hz);
    space_bound_ = std::min(space_bound_, bounds_[i].first);
  }
}

Evaluator::~Evaluator() = default;

bool Evaluator::hopeless(std::uint64_t number) const { return options_.prune && !(bounds_[number] < best_); }

double Evaluator::cost(std::uint64_t number) {
  const auto found = costs_.find(number);
  if (found != costs_.end()) return found->second;
  // Not remembered: a bound is not a cost, and may be asked for again when it is the least known.
  if (hopeless(number) || bounds_[number].first == kInfinity || exhausted()) return bounds_[number].first;
  const double cost = simulate(space_.tiling(number)).first;
  costs_.emplace(number, cost);
  return cost;
}

double Evaluator::cost_of_tiling(const hal::Tiling& tiling) { return exhausted() ? kInfinity : simulate(tiling).first; }

Cost Evaluator::simulate(const hal::Tiling& tiling) {
  if (runner_ == nullptr) runner_ = std::make_unique<job::Runner>(problem_.machine, problem_.energy, false);
  job::Schedule schedule = problem_.schedule;
  schedule.tiling = tiling;
  job::RunOptions options;
  options.full_data = false;
  const auto start = std::chrono::steady_clock::now();
  Cost cost;
  hal::Tiling used = tiling;
  try {
    const job::Result r = runner_->run(problem_.network, schedule, nullptr, options);
    used = r.schedule.tiling;
    const double energy = r.total_energy_pj();
    cost = cost_of(options_.objective, static_cast<double>(r.cycles), energy, problem_.machine.clock_hz);
    if (cost < best_) {
      best_ = cost;
      best_tiling_ = used;
      best_cycles_ = r.cycles;
      best_energy_pj_ = energy;
    }
  } catch (const job::RunError&) {
    // Firmware refused the tiling and the machine is as before. A fault or a deadlock is no matter of tile sizes.
    Platform& p = runner_->platform();
    if (p.context().faults.any() || !p.all_finished()) throw;
    ++refused_;
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  log_.push_back({used, cost.first, best_.first});
  if (options_.progress) options_.progress(*this);
  return cost;
}

double Evaluator::seconds() const { return seconds_; }

}  // namespace attnvp::explore
