#include "explore/automatic/automatic.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "explore/search/descent.h"
#include "platform/job/job.h"
#include "platform/job/ways.h"

namespace attnvp::explore {

namespace {
constexpr std::uint32_t kRuns = 20;  // of what is picked take as long as picking it
constexpr double kNear = 1.1;        // of the fastest: worth another choice
constexpr double kNearLeast = 1.02;  // of what any schedule takes: near enough,
constexpr std::uint32_t kTries = 8;  //   otherwise so many simulations of tiles beside the best one's,
constexpr double kWorth = 0.995;     //   which are to win more than that
}  // namespace

Automatic pick_dataflow(const MachineConfig& machine, const config::Network& network, const job::Tiling& tiling,
                        const config::EnergyTable& energy) {
  const config::Network layer = network.folded();
  job::Contest contest(machine, layer);
  contest.limit(kRuns);
  std::vector<job::Way> others;  // in other words
  for (const firmware::Dataflow* dataflow : job::dataflows_for(network)) {
    job::Schedule open = job::parse_dataflow(dataflow->name);
    open.tiling = tiling;
    if (job::open_ways(open) == nullptr) {
      contest.add(open);
      continue;
    }
    for (const job::Way& way : job::ways_of(open)) {
      if (way.another()) {  // it is there by itself
        others.push_back(way);
      } else {
        contest.add(way.own);
      }
    }
  }
  if (contest.contenders().empty()) contest.refuse_all();
  contest.decide(contest.contenders().size() > 1);
  // Others from where the first one has got to.
  std::vector<job::Schedule> all_others;
  for (const job::Way& way : others) all_others.push_back(way.own);
  for (const job::Contender& c : contest.contenders()) {
    if (c.same.empty()) all_others.push_back(c.open);
  }
  contest.vary(all_others);
  // Those that are near once more, not roughly, and in the words of others that do the same; as far as the limit goes.
  std::vector<job::Schedule> near;
  for (const job::Contender& c : contest.contenders()) {
    if (c.rank() > kNear * contest.contenders().front().rank()) continue;
    near.push_back(c.open);
    for (const job::Way& way : others) {
      if (c.open.dataflow == way.same.dataflow) near.push_back(way.own);
    }
  }
  contest.challenge(near);
  Automatic all{contest.contenders(), contest.least_cycles(), contest.left_out()};
  job::Contender& first = all.contenders.front();
  if (first.cycles > 0 && static_cast<double>(first.cycles) > kNearLeast * all.least_cycles) {
    job::Runner runner(machine, energy, false);
    const Problem problem{machine, layer, first.open, energy};
    const auto tries = static_cast<std::uint32_t>(std::clamp<double>(contest.runs_left(), 1, kTries));
    const job::Result found = descend(runner, problem, first.schedule, tries).best;
    if (static_cast<double>(found.cycles) < kWorth * static_cast<double>(first.cycles)) {
      first.schedule = found.schedule;
      first.cycles = found.cycles;
    }
  }
  return all;
}

std::string Automatic::sentence() const {
  const job::Contender& best = contenders.front();
  std::string beaten, guessed, left, alike;
  std::set<std::string> said{best.schedule.text};  // of several ways of one dataflow the best
  for (const job::Contender& c : contenders) {
    if (c.same == c.schedule.text || !said.insert(c.schedule.text).second) continue;
    if (!c.same.empty()) {
      alike +=
          fmt::format(alike.empty() ? "{} begins with the same commands as {}" : ", {} as {}", c.schedule.text, c.same);
      continue;
    }
    const double more = 100 * (c.rank() / best.rank() - 1);
    if (c.cycles == 0 && more < 0) {  // the limit's to leave
      left += fmt::format("{}{} ({:.1f}%)", left.empty() ? "" : ", ", c.schedule.text, -more);
      continue;
    }
    std::string& list = c.cycles > 0 ? beaten : guessed;
    list += fmt::format("{}{} by {:.1f}%", list.empty() ? "" : ", ", c.schedule.text, more);
  }
  if (!beaten.empty()) beaten = " beats " + beaten;
  if (!guessed.empty())
    beaten += fmt::format("{} by what is estimated of them {}", beaten.empty() ? " beats" : ", and", guessed);
  if (beaten.empty() && left.empty() && alike.empty()) beaten = " alone takes the job";
  if (!left.empty()) beaten += "; not gone on with, though first looks promised less: " + left;
  if (!alike.empty()) beaten += "; " + alike;
  return fmt::format("{}{}; no schedule of this layer takes less than {:.1f}% of its time", best.schedule.text, beaten,
                     100 * least_cycles / best.rank());
}

}  // namespace attnvp::explore
