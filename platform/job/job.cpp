#include "platform/job/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "models/storage/host_memory.h"
#include "platform/config/error.h"
#include "platform/config/units.h"
#include "platform/elaboration/platform.h"
#include "platform/energy/machine_model.h"
#include "platform/firmware/firmware_watch.h"
#include "platform/job/attached.h"
#include "platform/job/attention_shape.h"
#include "platform/job/elaborated.h"
#include "platform/job/placed.h"
#include "platform/job/random_tensors.h"
#include "platform/job/steps.h"
#include "platform/trace/session.h"

namespace attnvp::job {

namespace {

std::uint64_t query_bytes(const config::Network& n) { return n.query_elements() * sizeof(arith::Half); }
std::uint64_t key_bytes(const config::Network& n) { return n.key_elements() * sizeof(arith::Half); }
std::uint64_t value_bytes(const config::Network& n) { return n.value_elements() * sizeof(arith::Half); }

Floorplan floorplan_of(const MachineConfig& machine, const config::EnergyTable& table) {
  const energy::MachineModel model(machine, energy::technology_of(table));
  Floorplan plan;
  for (const energy::Part& part : model.parts()) {
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
  return plan;
}

// Requests that share a page of the cache have the numbers of the first of them there. `rows`: K or V of every batch,
// head after head.
void share_pages(const config::Network& n, std::size_t columns, std::vector<arith::Half>& rows) {
  struct Place {
    std::size_t start, tokens;  // of a batch's first head, in elements; of the batch
    std::uint32_t token;        // the page's first one
  };
  std::vector<std::optional<Place>> owners(n.pages());
  const std::vector<std::uint32_t> table = n.page_table();
  std::size_t start = 0, entry = 0;
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    const std::size_t tokens = n.context(b);
    for (std::uint32_t token = 0; token < tokens; token += n.page, ++entry) {
      std::optional<Place>& owner = owners.at(table[entry]);
      if (!owner) {
        owner = {start, tokens, token};
        continue;
      }
      const std::size_t some = std::min<std::size_t>(n.page, tokens - token);
      for (std::size_t head = 0; head < n.heads_of_kv(); ++head) {
        const auto from = static_cast<std::ptrdiff_t>(owner->start + (head * owner->tokens + owner->token) * columns);
        const auto to = static_cast<std::ptrdiff_t>(start + (head * tokens + token) * columns);
        std::copy_n(rows.begin() + from, some * columns, rows.begin() + to);
      }
    }
    start += tokens * n.heads_of_kv() * columns;
  }
}

}  // namespace

AttentionShape shape_of(const config::Network& n) {
  const config::Network f = n.folded();
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
  if (n.bias != config::Bias::kNone) {
    shape.bias = [&n](std::uint32_t head, std::uint32_t query, std::uint32_t key) {
      return config::bias_of(n, head, query, key);
    };
  }
  return shape;
}

Runner::Runner(const MachineConfig& machine, config::EnergyTable energy, bool full_data)
    : energy_(energy::resolved(std::move(energy), machine)),
      floorplan_(floorplan_of(machine, energy_)),
      elaborated_(std::in_place, machine, full_data) {}

Runner::~Runner() = default;
Platform& Runner::platform() { return elaborated_->platform(); }

Result Runner::run(const config::Network& network, const Schedule& schedule, const Tensors* tensors,
                   const RunOptions& options) {
  std::optional<Elaborated::Current> current(std::in_place, *elaborated_);
  platform().context().cycle_limit.set_for_job(ideal_cycles(network, platform().machine()), options.most_cycles);
  check_complete(schedule);
  const bool fresh = sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME;
  const auto time_has_run_out = [this]() -> bool& { return platform().context().event_queue.time_has_run_out; };
  time_has_run_out() = false;
  try {
    Result result = run_once(network, schedule, tensors, options);
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
                    network.name, platform().machine().name, schedule.text, clock.most_cycles(),
                    config::format_real(config::Unit::kFrequency, clock.hertz())));
  }
  // It was the jobs before that took the time away.
  const MachineConfig machine = platform().machine();
  const bool full = platform().context().full_data;
  current.reset();
  elaborated_.reset();
  elaborated_.emplace(machine, full);
  return run(network, schedule, tensors, options);
}

Result Runner::run_once(const config::Network& network, const Schedule& schedule, const Tensors* tensors,
                        const RunOptions& options) {
  Platform& p = platform();
  const Placed placed(p, {}, p.machine(), network, schedule, tensors);
  placed.tag();
  Result result;
  result.network = network;
  result.schedule = schedule;
  const auto events = [&p] { return sc_core::sc_delta_count() + p.context().event_queue.events_done(); };
  const std::uint64_t before = events();
  const auto start = std::chrono::steady_clock::now();
  try {
    const Tracing tracing(options.trace, p, for_type(energy_, network.type));
    const Watching watching(options.watch, p);
    result.cycles = p.run();
  } catch (const sc_core::sc_report& e) {  // a process threw an exception
    throw RunError(fmt::format("{}: {} (cycle {})", placed.what(), e.get_msg(), p.context().clock.now()));
  }
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.events = events() - before;

  check_ended(p, placed.what());
  placed.read_answers(result);
  collect(result);
  placed.read_output(result, options.check_golden);
  return result;
}

void Runner::collect(Result& result) {
  Platform& p = platform();
  result.frequency_hz = p.machine().clock_hz;
  result.counters =
      read_counters(p.modules(), for_type(energy_, result.network.type), p.machine().technology, result.cycles);
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
  result.peak.l1_bytes = m.clusters * m.l1.size_bytes;
  result.peak.dram_bytes_per_cycle = m.dram.bytes_per_second / m.clock_hz;
  const std::uint64_t ports = std::uint64_t{m.l1.ports} * m.l1.port_bytes_per_cycle;
  const std::uint64_t banks = std::uint64_t{m.l1.banks} * m.l1.bank_bytes_per_cycle;
  result.peak.l1_bytes_per_cycle = static_cast<double>(m.clusters * std::min(ports, banks));
  result.unit_times = unit_times(p, result.cycles);
  result.bound = bound_of(result, m);
  result.utilization = {share("mac", cores), share("vec", cores), share("dma", p.machine().clusters), share("dram", 1)};
}

Tensors random_tensors(const config::Network& network, std::uint64_t seed) {
  if (network.step != config::Step::kAttention) return random_operands(network, seed);
  const std::uint64_t bytes = query_bytes(network) + key_bytes(network) + value_bytes(network);
  const host_memory::Share briefly(fmt::format("the random tensors of {}", network.name), bytes);
  AttentionShape shape = shape_of(network);
  if (network.ragged()) {  // one batch of one head with as many queries and keys as all have
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

}  // namespace attnvp::job
