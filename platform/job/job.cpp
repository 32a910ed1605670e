#include "platform/job/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iterator>

#include "firmware/runtime/boot.h"
#include "mapping/addends.h"
#include "mapping/append.h"
#include "mapping/programs.h"
#include "models/arith/number.h"
#include "models/engine/descriptor_check.h"
#include "models/storage/host_memory.h"
#include "platform/config/error.h"
#include "platform/config/step.h"
#include "platform/config/units.h"
#include "platform/elaboration/platform.h"
#include "platform/energy/machine_model.h"
#include "platform/firmware/firmware_watch.h"
#include "platform/job/attached.h"
#include "platform/job/command_list.h"
#include "platform/job/random_tensors.h"
#include "platform/job/steps.h"
#include "platform/trace/session.h"

namespace attnvp::job {

namespace {

// Of the host's copies, FP16.
std::uint64_t query_bytes(const config::Network& n) { return n.query_elements() * sizeof(arith::Half); }
std::uint64_t key_bytes(const config::Network& n) { return n.key_elements() * sizeof(arith::Half); }
std::uint64_t value_bytes(const config::Network& n) { return n.value_elements() * sizeof(arith::Half); }
std::uint64_t output_bytes(const config::Network& n) { return n.output_elements() * sizeof(arith::Half); }

// With the queries of a group of heads behind one another. It refers to the layer.
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

// Rows of new tokens of a tensor, out of it: they are where they were made, until firmware puts them into the cache.
template <typename Element>
std::vector<Element> taken_out(const config::Network& n, std::size_t columns, std::vector<Element>& rows) {
  const std::size_t stride = columns * hal::element_bytes(n.type) / sizeof(Element);
  std::vector<Element> taken;
  auto head = rows.begin();
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    for (std::uint32_t h = 0; h < n.heads_of_kv(); ++h) {
      const auto from = head + static_cast<std::ptrdiff_t>(n.cached_tokens(b) * stride),
                 to = from + static_cast<std::ptrdiff_t>(n.new_tokens(b) * stride);
      taken.insert(taken.end(), from, to);
      std::fill(from, to, static_cast<Element>(0));
      head += static_cast<std::ptrdiff_t>(n.context(b) * stride);
    }
  }
  return taken;
}

// A bias as firmware reads it: a row of keys for every query of every head of Q.
void put_bias(Platform& platform, const config::Network& n, std::uint64_t address) {
  std::vector<arith::Half> row(n.seq_kv);
  const std::uint64_t bytes = row.size() * sizeof row[0];
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    for (std::uint32_t h = 0; h < n.heads; ++h) {
      for (std::uint32_t q = 0; q < n.seq_q; ++q, address += bytes) {
        for (std::uint32_t key = 0; key < n.seq_kv; ++key) row[key] = n.bias_tensor->at(b, h, q, key);
        platform.write(address, row.data(), bytes);
      }
    }
  }
}

// K or V as the cache has it: pages of all heads' tokens, or one run.
template <typename Element>
std::vector<Element> in_pages(const config::Network& n, std::size_t columns, const std::vector<Element>& rows) {
  if (n.page == 0) return rows;
  const std::size_t bytes = hal::element_bytes(n.type), heads = n.heads_of_kv(),
                    emb = columns * bytes / sizeof(Element);
  std::vector<Element> cache(std::size_t{n.pages()} * n.page * heads * emb, 0);
  const std::vector<std::uint32_t> table = n.page_table();
  std::size_t row = 0, first = 0;  // of the batch: in `rows`, in the table
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t t = 0; t < n.context(b); ++t, ++row) {
        const std::size_t page = table[first + t / n.page];
        std::copy_n(rows.data() + row * emb, emb, cache.data() + ((page * heads + head) * n.page + t % n.page) * emb);
      }
    }
    first += (n.context(b) + n.page - 1) / n.page;
  }
  return cache;
}

std::vector<std::uint32_t>& scale_table(mapping::Job& job) {
  const auto table = std::find_if(job.tables.begin(), job.tables.end(),
                                  [](const mapping::Job::Table& t) { return t.address == hal::kScalesAddress; });
  return table->words;
}

// Measured: what SystemC and the models take of the host for modules, sockets and stacks of threads.
std::uint64_t elaborated_bytes(const MachineConfig& m) {
  constexpr std::uint64_t kBytesOfCluster = 250'000, kBytesOfCore = 125'000;
  return m.clusters * (kBytesOfCluster + m.cores * kBytesOfCore);
}
std::string elaborated_part(const MachineConfig& m) {
  return fmt::format("a machine of {} clusters of {} cores", m.clusters, m.cores);
}
// Every thread's stack is two mappings, whose number the host limits, too.
void check_threads(const MachineConfig& m) {
  const std::uint64_t threads = std::uint64_t{m.clusters} * (3 + 6 * m.cores);
  const std::uint64_t most = host_memory::most_mappings() / 2;
  if (threads <= most) return;
  throw host_memory::Exceeded(
      fmt::format("{} would need {} simulation threads; allowed are {} by this host (half of vm.max_map_count)",
                  elaborated_part(m), threads, most));
}

Floorplan floorplan_of(const MachineConfig& machine, const config::EnergyTable& table) {
  const energy::MachineModel model(machine, energy::technology_of(table));
  Floorplan plan;
  for (const energy::Part& part : model.parts()) {
    plan.parts.emplace_back(part.module, part.area_mm2 * static_cast<double>(part.count));
  }
  plan.spare_mm2 = model.spare_mm2();
  return plan;
}

// With what a multiply-accumulate of that type costs, where the table says so.
config::EnergyTable for_type(const config::EnergyTable& table, hal::ElementType type) {
  constexpr const char* kMac = "attnvp.mac";
  const std::string name = arith::is_relative(type) && type != hal::ElementType::kInt8 ? "fp8" : attnvp::name_of(type);
  const std::string action = "compute_" + name;
  if (type == hal::ElementType::kFp16 || !table.has(kMac, action)) return table;
  config::EnergyTable own = table;
  own.set(kMac, "compute", table.components().find(kMac)->second.find(action)->second);
  return own;
}

GoldenResult check(const config::Network& n, const Tensors& t, const Quantised& kept, const OnePass& softmax,
                   const arith::Half* output) {
  AttentionShape shape = shape_of(n);
  const std::vector<HeadFactors>& factors = kept.factors;
  shape.factors = factors;
  std::vector<AttentionShape::RowScales> scales;
  for (const Quantised::Blocks& of : kept.blocks) scales.push_back({n.scale_block, of.q, of.k, of.v});
  shape.scales = scales;
  if (!n.ragged()) return check_attention(shape, t.q.data(), t.k.data(), t.v.data(), output, softmax);
  GoldenResult all;
  double worst = -1;
  std::uint64_t queries = 0, keys = 0, values = 0, outputs = 0;  // elements before this batch's
  shape.batch = 1;
  const config::Network folded = n.folded();
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    shape.keys = n.context(b);
    shape.queries = folded.queries_of(b);
    shape.mask = folded.mask_of(b);
    if (!scales.empty()) {
      const auto first = scales.begin() + static_cast<std::ptrdiff_t>(std::size_t{b} * shape.heads);
      shape.scales.assign(first, first + static_cast<std::ptrdiff_t>(shape.heads));
    }
    if (!factors.empty()) {
      const auto first = factors.begin() + static_cast<std::ptrdiff_t>(std::size_t{b} * shape.heads);
      shape.factors.assign(first, first + static_cast<std::ptrdiff_t>(shape.heads));
    }
    GoldenResult one =
        check_attention(shape, t.q.data() + queries, t.k.data() + keys, t.v.data() + values, output + outputs, softmax);
    queries += shape.query_elements();
    keys += shape.key_elements();
    values += shape.value_elements();
    outputs += shape.output_elements();
    one.batch = b;
    one.passed = one.passed && all.passed;
    one.failures += all.failures;
    one.max_abs_error = std::max(one.max_abs_error, all.max_abs_error);
    one.max_ulp_error = std::max(one.max_ulp_error, all.max_ulp_error);
    const double share = one.tolerance > 0 ? std::abs(one.actual - one.expected) / one.tolerance : 0;
    if (share < worst) {  // the worst element so far stays
      one.batch = all.batch;
      one.head = all.head;
      one.row = all.row;
      one.column = all.column;
      one.expected = all.expected;
      one.actual = all.actual;
      one.tolerance = all.tolerance;
    }
    worst = std::max(worst, share);
    all = one;
  }
  return all;
}

}  // namespace

Runner::Runner(const MachineConfig& machine, config::EnergyTable energy, bool full_data)
    : energy_(energy::resolved(std::move(energy), machine)),
      floorplan_(floorplan_of(machine, energy_)),
      elaborated_(elaborated_part(machine), elaborated_bytes(machine)) {
  elaborate(machine, full_data);
}

void Runner::elaborate(const MachineConfig& machine, bool full_data) {
  check_threads(machine);
  // What SystemC only warns of is a mistake in a model.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  platform_ = std::make_unique<Platform>("attnvp", machine, full_data, firmware::boot);
}

Runner::~Runner() { release(); }

void Runner::release() {
  platform_.reset();
  sc_core::sc_get_curr_simcontext()->reset();  // a later platform is elaborated into a fresh simulation
}

// Jobs come again: a bench's, a search's.
Schedule Runner::completed(const config::Network& network, const Schedule& schedule) {
  std::string key = fmt::format("{} {}", schedule.text, network.identity());
  for (const auto& [name, value] : schedule.tiling.entries()) key += fmt::format(" {}={}", name, value);
  const auto known = completed_.find(key);
  if (known != completed_.end()) return known->second;
  return completed_[key] = complete(platform_->machine(), network, schedule);
}

Result Runner::run(const config::Network& network, const Schedule& wanted, const Tensors* tensors,
                   const RunOptions& options) {
  const Schedule schedule = completed(network, wanted);
  const bool fresh = sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME;
  Clock::start_over();
  try {
    Result result = run_once(network, schedule, tensors, options);
    if (!Clock::ran_out()) return result;
  } catch (const RunError&) {
    if (!Clock::ran_out()) throw;
  }
  if (fresh) {
    const Clock& clock = platform_->context().clock;
    throw RunError(
        fmt::format("{} on {} with {}: it takes more than 2^64 fs of simulated time, which are {} cycles at {}; a "
                    "faster clock or a "
                    "smaller layer is needed",
                    network.name, platform_->machine().name, schedule.text, clock.most_cycles(),
                    config::format_real(config::Unit::kFrequency, clock.hertz())));
  }
  // It was the jobs before that took the time away.
  const MachineConfig machine = platform_->machine();
  const bool full = platform_->context().full_data;
  release();
  elaborate(machine, full);
  return run(network, schedule, tensors, options);
}

Result Runner::run_once(const config::Network& network, const Schedule& schedule, const Tensors* tensors,
                        const RunOptions& options) {
  Platform& p = *platform_;
  mapping::Job made = make_job(p.machine(), network, schedule);
  const hal::JobBlock& job = made.block;
  if ((job.flags & hal::kRuled) != 0) p.write(hal::kRulesAddress, &made.rules, sizeof made.rules);
  if (!made.contexts.empty()) {
    p.write(hal::kContextsAddress, made.contexts.data(), made.contexts.size() * sizeof(std::uint32_t));
  }
  if (!made.pages.empty()) p.write(hal::kPagesAddress, made.pages.data(), made.pages.size() * sizeof(std::uint32_t));
  const hal::JobResult unwritten{};
  for (std::uint32_t c = 0; c < p.machine().clusters; ++c) {
    p.write(hal::result_address(c), &unwritten, sizeof unwritten);
  }
  const bool full = p.context().full_data;
  const firmware::Dataflow& dataflow = *mapping::find_dataflow(schedule.dataflow);
  Quantised kept;
  if (full && tensors != nullptr && network.typed()) {
    kept = quantised(network, *tensors);
    if (!kept.blocks.empty()) scale_table(made) = block_scales(network, kept.blocks);
    if (!kept.factors.empty()) made.scales = head_scales(kept.factors, network.type, dataflow.is(firmware::kOnePass));
  }
  if ((job.flags & hal::kTyped) != 0) p.write(hal::kTypesAddress, &made.types, sizeof made.types);
  if (!made.scales.empty()) {
    p.write(hal::kScalesAddress, made.scales.data(), made.scales.size() * sizeof(hal::HeadScales));
  }
  mapping::Job told = made;
  if (p.machine().control.lists) {
    for (const PlacedList& list : make_lists(told, p.machine())) {
      p.write(list.address, list.words.data(), list.bytes());
    }
  }
  p.write(hal::kScratchAddress, &told.scratch, sizeof told.scratch);
  p.write(hal::kJobAddress, &told.block, sizeof told.block);
  for (const mapping::Job::Table& t : told.tables) p.write(t.address, t.words.data(), t.end() - t.address);
  // Pages of DRAM, and the output's copy for the host.
  const std::uint64_t touched = full ? made.scratch.address - hal::kDramBase + output_bytes(network) : 0;
  const host_memory::Share pages(fmt::format("the tensors of {} in DRAM", network.name), touched);
  if (full && tensors != nullptr) {
    const auto put = [&](std::uint64_t address, const auto& rows) {
      if (!rows.empty()) p.write(address, rows.data(), rows.size() * sizeof rows[0]);
    };
    const auto put_cache = [&](std::uint64_t address, std::uint64_t made_at, std::size_t columns, auto rows) {
      if (network.append) put(made_at, taken_out(network, columns, rows));
      put(address, network.page == 0 ? rows : in_pages(network, columns, rows));
    };
    const auto put_all = [&](const auto& q, const auto& k, const auto& v) {
      const hal::Append from = mapping::append_of(made);
      put(operand_address(network, job.layer), q);
      put_cache(job.layer.k, from.k, network.emb, k);
      put_cache(job.layer.v, from.v, network.values(), v);
    };
    network.typed() ? put_all(kept.q, kept.k, kept.v) : put_all(tensors->q, tensors->k, tensors->v);
    if (network.bias == config::Bias::kTensor) put_bias(p, network, mapping::addends_of(made));
  }

  // Rows of a step are no Q and no K.
  tag_tensors(p, config::is_row_step(network.step) ? hal::Layer{} : job.layer, told.scratch.address,
              mapping::addends_of(made));
  Result result;
  result.network = network;
  result.schedule = schedule;
  const std::uint64_t deltas = sc_core::sc_delta_count();
  const auto start = std::chrono::steady_clock::now();
  {
    const Tracing tracing(options.trace, p, for_type(energy_, network.type));
    const Watching watching(options.watch, p);
    result.cycles = p.run();
  }
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.events = sc_core::sc_delta_count() - deltas;

  check_status(result);
  collect(result);
  if (full) {
    const bool attention = network.step == config::Step::kAttention;
    result.output.resize(attention ? network.output_elements() : network.visible_scores());
    p.read(attention ? job.layer.o : result_address(network, job.layer), result.output.data(),
           result.output.size() * sizeof(arith::Half));
    if (network.out != hal::ElementType::kFp16) {
      for (arith::Half& x : result.output) x = arith::half_from_float(arith::float_from_bf16(x));
    }
    const bool checked = options.check_golden && tensors != nullptr && !dataflow.is(firmware::kPacked);
    if (checked && !attention) {
      const float factor = kept.factors.empty() ? 1 : kept.factors.front().score;
      result.golden = check_step(network, network.typed() ? kept.numbers : *tensors, result.output, factor);
      result.golden_checked = true;
    } else if (checked) {
      const OnePass softmax{dataflow.is(firmware::kOnePass) ? result.schedule.tiling["nkv"] : 0,
                            dataflow.is(firmware::kMerged)};
      const Tensors& seen = network.typed() ? kept.numbers : *tensors;
      result.golden = check(network, seen, kept, softmax, result.output.data());
      result.golden_checked = true;
    }
  }
  return result;
}

// What firmware reports, or the reason why it did not finish as a RunError.
void Runner::check_status(Result& result) {
  Platform& p = *platform_;
  const std::string what = fmt::format("{} on {} with {}", result.network.name, p.machine().name, result.schedule.text);
  const FaultLog& faults = p.context().faults;
  if (faults.any()) throw StoppedError(fmt::format("{}: {}", what, to_sentence(faults.faults().front())));
  if (!p.all_finished()) {
    throw StoppedError(
        fmt::format("{}: deadlock at cycle {}: {}", what, p.context().clock.now(), fmt::join(p.waiting(), "; ")));
  }
  if (const std::vector<std::string> left = p.waiting(); !left.empty()) {
    throw StoppedError(fmt::format("{}: firmware has ended, but commands are left over that wait for ever: {}", what,
                                   fmt::join(left, "; ")));
  }
  for (std::uint32_t c = 0; c < p.machine().clusters; ++c) {
    hal::JobResult answer{};
    p.read(hal::result_address(c), &answer, sizeof answer);
    const firmware::Dataflow& dataflow = *mapping::find_dataflow(result.schedule.dataflow);
    if (answer.status != hal::Status::kDone) {
      throw RunError(fmt::format("{}: cluster {}'s firmware: {}", what, c, refusal(answer, dataflow)));
    }
    for (int i = 0; dataflow.statistics != nullptr && dataflow.statistics[i].name != nullptr; ++i) {
      if (c == 0) result.statistics.emplace_back(dataflow.statistics[i].name, 0);
      result.statistics[static_cast<std::size_t>(i)].second += answer.statistic[i];
    }
  }
  for (std::uint32_t c = 0; result.statistic("partition.workers") > 0 && c < p.machine().clusters; ++c) {
    for (std::uint32_t k = 0; k < p.machine().cores; ++k) {
      Worker w{c, k, 0};
      p.read(hal::worker_tiles_address(c, k), &w.tiles, sizeof w.tiles);
      result.workers.push_back(w);
    }
  }
}

void Runner::collect(Result& result) {
  Platform& p = *platform_;
  result.frequency_hz = p.machine().clock_hz;
  result.counters = read_counters(p, for_type(energy_, result.network.type), p.machine().technology, result.cycles);
  result.floorplan = floorplan_;
  result.tdp_watts = p.machine().technology.tdp_watts;
  const auto total = static_cast<double>(std::max<std::uint64_t>(result.cycles, 1));
  const auto share = [&](const char* module, std::uint32_t instances) {
    return static_cast<double>(result.sum(module, "busy_cycles")) / (total * instances);
  };
  const MachineConfig& m = p.machine();
  const std::uint32_t cores = m.clusters * m.cores;
  result.peak.macs_per_cycle = std::uint64_t{cores} * m.mac.rows * m.mac.columns;
  result.peak.vec_lanes = std::uint64_t{cores} * m.vec.lanes;
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
  return {std::move(t.q), std::move(t.k), std::move(t.v)};
}

}  // namespace attnvp::job
