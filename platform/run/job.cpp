#include "platform/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "firmware/runtime/dataflow.h"
#include "models/memory/storage/host_memory.h"
#include "models/plugin/library.h"
#include "platform/machine/energy.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/run/beside.h"
#include "platform/run/control/gdb_server.h"
#include "platform/run/golden/tensors.h"
#include "platform/run/operations.h"
#include "platform/run/platform.h"
#include "platform/trace/session.h"

namespace attnvp::job {

namespace {

// Measured: host memory of SystemC and models for modules, sockets and a processor thread.
std::uint64_t elaborated_bytes(const MachineConfig& m) {
  constexpr std::uint64_t kBytesOfCluster = 300'000, kBytesOfCore = 110'000;
  return m.clusters * (kBytesOfCluster + m.cores * kBytesOfCore);
}
std::string elaborated_part(const MachineConfig& m) {
  return fmt::format("a machine of {} clusters of {} cores", m.clusters, m.cores);
}

// Live simulations in order of construction, the process's initial one first.
std::vector<sc_core::sc_simcontext*>& simulations() {
  static std::vector<sc_core::sc_simcontext*> all = {sc_core::sc_get_curr_simcontext()};
  return all;
}

}  // namespace

Elaborated::Elaborated(const MachineConfig& machine, bool full_data, std::vector<Partition> partitions)
    : share_(elaborated_part(machine), elaborated_bytes(machine)) {
  // SystemC warnings indicate a mistake in a model.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  // stdout is reserved for the report.
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  // Fatal errors end the process by an error message, not by abort().
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  try {
    platform_ = std::make_unique<Platform>("attnvp", machine, full_data, firmware::boot, std::move(partitions));
  } catch (const PluginError& problem) {
    throw config::ConfigError(problem.what());
  }
}

Elaborated::~Elaborated() {
  const Current current(*this);
  platform_.reset();
}

Elaborated::Current::Current(Elaborated& elaborated)
    : before_(std::exchange(sc_core::sc_curr_simcontext, elaborated.simulation_.context())) {}

Elaborated::Current::~Current() { sc_core::sc_curr_simcontext = before_; }

Elaborated::Simulation::Simulation() {
  simulations();  // includes the initial simulation
  own_ = std::make_unique<sc_core::sc_simcontext>();
  simulations().push_back(own_.get());
  sc_core::sc_curr_simcontext = own_.get();
}

Elaborated::Simulation::~Simulation() {
  auto& all = simulations();
  all.erase(std::find(all.begin(), all.end(), own_.get()));
  sc_core::sc_simcontext* const before = std::exchange(sc_core::sc_curr_simcontext, own_.get());
  sc_core::sc_simcontext* const own = own_.get();
  own_.reset();
  sc_core::sc_curr_simcontext = before == own ? all.back() : before;
}

// Guards of a trace session and a firmware watch, for the duration of a run.

// Ends the trace session also when the simulation throws.
class Tracing {
 public:
  Tracing(trace::Session* session, Platform& platform, const config::EnergyTable& energy) : session_(session) {
    if (session_ != nullptr) session_->begin(platform, energy);
  }
  ~Tracing() {
    if (session_ != nullptr) session_->end();
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  trace::Session* session_;
};

class Watching {
 public:
  Watching(firmware_watch::Watch* watch, Platform& platform) : watch_(watch), platform_(platform) {
    if (watch_ != nullptr) watch_->begin(platform_);
  }
  ~Watching() {
    if (watch_ == nullptr) return;
    if (!platform_.all_finished()) watch_->stuck(platform_.waiting());
    watch_->end();
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  firmware_watch::Watch* watch_;
  Platform& platform_;
};

namespace {

std::uint64_t query_bytes(const workload::Attention& n) { return n.query_elements() * sizeof(arith::Half); }
std::uint64_t key_bytes(const workload::Attention& n) { return n.key_elements() * sizeof(arith::Half); }
std::uint64_t value_bytes(const workload::Attention& n) { return n.value_elements() * sizeof(arith::Half); }

Floorplan floorplan_of(const MachineConfig& machine, const config::EnergyTable& table) {
  const energy::MachineModel model(machine, energy::technology_of(table));
  Floorplan plan;
  for (const energy::ModelPart& part : model.parts()) {
    const double mm2 = part.area_mm2 * static_cast<double>(part.count);
    const auto known = std::find_if(plan.parts.begin(), plan.parts.end(),
                                    [&](const auto& other) { return other.first == part.module; });
    if (known == plan.parts.end()) {
      plan.parts.emplace_back(part.module, mm2);
    } else {  // of another core
      known->second += mm2;
    }
  }
  plan.spare_mm2 = model.spare_mm2();
  const energy::Figure area = model.area_range();
  plan.low_mm2 = area.value * area.low;
  plan.high_mm2 = area.value * area.high;
  return plan;
}

}  // namespace

AttentionShape shape_of(const workload::Attention& n) {
  const workload::Attention f = n.folded();
  AttentionShape shape{f.batch,
                       f.heads,
                       f.seq_q,
                       f.seq_kv,
                       f.emb,
                       f.mask,
                       f.scale,
                       f.softmax,
                       f.type,
                       f.out,
                       static_cast<double>(f.soft_cap),
                       f.value_emb};
  shape.blocks = n.block_mask();
  shape.valid.assign(n.valid.begin(), n.valid.end());
  if (n.bias != workload::Bias::kNone) {
    shape.bias = [&n](std::uint32_t head, std::uint32_t query, std::uint32_t key) {
      return workload::bias_of(n, head, query, key);
    };
  }
  for (std::uint32_t head = 0; n.sink && head < n.heads; ++head) {
    shape.sinks.push_back(static_cast<double>(arith::float_from_half(workload::sink_of(head))));
  }
  return shape;
}

Runner::Runner(const MachineConfig& machine, config::EnergyTable energy, bool full_data)
    : energy_(energy::resolved(std::move(energy), machine)),
      floorplan_(floorplan_of(machine, energy_)),
      elaborated_(std::in_place, machine, full_data) {}

Runner::~Runner() = default;
Platform& Runner::platform() { return elaborated_->platform(); }

RunResult Runner::run(const workload::Workload& network, const Schedule& schedule, const Tensors* tensors,
                      const RunOptions& options) {
  std::optional<Elaborated::Current> current(std::in_place, *elaborated_);
  platform().context().cycle_limit.set_for_job(ideal_cycles(network, platform().machine()), options.most_cycles);
  check_complete(schedule);
  const bool fresh = sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME;
  const auto time_has_run_out = [this]() -> bool& { return platform().context().event_queue.time_has_run_out; };
  time_has_run_out() = false;
  try {
    RunResult result = run_once(network, schedule, tensors, options);
    if (!time_has_run_out()) return result;
  } catch (const RunError&) {
    if (!time_has_run_out()) throw;
  }
  if (fresh) {
    const Clock& clock = platform().context().clock;
    throw RunError(
        fmt::format("{} on {} with {}: it takes more than 2^64 fs of simulated time, which are {} cycles at {}; a "
                    "faster clock or a "
                    "smaller layer is needed",
                    network.name(), platform().machine().name, schedule.text, clock.most_cycles(),
                    config::format_real(config::KeyUnit::kFrequency, clock.hertz())));
  }
  // The elapsed time belongs to the earlier jobs.
  const MachineConfig machine = platform().machine();
  const bool full = platform().context().full_data;
  current.reset();
  elaborated_.reset();
  elaborated_.emplace(machine, full);
  return run(network, schedule, tensors, options);
}

RunResult Runner::run_once(const workload::Workload& network, const Schedule& schedule, const Tensors* tensors,
                           const RunOptions& options) {
  Platform& p = platform();
  const Placed placed(p, {}, p.machine(), network, schedule, tensors);
  placed.tag();
  RunResult result;
  result.network = network;
  result.schedule = schedule;
  const auto events = [&p] { return sc_core::sc_delta_count() + p.context().event_queue.events_done(); };
  const std::uint64_t before = events();
  const auto start = std::chrono::steady_clock::now();
  try {
    const Tracing tracing(options.trace, p, for_type(energy_, network.type()));
    const Watching watching(options.watch, p);
    result.cycles = p.run();
  } catch (const sc_core::sc_report& e) {  // exception in a process
    throw RunError(fmt::format("{}: {} (cycle {})", placed.what(), e.get_msg(), p.context().cycles()));
  }
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.events = events() - before;
  result.skipped_cycles = p.context().skipped_cycles;

  check_ended(p, placed.what());
  placed.read_answers(result);
  collect(result);
  placed.read_output(result, options.check_golden);
  return result;
}

void Runner::collect(RunResult& result) {
  Platform& p = platform();
  result.frequency_hz = p.machine().clock_hz;
  result.counters =
      read_counters(p.modules(), for_type(energy_, result.network.type()), p.machine().technology, result.cycles);
  result.floorplan = floorplan_;
  result.tdp_watts = p.machine().technology.tdp_watts;
  const auto total = static_cast<double>(std::max<std::uint64_t>(result.cycles, 1));
  const auto share = [&](const char* module, std::uint32_t instances) {
    return static_cast<double>(result.sum(module, "busy_cycles")) / (total * instances);
  };
  const MachineConfig& m = p.machine();
  const std::uint32_t cores = m.clusters * m.cores;
  result.peak.macs_per_cycle = static_cast<std::uint64_t>(m.macs_per_cycle());
  result.peak.vec_lanes = static_cast<std::uint64_t>(m.vec_lanes());
  result.peak.l1_bytes =
      static_cast<std::uint64_t>(m.sum_of_clusters([](const MachineConfig& c) { return c.l1.size_bytes; }));
  result.peak.dram_bytes_per_cycle = m.dram.bytes_per_second / m.clock_hz;
  result.peak.l1_bytes_per_cycle = m.sum_of_clusters([](const MachineConfig& c) {
    const std::uint64_t ports = std::uint64_t{c.l1.ports} * c.l1.port_bytes_per_cycle;
    return std::min(ports, std::uint64_t{c.l1.banks} * c.l1.bank_bytes_per_cycle);
  });
  result.unit_times = unit_times(p, result.cycles);
  result.bound = bound_of(result, m);
  result.utilization = {share("mac", cores), share("vec", cores), share("dma", p.machine().clusters), share("dram", 1)};
}

Tensors random_tensors(const workload::Workload& workload, std::uint64_t seed) {
  if (!workload.is_attention()) return random_operands(workload, seed);
  const workload::Attention& network = workload.attention();
  const std::uint64_t bytes = query_bytes(network) + key_bytes(network) + value_bytes(network);
  const host_memory::MemoryShare briefly(fmt::format("the random tensors of {}", network.name), bytes);
  AttentionShape shape = shape_of(network);
  if (network.ragged()) {  // one batch of one head with all queries and keys
    shape = {1, 1, network.query_elements() / network.emb, network.key_elements() / network.emb, network.emb};
    shape.value_width = network.value_emb;
  }
  AttentionTensors t = random_attention(shape, seed, kScoreSpread / network.scale);
  if (network.shares_pages()) {
    share_pages(network, network.emb, t.k);
    share_pages(network, network.values(), t.v);
  }
  return {std::move(t.q), std::move(t.k), std::move(t.v)};
}

// Aggregates of a result's counters.

namespace {

bool ends_with_module(std::string_view name, std::string_view module) {
  return name.size() > module.size() && name.substr(name.size() - module.size()) == module &&
         name[name.size() - module.size() - 1] == '.';
}

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

double Floorplan::total_mm2() const {
  double total = spare_mm2;
  for (const auto& part : parts) total += part.second;
  return total;
}

std::uint64_t RunResult::sum(std::string_view module, std::string_view counter) const {
  std::uint64_t total = 0;
  for (const CounterValue& c : counters) {
    if (c.name == counter && ends_with_module(c.module, module)) total += c.value;
  }
  return total;
}

std::uint64_t RunResult::max(std::string_view module, std::string_view counter) const {
  std::uint64_t most = 0;
  for (const CounterValue& c : counters) {
    if (c.name == counter && ends_with_module(c.module, module)) most = std::max(most, c.value);
  }
  return most;
}

std::uint64_t RunResult::statistic(std::string_view name) const {
  for (const auto& [known, value] : statistics) {
    if (known == name) return value;
  }
  return 0;
}

bool RunResult::has(std::string_view module, std::string_view counter) const {
  return std::any_of(counters.begin(), counters.end(),
                     [&](const CounterValue& c) { return c.name == counter && ends_with_module(c.module, module); });
}

std::vector<std::string> RunResult::memories() const {
  std::vector<std::string> names;
  for (const CounterValue& c : counters) {
    if (c.name == "read_words") add_new(names, c.module.substr(c.module.rfind('.') + 1));
  }
  return names;
}

std::vector<std::string> RunResult::energy_parts() const {
  std::vector<std::string> parts;
  for (const CounterValue& c : counters) {
    if (!c.component.empty()) add_new(parts, part_of(c.component));
  }
  // Parts without computation come last.
  for (const char* part : {"network", "events", "dma", "control", "gating", "clock", "leakage"}) {
    const auto found = std::find(parts.begin(), parts.end(), part);
    if (found != parts.end()) std::rotate(found, found + 1, parts.end());
  }
  return parts;
}

double RunResult::energy_pj(std::string_view part) const {
  double total = 0;
  for (const CounterValue& c : counters) {
    if (!c.component.empty() && part_of(c.component) == part) total += c.energy_pj;
  }
  return total;
}

double RunResult::total_energy_pj() const {
  double total = 0;
  for (const CounterValue& c : counters) total += c.energy_pj;
  return total;
}

}  // namespace attnvp::job
