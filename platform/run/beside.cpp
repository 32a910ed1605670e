#include "platform/run/beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>

#include "firmware/hal/registers.h"
#include "platform/machine/energy/machine_model.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/run/platform.h"

namespace attnvp::job {

namespace {

// Counts the DRAM traffic of a job's clusters.
class DramMeter final : public Interconnect::Listener {
 public:
  void heard(tlm::tlm_generic_payload& payload) override {
    if (payload.get_address() < hal::kDramBase || payload.get_address() >= hal::kL2Base) return;
    (payload.is_read() ? read : written) += payload.get_data_length();
  }
  std::uint64_t read = 0, written = 0;
};

void listen(Platform& platform, const ClusterRange& clusters, DramMeter* meter) {
  for (std::uint32_t c = clusters.first; c < clusters.end(); ++c) {
    platform.bus->tell(Platform::processor_name(c), meter);
    platform.bus->tell(Platform::dma_name(c), meter);
  }
}

std::vector<Partition> partitions_of(const MachineConfig& machine, const std::vector<MachinePart>& parts) {
  std::vector<Partition> all(machine.clusters);
  for (const MachinePart& part : parts) {
    for (std::uint32_t c = part.clusters.first; c < part.clusters.end(); ++c) all[c] = part.partition;
  }
  return all;
}

std::vector<std::uint32_t> numbers(const ClusterRange& clusters) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t c = clusters.first; c < clusters.end(); ++c) all.push_back(c);
  return all;
}

void simulate(Platform& platform, const std::vector<std::uint32_t>& clusters, const std::string& what) {
  platform.context().event_queue.time_has_run_out = false;
  platform.run(clusters);
  if (platform.context().event_queue.time_has_run_out) {
    throw RunError(fmt::format("{}: it takes more than 2^64 fs of simulated time, which are {} cycles", what,
                               platform.context().clock.most_cycles()));
  }
  check_ended(platform, what);
}

std::uint64_t cycles_of(const Platform& platform, const ClusterRange& clusters) {
  std::uint64_t cycles = 0;
  for (const std::uint32_t c : numbers(clusters)) cycles = std::max(cycles, platform.cycles_of(c));
  return cycles;
}

// Counters of the wanted clusters' modules; kShared: of the shared modules.
constexpr long kShared = -1;
template <typename Wanted>
void add_counters(std::vector<CounterValue>& to, Platform& platform, const config::EnergyTable& energy,
                  std::uint64_t cycles, const Wanted& wanted) {
  const std::string prefix = fmt::format("{}.cluster", platform.name());
  for (CounterValue& value : read_counters(platform.modules(), energy, platform.machine().technology, cycles)) {
    const bool shared = value.module.rfind(prefix, 0) != 0;
    if (wanted(shared ? kShared : std::stol(value.module.substr(prefix.size())))) to.push_back(std::move(value));
  }
}

// Counters of the whole machine. The energy of MAC engines is that of their job's element type.
std::vector<CounterValue> all_counters(Platform& platform, const config::EnergyTable& energy, std::uint64_t cycles,
                                       const std::vector<MachinePart>& parts, const std::vector<Neighbour>& jobs) {
  std::vector<hal::ElementType> types(platform.machine().clusters, hal::ElementType::kFp16);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const std::uint32_t c : numbers(parts[i].clusters)) types[c] = jobs[i].network.type();
  }
  std::vector<CounterValue> all;
  add_counters(all, platform, energy, cycles, [](long cluster) { return cluster == kShared; });
  for (const hal::ElementType type : std::set<hal::ElementType>(types.begin(), types.end())) {
    add_counters(all, platform, for_type(energy, type), cycles,
                 [&](long cluster) { return cluster != kShared && types[static_cast<std::size_t>(cluster)] == type; });
  }
  return all;
}

Utilization utilization_of(const RunResult& r, const MachineConfig& m) {
  const auto share = [&](const char* module, std::uint32_t instances) {
    const auto total = static_cast<double>(std::max<std::uint64_t>(r.cycles, 1));
    return static_cast<double>(r.sum(module, "busy_cycles")) / (total * instances);
  };
  const std::uint32_t cores = m.clusters * m.cores;
  return {share("mac", cores), share("vec", cores), share("dma", m.clusters), share("dram", 1)};
}

}  // namespace

double NeighbourResult::slowdown() const {
  return static_cast<double>(result.cycles) / static_cast<double>(std::max<std::uint64_t>(alone_cycles, 1));
}

double SideBySide::share(const NeighbourResult& job) const {
  std::uint64_t all = 0;
  for (const NeighbourResult& j : jobs) all += j.dram_bytes();
  return all == 0 ? 0 : static_cast<double>(job.dram_bytes()) / static_cast<double>(all);
}

SideBySide run_beside(const MachineConfig& machine, const config::EnergyTable& table, bool full_data,
                      const std::vector<MachinePart>& parts, const std::vector<Neighbour>& jobs) {
  const config::EnergyTable energy = energy::resolved(table, machine);
  double ideal = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) ideal += ideal_cycles(jobs[i].network, parts[i].machine);
  const std::vector<Partition> partitions = partitions_of(machine, parts);
  std::vector<Schedule> schedules;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    check_complete(jobs[i].schedule);
    schedules.push_back(jobs[i].schedule);
  }
  SideBySide all;
  all.jobs.resize(jobs.size());
  {
    Elaborated elaborated(machine, full_data, partitions);
    Platform& platform = elaborated.platform();
    platform.context().cycle_limit.set_for_job(ideal);
    std::vector<std::unique_ptr<Placed>> placed;
    std::vector<std::uint32_t> booted;
    std::vector<DramMeter> meters(jobs.size());
    std::string what;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Neighbour& job = jobs[i];
      placed.push_back(std::make_unique<Placed>(platform, parts[i].partition, parts[i].machine, job.network,
                                                schedules[i], full_data ? &job.tensors : nullptr));
      for (const std::uint32_t c : numbers(parts[i].clusters)) booted.push_back(c);
      listen(platform, parts[i].clusters, &meters[i]);
      what += (i > 0 ? " beside " : "") + placed.back()->what();
    }
    simulate(platform, booted, what);
    all.frequency_hz = machine.clock_hz;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      NeighbourResult& job = all.jobs[i];
      RunResult& r = job.result;
      job.clusters = parts[i].clusters;
      job.dram_read_bytes = meters[i].read;
      job.dram_write_bytes = meters[i].written;
      r.network = jobs[i].network;
      r.schedule = schedules[i];
      r.frequency_hz = machine.clock_hz;
      r.cycles = cycles_of(platform, job.clusters);
      add_counters(r.counters, platform, for_type(energy, r.network.type()), r.cycles, [&](long cluster) {
        return cluster >= long{job.clusters.first} && cluster < long{job.clusters.end()};
      });
      r.utilization = utilization_of(r, parts[i].machine);
      placed[i]->read_answers(r);
      placed[i]->read_output(r, true);
      all.cycles = std::max(all.cycles, r.cycles);
    }
    RunResult& whole = all.machine;
    whole.cycles = all.cycles;
    whole.frequency_hz = machine.clock_hz;
    whole.counters = all_counters(platform, energy, all.cycles, parts, jobs);
    whole.utilization = utilization_of(whole, machine);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs.size() == 1) {
      all.jobs[i].alone_cycles = all.cycles;
      break;
    }
    Elaborated elaborated(machine, false, partitions);
    elaborated.platform().context().cycle_limit.set_for_job(ideal);
    const Placed placed(elaborated.platform(), parts[i].partition, parts[i].machine, jobs[i].network, schedules[i],
                        nullptr);
    simulate(elaborated.platform(), numbers(parts[i].clusters), placed.what());
    all.jobs[i].alone_cycles = cycles_of(elaborated.platform(), parts[i].clusters);
  }
  return all;
}

namespace {

constexpr std::uint64_t kMostParts = (hal::kControlBase - hal::kMailboxBase) / hal::kMailboxSize;
constexpr std::uint64_t kPartAlignment = 4096;

std::uint64_t even_part(std::uint64_t bytes, std::size_t parts) {
  return bytes / parts / kPartAlignment * kPartAlignment;
}

// Parses a whole number without further characters.
bool read_number(std::string_view text, std::uint32_t& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size();
}

std::string there_are(const MachineConfig& machine) {
  return fmt::format("{} has {}", machine.name,
                     machine.clusters == 1 ? "one cluster, 0" : fmt::format("clusters 0 to {}", machine.clusters - 1));
}

}  // namespace

std::string ClusterRange::text() const {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, end() - 1);
}

ClusterRange parse_clusters(const std::string& text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  std::uint32_t first = 0, last = 0;
  const bool one = dash == text.size();
  const bool good = read_number(std::string_view(text).substr(0, dash), first) &&
                    (one || read_number(std::string_view(text).substr(dash + 1), last));
  if (!good) {
    throw config::ConfigError(fmt::format(
        "clusters: found {}; allowed is a cluster or a range of them, such as 2 or 0-1", config::in_quotes(text)));
  }
  if (one) last = first;
  if (last < first) {
    throw config::ConfigError(
        fmt::format("clusters: found {}, which are none; allowed is the lower number first", config::in_quotes(text)));
  }
  if (last - first == UINT32_MAX) last -= 1;  // exceeds any machine
  return {first, last - first + 1};
}

std::vector<MachinePart> parts_of(const MachineConfig& machine, const std::vector<ClusterRange>& wanted) {
  if (wanted.size() > kMostParts) {
    throw config::ConfigError(
        fmt::format("{} jobs are to run side by side; allowed are {}", wanted.size(), kMostParts));
  }
  std::vector<const ClusterRange*> owner(machine.clusters, nullptr);
  for (const ClusterRange& c : wanted) {
    if (std::uint64_t{c.first} + c.count > machine.clusters) {
      throw config::ConfigError(fmt::format("clusters {}: {}", c.text(), there_are(machine)));
    }
    for (std::uint32_t i = c.first; i < c.end(); ++i) {
      if (owner[i] != nullptr) {
        throw config::ConfigError(fmt::format("two jobs want cluster {}: clusters {} and {}; each has its own", i,
                                              owner[i]->text(), c.text()));
      }
      owner[i] = &c;
    }
  }
  std::vector<MachinePart> parts;
  const std::uint64_t dram =
      wanted.size() == 1 ? machine.dram.size_bytes : even_part(machine.dram.size_bytes, wanted.size());
  const std::uint64_t l2 = wanted.size() == 1 ? machine.l2.size_bytes : even_part(machine.l2.size_bytes, wanted.size());
  for (const ClusterRange& c : wanted) {
    const std::uint64_t i = parts.size();
    MachinePart part{c, {c.first, i * hal::kMailboxSize, i * dram, i * l2}, machine};
    part.machine.name = fmt::format("cluster{} {} of {}", c.count == 1 ? "" : "s", c.text(), machine.name);
    part.machine.clusters = c.count;
    if (!machine.cluster_overrides.empty()) {
      auto& overrides = part.machine.cluster_overrides;
      overrides.resize(machine.clusters);
      overrides = {overrides.begin() + c.first, overrides.begin() + c.end()};
      if (part.machine.has_equal_clusters()) part.machine = part.machine.with_cluster(0);
    }
    part.machine.dram.size_bytes = dram;
    part.machine.l2.size_bytes = l2;
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace attnvp::job
