#include "platform/job/ways.h"

#include <algorithm>
#include <cstring>

#include "mapping/programs.h"
#include "platform/job/contest.h"

namespace attnvp::job {

namespace {

const firmware::Parameter* find(const firmware::Dataflow& dataflow, const char* name) {
  for (const firmware::Parameter* const* p = dataflow.parameters; *p != nullptr; ++p) {
    if (std::strcmp((*p)->name, name) == 0) return *p;
  }
  return nullptr;
}

// Of a parameter that a way has no use for.
std::uint32_t no_use(const firmware::Parameter& p) { return p.none != nullptr ? hal::kWord : 1; }

// The nearest to another dataflow's value; 0: that has none.
std::uint32_t value_for(const firmware::Parameter& p, std::uint32_t value) {
  if (value == 0) return no_use(p);
  const bool count = p.extent == firmware::Extent::kCount;
  if (value == hal::kWord) return p.none != nullptr ? value : count ? p.most : 1;
  return count ? std::min(value, p.most) : value;
}

// The other dataflow with what is given; false where it has no such parameter, or no such value.
bool in_words_of(const firmware::Dataflow& other, const Schedule& own, const firmware::Parameter& ways,
                 Schedule& same) {
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(own.dataflow);
  same = parse_dataflow(other.name);
  for (const auto& [name, value] : own.tiling.entries()) {
    const firmware::Parameter* const mine = find(dataflow, name.c_str());
    if (mine == nullptr || mine == &ways) continue;
    if (find(other, name.c_str()) != nullptr) {
      same.tiling.set(name, value);
    } else if (value != no_use(*mine)) {
      return false;
    }
  }
  return true;
}

// All ways that take the layer.
class Entries {
 public:
  Entries(const MachineConfig& machine, const config::Network& network, const Schedule& schedule)
      : machine_(machine),
        network_(network),
        contest_(machine, network, [this](Contender& c) { settle(c); }),
        ways_(ways_of(schedule)) {
    for (const Way& w : ways_) contest_.add(w.same, w.own);
    if (contest_.contenders().empty()) contest_.refuse();
  }
  Contest& contest() { return contest_; }
  // What was chosen, in the schedule's own words; where that asks for more of L1, anew.
  void settle(Contender& c) {
    const Way& way = way_of(c);
    if (!way.another()) return;
    c.schedule = begun_at(way.own, c.schedule);
    try {
      choose_tiles(machine_, network_, c.schedule, contest_.replays());
    } catch (const std::runtime_error&) {
      const Choice anew = choose_tiles(machine_, network_, way.own, contest_.replays());
      c.schedule = anew.schedule;
      c.estimate = anew.cycles;
    }
  }

  const Way& way_of(const Contender& c) const {
    return *std::find_if(ways_.begin(), ways_.end(), [&](const Way& w) {
      return w.same.dataflow == c.open.dataflow && w.same.tiling == c.open.tiling;
    });
  }

 private:
  const MachineConfig& machine_;
  const config::Network& network_;
  Contest contest_;
  std::vector<Way> ways_;
};

}  // namespace

const firmware::Parameter* open_ways(const Schedule& schedule) {
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(schedule.dataflow);
  for (const firmware::Parameter* const* p = dataflow.parameters; *p != nullptr; ++p) {
    if ((*p)->named != nullptr && schedule.tiling[(*p)->name] == 0) return *p;
  }
  return nullptr;
}

std::vector<Way> ways_of(const Schedule& schedule) {
  const firmware::Parameter& ways = *open_ways(schedule);
  std::vector<Way> all;
  for (std::uint32_t value = 1; value <= ways.most; ++value) {
    Way way{schedule, {}};
    way.own.tiling.set(ways.name, value);
    const char* const same = ways.named[value - 1].same;
    const firmware::Dataflow* const other = same == nullptr ? nullptr : mapping::find_dataflow(same);
    if (other == nullptr || !in_words_of(*other, way.own, ways, way.same)) way.same = way.own;
    all.push_back(way);
  }
  return all;
}

Schedule begun_at(const Schedule& open, const Schedule& found) {
  Schedule begun = open;
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(open.dataflow);
  for (const firmware::Parameter* const* p = dataflow.parameters; *p != nullptr; ++p) {
    if (begun.tiling[(*p)->name] != 0) continue;
    begun.tiling.set((*p)->name, value_for(**p, found.tiling[(*p)->name]));
  }
  return begun;
}

Schedule best_way(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  Entries entries(machine, network, schedule);
  entries.contest().decide(false);
  // Chosen for by other steps, in its own words, what is the best way may become better.
  const Way& best = entries.way_of(entries.contest().contenders().front());
  if (best.another()) entries.contest().challenge({best.own});
  return entries.contest().contenders().front().schedule;
}

Schedule likeliest_way(const MachineConfig& machine, const config::Network& network, const Schedule& schedule) {
  Entries entries(machine, network, schedule);
  const std::vector<Contender>& all = entries.contest().contenders();
  const auto likelier = [](const Contender& a, const Contender& b) { return a.estimate < b.estimate; };
  return std::min_element(all.begin(), all.end(), likelier)->schedule;
}

}  // namespace attnvp::job
