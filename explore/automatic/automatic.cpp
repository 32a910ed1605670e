#include "explore/automatic/automatic.h"

#include <fmt/format.h>

#include <algorithm>

#include "mapping/bound.h"
#include "mapping/costs.h"
#include "mapping/estimate.h"
#include "mapping/programs.h"
#include "platform/job/job.h"

namespace attnvp::explore {

namespace {

constexpr std::size_t kCommands = 20000;  // of a stream that the estimate looks at
constexpr double kNear = 1.1;             // estimates that far from the best are simulated,
constexpr std::size_t kSimulations = 4;   //   so many at most

}  // namespace

Automatic pick_dataflow(const MachineConfig& machine, const config::Network& network, const job::Tiling& tiling,
                        const config::EnergyTable& energy) {
  const config::Network layer = network.folded();
  Automatic all;
  bool fits = false;
  for (const firmware::Dataflow* dataflow : job::dataflows_for(network)) {
    Contender c;
    c.schedule = job::parse_dataflow(dataflow->name);
    c.schedule.tiling = tiling;
    try {
      c.schedule = job::complete(machine, layer, c.schedule);
      const mapping::Job job = job::make_job(machine, layer, c.schedule);
      mapping::Costs costs(machine);
      c.estimate = mapping::estimate(job, costs, kCommands).cycles;
      all.least_cycles = mapping::layer_cycles(job, machine);
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
  const double near = kNear * all.contenders.front().estimate;
  job::Runner runner(machine, energy, false);
  std::size_t simulated = 0;
  for (Contender& c : all.contenders) {
    if (all.contenders.size() == 1 || simulated == kSimulations || c.estimate > near) break;
    c.cycles = runner.run(layer, c.schedule, nullptr, {}).cycles;
    ++simulated;
  }
  std::stable_sort(all.contenders.begin(), all.contenders.begin() + static_cast<std::ptrdiff_t>(simulated), by_rank);
  return all;
}

std::string Automatic::sentence() const {
  const Contender& best = contenders.front();
  std::string beaten;
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    const Contender& c = contenders[i];
    beaten += fmt::format("{}{} by {}{:.1f}%", i == 1 ? "" : ", ", c.schedule.text, c.cycles == 0 ? "an estimated " : "",
                          100 * (c.rank() / best.rank() - 1));
  }
  return fmt::format("{} {}; no schedule of this layer takes less than {:.1f}% of its time", best.schedule.text,
                     beaten.empty() ? "alone takes the job" : "beats " + beaten, 100 * least_cycles / best.rank());
}

}  // namespace attnvp::explore
