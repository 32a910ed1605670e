#include "explore/search/evaluator.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "explore/search/bound.h"
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
  // Points that differ only within their commands share the bound, which looks at no more than every one of them takes.
  const bool by_energy = options_.objective != Objective::kCycles;
  std::unordered_map<std::uint64_t, double> cycles;
  const Bound bound(problem);
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const job::Tiling tiling = space.tiling(i);
    if (!bound.fits(tiling)) continue;
    const auto [known, fresh] = cycles.try_emplace(space.same_commands(i), 0.0);
    if (fresh) known->second = bound.cycles(tiling);
    const double energy = by_energy ? bound.energy_pj(tiling) * (1 - kRounding) : 0;
    bounds_[i] = cost_of(options_.objective, known->second, energy, problem.machine.clock_hz);
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

double Evaluator::cost_of_default() {
  if (exhausted()) return kInfinity;
  try {
    job::Schedule open = problem_.schedule;
    open.tiling = {};
    const job::Tiling tiling = job::complete(problem_.machine, problem_.network, open).tiling;
    default_bound_ = bound_of(tiling).first;
    return simulate(tiling).first;
  } catch (const job::RunError&) {
    return kInfinity;  // nothing fits, so far as it looked
  }
}

Cost Evaluator::bound_of(const job::Tiling& tiling) const {
  const Bound bound(problem_);
  const double energy =
      options_.objective != Objective::kCycles ? bound.energy_pj(tiling) * (1 - kRounding) : 0;
  return cost_of(options_.objective, bound.cycles(tiling), energy, problem_.machine.clock_hz);
}

Cost Evaluator::simulate(const job::Tiling& tiling) {
  if (runner_ == nullptr) runner_ = std::make_unique<job::Runner>(problem_.machine, problem_.energy, false);
  job::Schedule schedule = problem_.schedule;
  schedule.tiling = tiling;
  job::RunOptions options;
  options.full_data = false;
  const auto start = std::chrono::steady_clock::now();
  Cost cost;
  job::Tiling used = tiling;
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
  } catch (const job::TilingError&) {
    ++refused_;
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
