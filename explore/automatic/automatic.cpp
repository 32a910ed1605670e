#include "explore/automatic/automatic.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "explore/search/descent.h"
#include "mapping/programs.h"
#include "platform/job/job.h"

namespace attnvp::explore {

namespace {

constexpr double kNear = 1.05;  // of the likeliest, what begins that near is gone after (1.3: slower, no better),
constexpr std::size_t kSimulations = 3;  //   so many at most,
constexpr double kNearLeast = 1.02;      //   until one is that near what any schedule takes;
constexpr std::uint32_t kTries = 14;     // then simulations of tiles beside the best one's,
constexpr double kWorth = 0.995;         //   which are to win more than that

// Parameters with names for their values (firmware/runtime/dataflow.h).
bool has_ways(const Contender& c) {
  const firmware::Parameter* const* p = mapping::find_dataflow(c.schedule.dataflow)->parameters;
  while (*p != nullptr && (*p)->named == nullptr) ++p;
  return *p != nullptr;
}

}  // namespace

Automatic pick_dataflow(const MachineConfig& machine, const config::Network& network, const job::Tiling& tiling,
                        const config::EnergyTable& energy) {
  const config::Network layer = network.folded();
  Automatic all;
  bool fits = false;
  for (const firmware::Dataflow* dataflow : job::dataflows_for(network)) {
    Contender c;
    c.open = job::parse_dataflow(dataflow->name);
    c.open.tiling = tiling;
    try {
      const job::FirstLook look = job::look(machine, layer, c.open);
      c.schedule = look.schedule;
      c.estimate = look.cycles;
      all.least_cycles = look.least_cycles;
      all.contenders.push_back(c);
    } catch (const job::RunError& why) {
      fits = true;
      all.left_out += (all.left_out.empty() ? "" : "; ") + std::string(why.what());
    } catch (const config::ConfigError& why) {
      all.left_out += (all.left_out.empty() ? "" : "; ") + std::string(why.what());
    }
  }
  if (all.contenders.empty() && fits) throw job::RunError(all.left_out);
  if (all.contenders.empty()) throw config::ConfigError(all.left_out);
  const auto by_rank = [](const Contender& a, const Contender& b) { return a.rank() < b.rank(); };
  std::stable_sort(all.contenders.begin(), all.contenders.end(), by_rank);
  // A dataflow of many ways is seldom far off, however it begins (docs/weave.md): it comes behind the likeliest one.
  const auto many = std::find_if(all.contenders.begin(), all.contenders.end(), has_ways);
  if (many > all.contenders.begin() && many != all.contenders.end()) {
    std::rotate(all.contenders.begin() + 1, many, many + 1);
  }
  job::Runner runner(machine, energy, false);
  std::size_t simulated = 0;
  const auto likeliest = std::find_if_not(all.contenders.begin(), all.contenders.end(), has_ways);
  const double near = likeliest == all.contenders.end() ? 0 : kNear * likeliest->estimate;
  double best = 0;
  std::set<double> begun;
  for (Contender& c : all.contenders) {
    if (!begun.insert(c.estimate).second && !has_ways(c)) continue;  // a schedule of the same kind
    if (simulated == kSimulations || (c.estimate > near && !has_ways(c))) break;
    if (simulated > 0 && best <= kNearLeast * all.least_cycles) break;
    c.schedule = job::complete(machine, layer, c.open);
    if (all.contenders.size() == 1) break;
    c.cycles = runner.run(layer, c.schedule, nullptr, {}).cycles;
    best = simulated == 0 ? c.rank() : std::min(best, c.rank());
    ++simulated;
  }
  const auto run = [](const Contender& c) { return c.cycles > 0; };
  const auto others = std::stable_partition(all.contenders.begin(), all.contenders.end(), run);
  std::stable_sort(all.contenders.begin(), others, by_rank);
  Contender& first = all.contenders.front();
  if (first.cycles > 0 && static_cast<double>(first.cycles) > kNearLeast * all.least_cycles) {
    const Problem problem{machine, layer, first.open, energy};
    const job::Result found = descend(runner, problem, first.schedule, kTries).best;
    if (static_cast<double>(found.cycles) < kWorth * static_cast<double>(first.cycles)) {
      first.schedule = found.schedule;
      first.cycles = found.cycles;
    }
  }
  return all;
}

std::string Automatic::sentence() const {
  const Contender& best = contenders.front();
  std::string beaten, begun;
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    const Contender& c = contenders[i];
    std::string& list = c.cycles > 0 ? beaten : begun;
    list +=
        fmt::format("{}{} by {:.1f}%", list.empty() ? "" : ", ", c.schedule.text, 100 * (c.rank() / best.rank() - 1));
  }
  if (!beaten.empty()) beaten = " beats " + beaten;
  if (!begun.empty())
    beaten += fmt::format("{} where their tiles begin {}", beaten.empty() ? " beats" : ", and", begun);
  return fmt::format("{}{}; no schedule of this layer takes less than {:.1f}% of its time", best.schedule.text,
                     beaten.empty() ? " alone takes the job" : beaten, 100 * least_cycles / best.rank());
}

}  // namespace attnvp::explore
