#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/memory/banked_dram/config.h"
#include "platform/machine/hardware.h"
#include "platform/run/job.h"
#include "platform/run/results/accounting.h"
#include "platform/run/schedule.h"
#include "platform/schedule/demand.h"

namespace attnvp::job {

namespace {

constexpr double kGains = 1.01;       // smaller reductions of a bound are ignored
constexpr double kRaggedShare = 0.1;  // of an engine's time; above it the tiling is the cause

struct KeyChange {
  std::string key;
  double factor;
};

// Doubles a resource.
struct DoubledResource {
  std::string resource, words;
  std::vector<KeyChange> changes;
  double less = 2;  // divides the resource's cycles; 1: engine_demands() applies
};

std::vector<DoubledResource> candidates(const MachineConfig& m) {
  std::vector<DoubledResource> all = {
      {"mac", "twice the rows of the MAC array", {{"mac.rows", 2}}, 1},
      {"mac", "twice the columns of the MAC array", {{"mac.columns", 2}}, 1},
      {"mac", "half the rows and twice the columns of the MAC array", {{"mac.columns", 2}, {"mac.rows", 0.5}}, 1},
      {"mac", "twice the rows and half the columns of the MAC array", {{"mac.rows", 2}, {"mac.columns", 0.5}}, 1},
      {"vec", "twice the lanes of VEC", {{"vec.lanes", 2}}, 1},
      {"l1_port", "twice the bandwidth of an L1 port", {{"l1.port_bandwidth", 2}}},
      {"l1_bank", "twice the bandwidth of L1's banks", {{"l1.bank_bandwidth", 2}}},
      {"network", "twice the width of the network's links", {{"interconnect.link_width", 2}}},
      {"dma", "twice the bursts under way", {{"dma.outstanding", 2}}},
      {"dma", "twice the size of a DMA burst", {{"dma.burst", 2}}}};
  const bool channels = m.dram.policy == "banked" && m.own<BankedConfig>().channels > 0;
  all.push_back(channels ? DoubledResource{"dram", "twice the DRAM channels", {{"dram.channels", 2}}}
                         : DoubledResource{"dram", "twice DRAM's bandwidth", {{"dram.bandwidth", 2}}});
  const std::string l2 = m.has_l2() ? "l2.bandwidth" : "dram.l2_bandwidth";
  all.push_back({"l2", "twice the bandwidth of the L2", {{l2, 2}}});
  if (m.control.cpu == "riscv") {
    all.push_back({"control", "twice the clock of the control processor", {{"control.clock", 2}}});
  } else {
    all.push_back({"control", "twice the speed of the control processor's bus", {{"control.access_cycles", 0.5}}});
    all.push_back({"control", "twice the width of the control processor's bus", {{"control.bus_width", 2}}});
  }
  return all;
}

// Changes the machine; false if the result is not valid.
bool change(MachineConfig& machine, const std::vector<KeyChange>& changes,
            std::vector<Advice::AdvisedSetting>& settings) {
  for (const auto& [path, factor] : changes) {
    const auto key = config::find_key(path);
    if (key == nullptr) return false;
    // Some cores or clusters have values of their own.
    if (!machine.core_overrides.empty() && config::find_key("cores.0." + path) != nullptr) return false;
    if (!machine.cluster_overrides.empty() && config::find_key("clusters.0." + path) != nullptr) return false;
    const config::Value before = key->get(machine);
    config::Value value = before;
    if (auto* const whole = std::get_if<std::uint64_t>(&value)) {
      const double wanted = static_cast<double>(*whole) * factor;
      if (wanted < 1 || wanted != std::floor(wanted)) return false;
      *whole = static_cast<std::uint64_t>(wanted);
    } else if (auto* const real = std::get_if<double>(&value)) {
      *real *= factor;
    }
    if (value == before) return false;
    try {
      config::check_value(*key, value);
    } catch (const config::ConfigError&) {
      return false;
    }
    key->set(machine, value);
    settings.push_back({path, config::format_value(*key, value)});
  }
  try {
    config::finish_machine(machine, {"advice"});
  } catch (const config::ConfigError&) {
    return false;
  }
  return true;
}

class Adviser {
 public:
  Adviser(const RunResult& result, const MachineConfig& machine)
      : r_(result),
        machine_(machine),
        native_(machine.control.cpu != "riscv"),  // interpreted firmware is slow
        job_(make_job(machine, result.network, result.schedule)) {}

  std::vector<Advice> all() {
    make();
    std::stable_sort(advice_.begin(), advice_.end(), [](const Rated& a, const Rated& b) { return a.gain > b.gain; });
    std::vector<Advice> best, rest;
    for (Rated& rated : advice_) (rated.gain > kGains ? best : rest).push_back(std::move(rated.advice));
    add_tiling(best, rest);
    if (best.empty() && !rest.empty()) best.push_back(std::move(rest.front()));
    return best;
  }

 private:
  struct Rated {
    Advice advice;
    double gain;  // of the lower bound; above kGains the change helps
  };
  // Lower bound of the run's cycles and its resource.
  struct Least {
    double cycles = 0;
    std::string by;
  };

  void make() {
    struct AdviceVariant {
      DoubledResource candidate;
      MachineConfig machine;
      std::vector<Advice::AdvisedSetting> settings;
    };
    std::vector<AdviceVariant> variants;
    std::vector<MachineConfig> engines = {machine_};
    for (DoubledResource& candidate : candidates(machine_)) {
      if (!is_of_use(candidate)) continue;
      AdviceVariant v{std::move(candidate), machine_, {}};
      if (!change(v.machine, v.candidate.changes, v.settings)) continue;
      if (is_engine(v.candidate)) engines.push_back(v.machine);
      variants.push_back(std::move(v));
    }
    if (native_ && engines.size() > 1) engine_demands_ = schedule::engine_demands(job_, engines);
    const double before = least({}, machine_, 0).cycles;
    std::size_t engine = 0;
    for (AdviceVariant& v : variants) {
      if (is_engine(v.candidate)) ++engine;
      add(v.candidate, std::move(v.settings), before, least(v.candidate, v.machine, engine));
    }
  }

  static bool is_engine(const DoubledResource& c) { return c.less == 1; }

  // Whether the run uses the resource and, for latency, waits for it.
  bool is_of_use(const DoubledResource& c) const {
    if (c.resource == "dma") {
      if (r_.bound.most.resource != "dma") return false;
      const double bursts = static_cast<double>(r_.sum("dma", "bursts"));
      const double bytes = static_cast<double>(r_.sum("dma", "read_bytes") + r_.sum("dma", "write_bytes"));
      return c.changes.front().key != "dma.burst" || bytes > bursts * machine_.dma.burst_bytes / 2;
    }
    const auto& demands = r_.bound.demands;
    return std::any_of(demands.begin(), demands.end(), [&](const Demand& d) { return d.resource == c.resource; });
  }

  // Demand of an engine on a changed machine: at least its useful cycles, divided by the growth of units.
  double engine_cycles(const Demand& demand, const DoubledResource& c, std::size_t engine) const {
    if (!engine_demands_.empty()) {
      const schedule::EngineDemand& then = engine_demands_[engine];
      return demand.resource == "mac" ? then.mac : then.vec;
    }
    double units = 1;
    for (const KeyChange& change : c.changes) units *= change.factor;
    const double ragged = demand.resource == r_.bound.most.resource ? r_.bound.ragged_cycles : demand.cycles;
    return (demand.cycles - ragged) / units;
  }

  // Every DRAM burst occupies one outstanding slot for the DRAM latency. The mean over clusters is a lower bound of the
  // maximum.
  double burst_cycles(const MachineConfig& m) const {
    if (m.dram.policy != "fixed" || m.has_l2() || !m.has_equal_clusters()) return 0;
    const double bytes = std::min(static_cast<double>(r_.max("dma", "read_bytes")),
                                  2 * static_cast<double>(r_.sum("dram", "read_words")) / m.clusters);
    const double burst = m.dma.burst_bytes, beyond = m.dma.counts == DmaCounts::kBursts ? 0 : burst;
    const double places = (static_cast<double>(m.dma.most_counted()) + beyond) / burst;
    return bytes / burst / places * std::floor(m.dram.latency_seconds * m.clock_hz);
  }

  Least least(const DoubledResource& c, const MachineConfig& machine, std::size_t engine) const {
    Least most;
    const auto raise = [&](double cycles, const std::string& by) {
      if (cycles >= most.cycles) most = {cycles, by};
    };
    const schedule::LayerDemand layer = schedule::layer_demand(job_, machine);
    raise(layer.bus, "dram");
    raise(layer.arrays, "mac");
    raise(layer.lanes, "vec");
    raise(burst_cycles(machine), "dma");
    for (const Demand& d : r_.bound.demands) {
      const bool changed = d.resource == c.resource;
      raise(changed && is_engine(c) ? engine_cycles(d, c, engine) : changed ? d.cycles / c.less : d.cycles, d.resource);
    }
    return most;
  }

  // `before`: lower bound on the run's machine.
  void add(const DoubledResource& c, std::vector<Advice::AdvisedSetting> settings, double before, const Least& after) {
    Advice a;
    a.key = c.changes.front().key;
    a.factor = c.changes.front().factor;
    a.settings = std::move(settings);
    a.words = c.words;
    a.at_most = after.cycles > 0 ? std::max(r_.bound.run_cycles / after.cycles, 1.0) : 1;
    a.then = after.by;
    const double then = after.cycles;
    const bool latency = c.resource == "dma";  // no count of work includes it
    const double gain = latency ? HUGE_VAL : before / std::max(then, 1.0);
    a.reason = latency         ? "transfers wait for the latency of bursts"
               : gain > kGains ? fmt::format("the commands need {:.0f} cycles at least, and {:.0f} then", before, then)
                               : fmt::format("the commands need {:.0f} cycles at least with it, too", then);
    advice_.push_back({std::move(a), gain});
  }

  // Another tiling, also one for a larger L1, by the demand of the layer. It precedes machine changes if most of the
  // binding resource's time is edges, or if no change helps.
  void add_tiling(std::vector<Advice>& best, const std::vector<Advice>& rest) const {
    const Bound& b = r_.bound;
    const schedule::LayerDemand layer = schedule::layer_demand(job_, machine_);
    if (layer.cycles() <= 0) return;
    const double ragged = b.most.cycles > 0 ? b.ragged_cycles / b.most.cycles : 0;
    Advice a;
    a.key = "tiling";
    a.words = "another tiling";
    a.same_tiling = false;
    a.at_most = std::max(b.run_cycles / layer.cycles(), 1.0);
    a.then = layer.bus >= layer.cycles() ? "dram" : layer.arrays >= layer.cycles() ? "mac" : "vec";
    a.reason = ragged >= kRaggedShare
                   ? fmt::format("tiles leave {:.0f}% of the busiest engine's work at ragged edges", 100 * ragged)
                   : fmt::format("the layer needs {:.0f} cycles at least", layer.cycles());
    if (a.at_most < kGains) return;
    for (const Advice& other : rest) {
      if (ragged < kRaggedShare || other.key.compare(0, b.most.resource.size(), b.most.resource) != 0) continue;
      a.reason += fmt::format(", {} with them at most {:.2f}x", other.words, other.at_most);
      break;
    }
    const bool first = best.empty() || (ragged >= kRaggedShare && a.at_most > best.front().at_most);
    const std::uint64_t peak = r_.has("l1", "peak_bytes") ? r_.max("l1", "peak_bytes") : 0;
    Advice larger = a;
    MachineConfig machine = machine_;
    const bool small = 2 * peak > machine.l1.size_bytes && machine.has_equal_clusters() &&
                       change(machine, {{"l1.size", 2}}, larger.settings);
    if (small) {
      larger.key = "l1.size";
      larger.factor = 2;
      larger.words = "tiles for twice the L1";
      larger.reason = fmt::format("the tiles fill {:.0f}% of L1",
                                  100 * static_cast<double>(peak) / static_cast<double>(machine_.l1.size_bytes));
    }
    const auto at = first ? best.begin() : best.end();
    const auto tiling = best.insert(at, std::move(a));
    if (small) best.insert(tiling + 1, std::move(larger));
  }

  const RunResult& r_;
  const MachineConfig& machine_;
  bool native_;
  schedule::Job job_;
  std::vector<schedule::EngineDemand> engine_demands_;  // of the machine, then of its changed engines
  std::vector<Rated> advice_;
};

}  // namespace

std::vector<Advice> advice_for(const RunResult& result, const MachineConfig& machine) {
  return Adviser(result, machine).all();
}

}  // namespace attnvp::job
