#include "explore/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>

#include "explore/tuning/cache.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/document.h"
#include "platform/machine/hardware.h"
#include "platform/workload/layers.h"

namespace attnvp::explore {

namespace {

using config::fail;

Quantity key_quantity(const config::Key<MachineConfig>& key, const MachineConfig& machine) {
  const config::Value value = key.get(machine);
  if (key.type == config::Type::kReal) return std::get<double>(value);
  if (key.type == config::Type::kInteger) return static_cast<double>(std::get<std::uint64_t>(value));
  return config::format_value(key, value);
}

// Identity of a workload; if its scope is a layer or a model, of all operations.
std::string identity_of(const workload::Workload& n) {
  if (n.scope == workload::Scope::kAttention) return n.identity();
  std::string text = n.model.fuse == workload::Fuse::kAuto ? "fused by time\n" : "";
  for (const workload::LayerGroup& g : workload::groups_of(n)) {
    text += fmt::format("{} layers:\n", g.count);
    for (const workload::LayerOperation& o : g.operations) {
      text += fmt::format("{} times {}\n", o.count, o.workload.identity());
    }
  }
  return text;
}

class Planner {
 public:
  explicit Planner(const SweepFile& sweep) : sweep_(sweep) {
    plan_.full = sweep.full;
    plan_.name = text::printable(sweep.name);
    for (const Axis& axis : sweep.axes) keys_.insert(keys_.end(), axis.keys.begin(), axis.keys.end());
    for (const auto* list : {&sweep.axes, &sweep.crossed}) {
      for (const Axis& axis : *list) {
        if (axis.range || axis.values.size() > 1) plan_.axes.push_back(axis.keys.front());
      }
    }
  }

  SweepPlan plan() {
    if (sweep_.kind == SweepKind::kGrid) check_size(grid_size(sweep_.axes) * crossed_size());
    for_each_point(sweep_, [this](const SweepPoint& point) { return add_point(point); });
    if (plan_.jobs.empty()) {
      fail({sweep_.source},
           fmt::format("the constraints refuse all of the {} points; there is no job to do", plan_.excluded));
    }
    std::stable_sort(plan_.jobs.begin(), plan_.jobs.end(),
                     [](const SweepJob& a, const SweepJob& b) { return a.machine < b.machine; });
    return std::move(plan_);
  }

 private:
  double crossed_size() const {
    double size = 1;
    for (const Axis& axis : sweep_.crossed) size *= static_cast<double>(std::max<std::size_t>(axis.values.size(), 1));
    return size;
  }
  void check_size(double jobs) const {
    if (jobs > static_cast<double>(kMostJobs)) {
      fail({sweep_.source},
           fmt::format("the sweep has {:.4g} jobs; allowed are {}; kind random or lhs takes samples", jobs, kMostJobs));
    }
  }

  // Adds all jobs of a point; returns true if the constraints leave at least one new job.
  bool add_point(const SweepPoint& point) {
    const auto value_of = [&](const std::string& key) {
      const auto found = std::find(keys_.begin(), keys_.end(), key);
      return found == keys_.end() ? nullptr : &point[static_cast<std::size_t>(found - keys_.begin())];
    };
    // Crossed lists, reduced to the point's value if they are an axis.
    std::vector<std::vector<std::string>> lists;
    for (std::size_t c = 0; c < kChoices.size(); ++c) {
      std::vector<std::string> list;
      if (const std::string* one = value_of(kChoices[c])) list = {*one};
      for (const auto& texts : sweep_.crossed[c].values) list.push_back(texts.front());
      lists.push_back(std::move(list));
    }
    bool added = false;
    for (const std::string& hardware : lists[0]) {
      const std::size_t machines = plan_.machines.size(), jobs = plan_.jobs.size();
      const std::uint32_t machine = machine_of(hardware, point);
      for (const std::string& network : lists[1]) {
        for (const std::string& dataflow : lists[2]) {
          for (const std::string& tiling : lists[3]) {
            added |= add_job({machine, network_of(network), schedule_of(dataflow, tiling), {}});
          }
        }
      }
      if (plan_.machines.size() > machines && plan_.jobs.size() == jobs) drop_last_machine();
    }
    return added;
  }

  // Drops a machine without jobs, because constraints may exclude millions of machines.
  void drop_last_machine() {
    plan_.machines.pop_back();
    machine_numbers_.erase(last_machine_);
  }

  std::uint32_t machine_of(const std::string& hardware, const SweepPoint& point) {
    std::string text = hardware;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (config::find_key(keys_[i]) != nullptr) text += "\n" + point[i];
    }
    const auto [known, inserted] = machine_numbers_.emplace(text, plan_.machines.size());
    if (!inserted) return known->second;
    last_machine_ = text;
    auto base = bases_.find(hardware);
    if (base == bases_.end()) base = bases_.emplace(hardware, config::load_hardware(hardware)).first;
    PlannedMachine m{hardware, base->second, {}, {}};
    for (const config::Setting& s : sweep_.settings) config::apply_setting(m.config, s);
    for (const bool number : {true, false}) {  // the numbers are set before keys of single cores and clusters
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        const bool is_number = keys_[i] == "cores" || keys_[i] == "clusters";
        if (config::find_key(keys_[i]) == nullptr || is_number != number) continue;
        config::apply_setting(m.config, {keys_[i], point[i], {sweep_.source}});
      }
    }
    for (const Derived& derived : sweep_.derived) apply(derived, m);
    try {
      config::finish_machine(m.config, {hardware});
    } catch (const config::ConfigError& problem) {
      m.problem = problem.what();
    }
    m.settings = settings_between(base->second, m.config);
    plan_.machines.push_back(std::move(m));
    return known->second;
  }

  // Settings that make one machine of another.
  static std::string settings_between(const MachineConfig& base, const MachineConfig& machine) {
    std::string settings;
    const auto add = [&](const config::Key<MachineConfig>& key) {
      const std::string value = config::format_value(key, key.get(machine));
      settings += " --set " + text::shell_word(fmt::format("{}={}", key.path, value));
    };
    const bool new_cores = machine.core_overrides.empty() && !base.core_overrides.empty();
    const bool new_clusters = machine.cluster_overrides.empty() && !base.cluster_overrides.empty();
    for (const auto& key : config::hardware_schema().keys()) {
      const bool anew = (new_cores && key.path == "cores") || (new_clusters && key.path == "clusters");
      if (anew || key.get(machine) != key.get(base)) add(key);
    }
    const auto differs = [&](const config::Key<MachineConfig>& key) {
      return key.get(machine) != key.get(base) || machine.cores != base.cores || machine.clusters != base.clusters;
    };
    for (std::uint32_t k = 0; k < machine.core_overrides.size(); ++k) {
      for (const auto& [path, value] : machine.core_overrides[k]) {
        const auto key = config::find_key(fmt::format("cores.{}.{}", k, path));
        if (differs(*key)) add(*key);
      }
    }
    for (std::uint32_t c = 0; c < machine.cluster_overrides.size(); ++c) {
      for (const auto& [path, value] : machine.cluster_overrides[c]) {
        const auto key = config::find_key(fmt::format("clusters.{}.{}", c, path));
        if (differs(*key)) add(*key);
      }
    }
    return settings;
  }

  void apply(const Derived& derived, PlannedMachine& m) const {
    const auto values = [&](const std::string& name) -> Quantity {
      const auto key = config::find_key(name);
      if (key != nullptr) return key_quantity(*key, m.config);
      if (name == "hardware") return m.hardware;
      fail(derived.origin,
           fmt::format("key '{}': '{}' is not known of a machine; allowed are its keys", derived.key, name));
    };
    const auto key = config::find_key(derived.key);
    const double value = derived.expression.value(values);
    const auto refuse = [&](const std::string& why) {
      fail(derived.origin, fmt::format("key '{}': {} is {:.6g} for{}; {}", derived.key, derived.expression.text(),
                                       value, m.settings.empty() ? " a machine of the sweep" : m.settings, why));
    };
    if (!std::isfinite(value) || value < 0) refuse("allowed is " + config::allowed_range(*key));
    if (key->type == config::Type::kInteger && value != std::floor(value)) {
      refuse("allowed is a whole number; floor(), ceil() and round() make one");
    }
    config::Value typed = value;
    if (key->type == config::Type::kInteger) typed = static_cast<std::uint64_t>(std::min(value, 1e18));
    try {
      config::check_value(*key, typed);
    } catch (const config::ConfigError& problem) {
      fail(derived.origin, fmt::format("key '{}': {}: {}", derived.key, derived.expression.text(), problem.what()));
    }
    key->set(m.config, typed);
  }

  std::uint32_t network_of(const std::string& text) {
    const auto found = std::find(plan_.network_texts.begin(), plan_.network_texts.end(), text);
    if (found != plan_.network_texts.end()) {
      return static_cast<std::uint32_t>(found - plan_.network_texts.begin());
    }
    plan_.network_texts.push_back(text);
    plan_.networks.push_back(workload::load(text));
    return static_cast<std::uint32_t>(plan_.networks.size() - 1);
  }

  std::uint32_t schedule_of(const std::string& dataflow, const std::string& tiling) {
    const auto [known, inserted] = schedule_numbers_.emplace(std::pair(dataflow, tiling), plan_.schedules.size());
    if (!inserted) return known->second;
    PlannedSchedule s;
    s.tiling = tiling;
    s.searched = tiling == "auto";
    s.is_auto = dataflow == "auto";
    s.schedule = job::parse_dataflow(s.is_auto ? "mas" : dataflow);
    if (s.is_auto) s.schedule.text = s.schedule.dataflow = dataflow;
    if (!s.searched) s.schedule.tiling = job::parse_tiling(tiling);
    plan_.schedules.push_back(std::move(s));
    return known->second;
  }

  bool add_job(SweepJob job) {
    const PlannedMachine& m = plan_.machines[job.machine];
    const workload::Workload& n = plan_.networks[job.network];
    const PlannedSchedule& s = plan_.schedules[job.schedule];
    const auto values = [&](const std::string& name) -> Quantity {
      if (const auto key = config::find_key(name)) return key_quantity(*key, m.config);
      if (name == "hardware") return m.hardware;
      if (name == "network") return plan_.network_texts[job.network];
      if (name == "dataflow") return s.schedule.text;
      if (name == "tiling") return s.tiling;
      const workload::Extents e = n.extents();
      if (name == "network.batch") return static_cast<double>(e.batch);
      if (name == "network.heads") return static_cast<double>(e.heads);
      if (name == "network.seq_q") return static_cast<double>(e.seq_q);
      if (name == "network.seq_kv") return static_cast<double>(e.seq_kv);
      if (name == "network.kv_heads") return static_cast<double>(n.heads_of_kv());
      if (name == "network.contexts") {
        return n.is_ragged() ? fmt::format("{}", fmt::join(n.attention().contexts, "+")) : std::string();
      }
      if (name == "network.emb") return static_cast<double>(e.emb);
      return std::string(plan_.full ? "full" : "timing");
    };
    const bool allowed = std::all_of(sweep_.constraints.begin(), sweep_.constraints.end(),
                                     [&](const auto& c) { return c.first.holds(values); });
    if (!allowed) {
      ++plan_.excluded;
      return false;
    }
    job.key = text::uuid_of(text_of(m, n, s));
    if (!seen_.insert(job.key).second) return false;
    plan_.jobs.push_back(std::move(job));
    check_size(static_cast<double>(plan_.jobs.size()));
    return true;
  }

  // Everything that determines the job's results.
  std::string text_of(const PlannedMachine& m, const workload::Workload& n, const PlannedSchedule& s) {
    std::string& energies = energy_texts_[m.config.energy];
    if (energies.empty())
      energies = text::uuid_of(config::read_text_file(config::load_energy(m.config.energy).source()));
    std::string text = fmt::format("simulator {}\n{}energies {}\nnetwork {} {}\ndataflow {} {}\ntiling",
                                   explore::simulator_fingerprint(), config::to_yaml(m.config), energies, n.name(),
                                   identity_of(n), s.schedule.dataflow, fmt::join(s.schedule.options, " "));
    for (const auto& [key, value] : job::tiling_text(s.schedule.tiling)) text += fmt::format(" {}={}", key, value);
    return text + fmt::format("{}\ndata {}\n", s.searched ? " auto" : "", plan_.full ? "full" : "timing");
  }

  const SweepFile& sweep_;
  SweepPlan plan_;
  std::vector<std::string> keys_;  // of all axes, in the order of SweepPoint
  std::map<std::string, MachineConfig> bases_;
  std::map<std::string, std::uint32_t> machine_numbers_;
  std::string last_machine_;  // last key of machine_numbers_
  std::map<std::pair<std::string, std::string>, std::uint32_t> schedule_numbers_;
  std::map<std::string, std::string> energy_texts_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

std::string SweepPlan::command(const SweepJob& job) const {
  const PlannedMachine& m = machines[job.machine];
  const PlannedSchedule& s = schedules[job.schedule];
  return fmt::format("attnvp run --hw {}{} --net {} --dataflow {}{}{}", text::shell_word(m.hardware), m.settings,
                     text::shell_word(network_texts[job.network]), text::shell_word(s.schedule.text),
                     s.tiling == "default" ? "" : " --tiling " + text::shell_word(s.tiling),
                     full ? "" : " --data timing");
}

std::string SweepPlan::identity() const {
  std::set<std::string> keys;
  for (const SweepJob& job : jobs) keys.insert(job.key);
  return text::uuid_of(fmt::format("{}", fmt::join(keys, "\n")));
}

SweepPlan make_plan(const SweepFile& sweep) { return Planner(sweep).plan(); }

std::vector<std::uint32_t> share_of(const SweepPlan& plan, std::uint32_t k, std::uint32_t n) {
  // Sharding by machine avoids repeated elaboration; with few machines, sharding by job balances better.
  const bool by_machine = plan.machines.size() >= std::size_t{8} * n;
  std::vector<std::uint32_t> share;
  for (std::uint32_t i = 0; i < plan.jobs.size(); ++i) {
    if ((by_machine ? plan.jobs[i].machine : i) % n == k - 1) share.push_back(i);
  }
  return share;
}

}  // namespace attnvp::explore
