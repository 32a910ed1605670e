#include "explore/search/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "explore/processes/processes.h"
#include "explore/search/bound.h"
#include "platform/elaboration/platform.h"

namespace attnvp::explore {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;  // relative: energy is a sum of many products

// Adds the seconds of its life.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), before_(seconds) {}
  ~Stopwatch() {  // what ran within it is in it
    seconds_ = before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  double before_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

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
  const auto done = expected_.find(number);
  const double cost = (done != expected_.end() ? count(done->second) : simulate(space_.tiling(number))).first;
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
  const double energy = options_.objective != Objective::kCycles ? bound.energy_pj(tiling) * (1 - kRounding) : 0;
  return cost_of(options_.objective, bound.cycles(tiling), energy, problem_.machine.clock_hz);
}

Evaluator::Run Evaluator::run(const job::Tiling& tiling) {
  if (runner_ == nullptr) runner_ = std::make_unique<job::Runner>(problem_.machine, problem_.energy, false);
  job::Schedule schedule = problem_.schedule;
  schedule.tiling = tiling;
  job::RunOptions options;
  options.full_data = false;
  const Stopwatch watch(seconds_);
  try {
    const job::Result r = runner_->run(problem_.network, schedule, nullptr, options);
    return {false, r.schedule.tiling, r.cycles, r.total_energy_pj()};
  } catch (const job::TilingError&) {
    return {true, tiling};
  } catch (const job::RunError&) {
    // Firmware refused the tiling and the machine is as before. A fault or a deadlock is no matter of tile sizes.
    Platform& p = runner_->platform();
    if (p.context().faults.any() || !p.all_finished()) throw;
    return {true, tiling};
  }
}

Cost Evaluator::count(const Run& run) {
  Cost cost;
  if (run.refused) {
    ++refused_;
  } else {
    cost = cost_of(options_.objective, static_cast<double>(run.cycles), run.energy_pj, problem_.machine.clock_hz);
  }
  if (cost < best_) {
    best_ = cost;
    best_tiling_ = run.used;
    best_cycles_ = run.cycles;
    best_energy_pj_ = run.energy_pj;
  }
  log_.push_back({run.used, cost.first, best_.first});
  if (options_.progress) options_.progress(*this);
  return cost;
}

void Evaluator::expect(const std::vector<std::uint64_t>& numbers) {
  expected_.clear();  // what was asked for in vain
  std::vector<std::uint64_t> wanted;
  for (const std::uint64_t number : numbers) {
    const bool needed = !known(number) && !hopeless(number) && bounds_[number].first < kInfinity;
    if (needed && std::find(wanted.begin(), wanted.end(), number) == wanted.end()) wanted.push_back(number);
  }
  wanted.resize(
      std::min<std::uint64_t>(wanted.size(), options_.budget - std::min<std::uint64_t>(options_.budget, log_.size())));
  if (options_.jobs == 1 || wanted.size() < 2) return;
  const Stopwatch watch(seconds_);
  const auto work = [&](std::size_t i) -> std::string {
    try {
      const Run r = run(space_.tiling(wanted[i]));
      std::string line = fmt::format("{} {} {}", r.refused ? 1 : 0, r.cycles, r.energy_pj);
      for (const auto& [name, value] : r.used.entries()) line += fmt::format(" {} {}", name, value);
      return line;
    } catch (const std::exception&) {
      return {};  // whoever asks for it comes upon it, too
    }
  };
  const std::vector<std::string> lines = in_processes(wanted.size(), options_.jobs, work);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::istringstream line(lines[i]);
    Run r;
    if (!(line >> r.refused >> r.cycles >> r.energy_pj)) continue;
    std::string name;
    for (std::uint32_t value = 0; line >> name >> value;) r.used.set(name, value);
    expected_.emplace(wanted[i], std::move(r));
  }
}

double Evaluator::seconds() const { return seconds_; }

}  // namespace attnvp::explore
