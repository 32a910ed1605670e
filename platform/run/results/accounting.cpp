#include "platform/run/results/accounting.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "models/arith/number.h"
#include "models/engine/descriptor_check.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/run/job.h"
#include "platform/run/platform.h"
#include "platform/trace/critical_path.h"

namespace attnvp::job {

namespace {

// The number behind `part` in a module's name: 3 for "attnvp.cluster3.core1.mac" and ".cluster"; -1: none.
int number_in(const std::string& name, const std::string& part) {
  const std::size_t at = name.find(part);
  return at == std::string::npos ? -1 : std::atoi(name.c_str() + at + part.size());
}

// Adds cycles to a reason.
void add(UnitTime& unit, const std::string& reason, std::uint64_t cycles) {
  if (cycles == 0) return;
  for (auto& [name, sum] : unit.cycles) {
    if (name != reason) continue;
    sum += cycles;
    return;
  }
  unit.cycles.emplace_back(reason, cycles);
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

void tag_tensors(Platform& platform, const hal::Layer& l, std::uint64_t scratch, std::uint64_t bias) {
  std::vector<SignallingDescriptors::TaggedRange>& ranges = platform.context().signallers.ranges;
  ranges.clear();
  if (platform.l2 != nullptr) ranges.push_back({hal::kL2Base, hal::kL1Base, trace::kTagOfL2});
  const std::uint64_t begins[] = {l.q, l.k, l.v, l.c, l.p, l.o, scratch, bias};
  for (std::size_t i = 0; i < std::size(begins); ++i) {
    std::uint64_t end = UINT64_MAX;
    for (const std::uint64_t other : begins) {
      if (other > begins[i]) end = std::min(end, other);
    }
    if (begins[i] != 0) ranges.push_back({begins[i], end, static_cast<std::uint8_t>(i + 1)});
  }
}

std::vector<UnitTime> unit_times(const Platform& platform, std::uint64_t cycles) {
  std::vector<UnitTime> all;
  const MachineConfig& m = platform.machine();
  const double dram_bytes_per_cycle = m.dram.bytes_per_second / m.clock_hz;
  for (const Module* module : platform.modules()) {
    for (const StallCounts& l : module->stall_counts()) {
      const std::string name = module->name();
      UnitTime unit{l.unit.empty() ? name : name + "." + l.unit, last_part(name), {}};
      std::uint64_t worked = l.busy_cycles - l.stall_cycles, all_idle = 0;
      if (unit.kind == "dma") {
        const auto bus = static_cast<std::uint64_t>(std::llround(static_cast<double>(l.bytes) / dram_bytes_per_cycle));
        add(unit, "useful", std::min(bus, worked));
        add(unit, "DRAM bandwidth", worked - std::min(bus, worked));
      } else {
        add(unit, "useful", worked - l.ragged_cycles);
        add(unit, "ragged edge", l.ragged_cycles);
        add(unit, "L1 bandwidth", l.stall_cycles - l.bank_cycles);
        add(unit, "L1 bank conflicts", l.bank_cycles);
      }
      for (const auto& [cause, n] : l.idle) {
        add(unit, trace::reason(cause), n);
        all_idle += n;
      }
      add(unit, "end", cycles - std::min(cycles, l.busy_cycles + all_idle));
      all.push_back(std::move(unit));
    }
  }
  std::uint64_t last = 0;
  for (const auto& cluster : platform.clusters) last = std::max(last, cluster->cpu->finish_cycle());
  for (const auto& cluster : platform.clusters) {
    UnitTime unit{cluster->cpu->name(), "control", {}};
    const std::uint64_t busy = cluster->cpu->value("busy_cycles");
    const std::uint64_t runs = std::max(busy, cycles - (last - cluster->cpu->finish_cycle()));
    add(unit, "useful", busy);
    add(unit, "waits for engines", runs - busy);
    add(unit, "end", cycles - std::min(cycles, runs));
    all.push_back(std::move(unit));
  }
  return all;
}

std::vector<std::pair<std::string, double>> mean_shares(const std::vector<UnitTime>& units, const std::string& kind) {
  std::vector<std::pair<std::string, double>> mean;
  double total = 0;
  for (const UnitTime& unit : units) {
    if (unit.kind != kind || unit.cycles.size() < 2) continue;  // an unused channel
    for (std::size_t i = 0; i < unit.cycles.size(); ++i) {
      const auto& [name, cycles] = unit.cycles[i];
      total += static_cast<double>(cycles);
      const auto found = std::find_if(mean.begin(), mean.end(), [&](const auto& m) { return m.first == name; });
      if (found == mean.end()) {
        mean.emplace_back(name, static_cast<double>(cycles));
      } else {
        found->second += static_cast<double>(cycles);
      }
    }
  }
  for (auto& [name, share] : mean) share /= std::max(total, 1.0);
  return mean;
}

Bound bound_of(const RunResult& r, const MachineConfig& m) {
  Bound b;
  b.run_cycles = static_cast<double>(r.cycles);
  std::map<std::string, double> ragged;
  const auto worked = [&](const char* kind) {  // busiest unit
    std::uint64_t most = 0;
    for (const UnitTime& unit : r.unit_times) {
      std::uint64_t useful = 0, at_edges = 0;
      for (const auto& [reason, n] : unit.cycles) {
        if (reason == "useful") useful += n;
        if (reason == "ragged edge") at_edges += n;
      }
      if (unit.kind != kind || useful + at_edges <= most) continue;
      most = useful + at_edges;
      ragged[kind] = static_cast<double>(at_edges);
    }
    return static_cast<double>(most);
  };
  const auto of = [&](const char* module, const char* counter) {
    return r.has(module, counter) ? static_cast<double>(r.max(module, counter)) : 0;
  };
  // Greatest over clusters: `value` of its L1, divided by what an L1 does in a cycle.
  const auto of_l1 = [&](const auto& value, const auto& per_cycle) {
    double most = 0;
    for (const CounterValue& c : r.counters) {
      const double own = last_part(c.module) == "l1" ? value(c) : 0;
      if (own == 0) continue;
      const auto cluster = static_cast<std::uint32_t>(std::max(number_in(c.module, ".cluster"), 0));
      const ScratchpadConfig l1 = m.cluster_overrides.empty() ? m.l1 : m.with_cluster(cluster).l1;
      most = std::max(most, own / per_cycle(l1));
    }
    return most;
  };
  const auto l1_bytes = [&](const CounterValue& c) {
    if (c.name != "read_words") return 0.0;
    const double written = static_cast<double>(r.sum(c.module.substr(c.module.find('.') + 1), "write_words"));
    return 2 * (static_cast<double>(c.value) + written);
  };
  const auto port_bytes = [](const CounterValue& c) {
    return c.name == "busiest_port_bytes" ? static_cast<double>(c.value) : 0;
  };
  // Models with bank conflicts count the words of the busiest bank.
  const double l1_bank =
      r.has("l1", "busiest_bank_words")
          ? of("l1", "busiest_bank_words")
          : of_l1(l1_bytes, [](const ScratchpadConfig& l1) { return 1.0 * l1.banks * l1.bank_bytes_per_cycle; });
  const double l1_port = of_l1(port_bytes, [](const ScratchpadConfig& l1) { return 1.0 * l1.port_bytes_per_cycle; });
  // With multicast another run may read less DRAM, but no less than one cluster reads.
  const bool multicast = r.has("bus", "multicast_reads");
  const auto unshared = [&](const char* memory) {
    const double read = 2 * of(memory, "read_words"), least = of("bus", "most_read_bytes");
    return of(memory, "busy_cycles") * (multicast && least < read ? least / read : 1);
  };
  const char* const link_cycles = multicast ? "cluster_link_cycles" : "busiest_link_cycles";
  b.demands = {{"mac", worked("mac")}, {"vec", worked("vec")}, {"dram", unshared("dram")},
               {"l1_port", l1_port},   {"l1_bank", l1_bank},   {"control", worked("control")}};
  if (r.has("l2", "busy_cycles")) b.demands.push_back({"l2", m.has_l2() ? of("l2", "busy_cycles") : unshared("l2")});
  if (r.has("bus", "busiest_link_cycles")) b.demands.push_back({"network", of("bus", link_cycles)});
  std::stable_sort(b.demands.begin(), b.demands.end(),
                   [](const Demand& x, const Demand& y) { return x.cycles > y.cycles; });
  b.most = b.demands.front();
  // Latency and limits of outstanding bursts are no demand: they fall with each of the others.
  const double dma = of("dma", "busy_cycles");
  if (dma > 1.1 * b.most.cycles) b.most = {"dma", dma};
  b.ragged_cycles = ragged[b.most.resource];
  return b;
}

namespace {

void add(std::vector<std::uint64_t>& each, int index, std::uint64_t value) {
  const auto i = static_cast<std::size_t>(index);
  if (each.size() <= i) each.resize(i + 1, 0);
  each[i] += value;
}

}  // namespace

std::uint64_t Dealt::total() const { return std::accumulate(each.begin(), each.end(), std::uint64_t{0}); }
std::uint64_t Dealt::most() const { return each.empty() ? 0 : *std::max_element(each.begin(), each.end()); }
double Dealt::mean() const {
  return each.empty() ? 0 : static_cast<double>(total()) / static_cast<double>(each.size());
}
double Dealt::ratio() const { return total() == 0 ? 1 : static_cast<double>(most()) / mean(); }

std::size_t Imbalance::first() const {
  return static_cast<std::size_t>(std::min_element(end.begin(), end.end()) - end.begin());
}
std::size_t Imbalance::last() const {
  return static_cast<std::size_t>(std::max_element(end.begin(), end.end()) - end.begin());
}

Imbalance imbalance_of(const RunResult& r) {
  Imbalance all;
  int cores = 0;  // of a cluster
  for (const CounterValue& c : r.counters) cores = std::max(cores, number_in(c.module, ".core") + 1);
  for (const CounterValue& c : r.counters) {
    const int cluster = number_in(c.module, ".cluster"), core = number_in(c.module, ".core");
    if (cluster < 0) continue;
    const std::string kind = c.module.substr(c.module.rfind('.') + 1);
    const int worker = cluster * cores + core;
    if (kind == "mac" && c.name == "macs") {
      add(all.macs.each, cluster, c.value);
      add(all.core_macs.each, worker, c.value);
    } else if (kind == "vec" && (c.name == "busy_cycles" || c.name == "stall_cycles")) {
      const std::uint64_t worked = c.name == "busy_cycles" ? c.value : -c.value;
      add(all.vec_cycles.each, cluster, worked);
      add(all.core_vec_cycles.each, worker, worked);
    } else if (kind == "dma" && (c.name == "read_bytes" || c.name == "write_bytes")) {
      add(all.dma_bytes.each, cluster, c.value);
    }
  }
  for (const UnitTime& unit : r.unit_times) {
    const int cluster = number_in(unit.unit, ".cluster");
    if (cluster < 0) continue;
    std::uint64_t idle = 0;  // idle cycles at the end
    for (const auto& [reason, n] : unit.cycles) idle += reason == "end" ? n : 0;
    add(all.end, cluster, 0);
    std::uint64_t& end = all.end[static_cast<std::size_t>(cluster)];
    end = std::max(end, r.cycles - std::min(r.cycles, idle));
  }
  return all;
}

std::string part_of(const std::string& component) {
  static const std::string kOurs = "attnvp.";
  return component.compare(0, kOurs.size(), kOurs) == 0 ? component.substr(kOurs.size()) : component;
}

bool has_energy(const config::EnergyTable& energy, const Action& action) {
  return action.component != nullptr && !(action.optional && !energy.has(action.component, action.name));
}

PoweredCycles powered_cycles(const Module& module, const TechnologyConfig& technology, std::uint64_t cycles) {
  PoweredCycles powered{cycles, cycles};
  if (technology.gating == "none") return powered;
  for (const Counter* counter : module.counters()) {
    if (std::string_view(counter->name()) != "gated_cycles") continue;
    powered.clocked -= std::min(cycles, counter->value());
    if (technology.gating == "power") powered.leaking = powered.clocked;
  }
  return powered;
}

std::vector<Standing> standing_of(const Module& module, const config::EnergyTable& energy) {
  const std::string name = module.basename();
  const Standing all[] = {
      {energy::kLeakage, "leaking_cycles", "cycles in which it is powered", name, &PoweredCycles::leaking},
      {energy::kClock, "clocked_cycles", "cycles in which it has a clock", name, &PoweredCycles::clocked},
      {"attnvp.dram", "kept_cycles", "cycles in which its contents are kept", "background", &PoweredCycles::leaking}};
  std::vector<Standing> standing;
  for (const Standing& s : all) {
    if (s.action == "background" && name != "dram") continue;
    if (energy.has(s.component, s.action)) standing.push_back(s);
  }
  return standing;
}

config::EnergyTable for_type(const config::EnergyTable& table, hal::ElementType type) {
  constexpr const char* kMac = "attnvp.mac";
  const std::string name = hal::is_relative(type) && !hal::is_integer(type) ? "fp8" : attnvp::name_of(type);
  const std::string action = "compute_" + name;
  if (type == hal::ElementType::kFp16 || !table.has(kMac, action)) return table;
  config::EnergyTable own = table;
  own.set(kMac, "compute", table.components().find(kMac)->second.find(action)->second);
  std::vector<config::EnergyTable> cores;
  for (const config::EnergyTable& core : table.cores()) cores.push_back(for_type(core, type));
  own.set_cores(std::move(cores), table.cores_of_cluster());
  return own;
}

namespace {

// `technology` and `cycles` are set for powered modules; without them there is no energy by the cycle.
std::vector<CounterValue> read_modules(const std::vector<Module*>& modules, const config::EnergyTable& table,
                                       const TechnologyConfig* technology, std::uint64_t cycles) {
  std::vector<CounterValue> values;
  const auto add = [&](CounterValue value, const Module& module, const char* component, const std::string& action) {
    const config::EnergyTable& energy = table.of_module(module.name());
    value.component = component;
    value.action = action;
    if (value.value > 0) {  // only actions that occur need an entry
      value.energy_pj = static_cast<double>(value.value) * energy.pj(component, action, module.size_bytes());
      const config::EnergyTable::EnergyAction range = energy.range(component, action);
      value.low_pj = value.energy_pj * range.low;
      value.high_pj = value.energy_pj * range.high;
    }
    values.push_back(std::move(value));
  };
  for (const Module* each : modules) {
    const Module& module = *each;
    const config::EnergyTable& energy = table.of_module(module.name());
    for (const Counter* counter : module.counters()) {
      CounterValue value{module.name(), counter->name(), counter->unit(), counter->description(), counter->value()};
      if (has_energy(energy, counter->action())) {
        add(std::move(value), module, counter->action().component, counter->action().name);
      } else {
        values.push_back(std::move(value));
      }
    }
    if (technology == nullptr) continue;
    const PoweredCycles powered = powered_cycles(module, *technology, cycles);
    for (const Standing& s : standing_of(module, energy)) {
      add({module.name(), s.name, "cycles", s.description, powered.*s.cycles}, module, s.component, s.action);
    }
  }
  return values;
}

}  // namespace

std::vector<CounterValue> read_counters(sc_core::sc_object& root, const config::EnergyTable& energy) {
  std::vector<Module*> modules;
  for_each_module(root, [&modules](Module& module) { modules.push_back(&module); });
  return read_modules(modules, energy, nullptr, 0);
}

std::vector<CounterValue> read_counters(const std::vector<Module*>& modules, const config::EnergyTable& energy,
                                        const TechnologyConfig& technology, std::uint64_t cycles) {
  return read_modules(modules, energy, &technology, cycles);
}

}  // namespace attnvp::job
