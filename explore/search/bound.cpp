#include "explore/search/bound.h"

#include <cmath>

#include "mapping/bound.h"
#include "mapping/counter.h"
#include "mapping/estimate.h"
#include "mapping/programs.h"
#include "platform/energy/machine_model.h"

namespace attnvp::explore {

namespace {
constexpr std::size_t kCommands = 2000;  // that an estimate looks at
}  // namespace

Bound::Bound(const Problem& problem) : problem_(problem), energy_(energy::resolved(problem.energy, problem.machine)) {
  if (!problem.energy.is_model() || problem.machine.technology.gating != "none") return;
  const energy::MachineModel model(problem.machine, energy::Technology::of(energy_.source()));
  for (const energy::Part& part : model.parts()) {
    standing_pj_ += static_cast<double>(part.count) * energy_.pj(energy::kLeakage, part.module, 0);
    if (energy_.has(energy::kClock, part.module)) {
      standing_pj_ += static_cast<double>(part.count) * energy_.pj(energy::kClock, part.module, 0);
    }
  }
  standing_pj_ += energy_.pj("attnvp.dram", "background", 0);
}

mapping::Job Bound::job(const job::Tiling& tiling) const {
  job::Schedule schedule = problem_.schedule;
  schedule.tiling = tiling;
  return job::make_job(problem_.machine, problem_.network, schedule);
}

bool Bound::fits(const job::Tiling& tiling) const {
  const mapping::Job made = job(tiling);
  return mapping::need_of(made).fits(made);
}

double Bound::cycles(const job::Tiling& tiling) const {
  return std::ceil(mapping::least_cycles(job(tiling), problem_.machine) - 1e-6);
}

double Bound::estimate(const job::Tiling& tiling) const {
  const mapping::Job made = job(tiling);
  mapping::Replays replays(problem_.machine);
  replays.costs().set_control(mapping::cycles_of_a_command(made, problem_.machine, kCommands));
  return mapping::estimate(made, replays, kCommands).cycles;
}

double Bound::energy_pj(const job::Tiling& tiling) const {
  const mapping::Counts c = mapping::count(job(tiling), problem_.machine);
  const MachineConfig& m = problem_.machine;
  const config::EnergyTable& e = energy_;
  double pj = 0;
  const auto add = [&](const char* component, const char* action, std::uint64_t count, std::uint64_t size) {
    if (count > 0) pj += static_cast<double>(count) * e.pj(component, action, size);
  };
  const auto memory = [&](const char* component, const mapping::Traffic& t, std::uint64_t size) {
    add(component, "read", t.read / 2, size);  // words of 16 bits
    add(component, "write", t.written / 2, size);
  };
  memory("attnvp.dram", c.dram, m.dram.size_bytes);
  memory("attnvp.l1", c.l1, m.l1.size_bytes);
  memory("attnvp.l0", c.l0, m.l0.size_bytes);
  add("attnvp.mac", "compute", c.mac.macs, 0);
  add("attnvp.mac", "max", c.mac.max_ops, 0);
  add("attnvp.mac", "add", c.mac.add_ops, 0);
  add("attnvp.mac", "exp", c.mac.exp_ops, 0);
  if (c.mac.accumulations > 0 && e.has("attnvp.mac", "accumulate")) {
    add("attnvp.mac", "accumulate", c.mac.accumulations, 0);
  }
  add("attnvp.vec", "compute", c.vec.lane_ops, 0);
  add("attnvp.vec", "max", c.vec.rows.max, 0);
  add("attnvp.vec", "add", c.vec.rows.add, 0);
  add("attnvp.vec", "multiply", c.vec.rows.mul, 0);
  add("attnvp.vec", "exp", c.vec.rows.exp, 0);
  add("attnvp.vec", "divide", c.vec.rows.div, 0);
  return standing_pj_ > 0 ? pj + standing_pj_ * cycles(tiling) : pj;
}

}  // namespace attnvp::explore
