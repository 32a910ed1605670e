#include "platform/job/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "firmware/dataflows/dataflows.h"
#include "platform/config/error.h"
#include "platform/config/units.h"
#include "platform/elaboration/platform.h"
#include "platform/job/random_tensors.h"
#include "platform/trace/session.h"

namespace attnvp::job {

namespace {

constexpr std::uint64_t kAlignment = 4096;

std::uint64_t aligned(std::uint64_t address) { return (address + kAlignment - 1) / kAlignment * kAlignment; }

std::uint64_t query_bytes(const config::Network& n) { return n.query_elements() * sizeof(arith::Half); }
std::uint64_t key_bytes(const config::Network& n) { return n.key_elements() * sizeof(arith::Half); }
std::uint64_t score_bytes(const config::Network& n) {
  return std::uint64_t{n.batch} * n.heads * n.seq_q * n.seq_kv * sizeof(arith::Half);
}

std::string ragged_dataflows() {
  std::vector<std::string> names;
  for (const firmware::Dataflow* const* d = firmware::kDataflows; *d != nullptr; ++d) {
    if ((*d)->is(firmware::kRagged)) names.emplace_back((*d)->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

bool ends_with_module(std::string_view name, std::string_view module) {
  return name.size() > module.size() && name.substr(name.size() - module.size()) == module &&
         name[name.size() - module.size() - 1] == '.';
}

// Whatever the simulation throws, its signals are let go of.
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

// With the queries of a group of heads behind one another.
AttentionShape shape_of(const config::Network& n) {
  const config::Network f = n.folded();
  return {f.batch, f.heads, f.seq_q, f.seq_kv, f.emb};
}

GoldenResult check(const config::Network& n, const Tensors& t, const OnePass& softmax, const arith::Half* output) {
  AttentionShape shape = shape_of(n);
  if (!n.ragged()) return check_attention(shape, t.q.data(), t.k.data(), t.v.data(), output, softmax);
  GoldenResult all;
  double worst = -1;
  std::uint64_t queries = 0, keys = 0;  // elements before this batch's
  shape.batch = 1;
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    shape.keys = n.context(b);
    GoldenResult one =
        check_attention(shape, t.q.data() + queries, t.k.data() + keys, t.v.data() + keys, output + queries, softmax);
    queries += shape.query_elements();
    keys += shape.key_elements();
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

std::uint64_t Result::sum(std::string_view module, std::string_view counter) const {
  std::uint64_t total = 0;
  for (const CounterValue& c : counters) {
    if (c.name == counter && ends_with_module(c.module, module)) total += c.value;
  }
  return total;
}

std::uint64_t Result::max(std::string_view module, std::string_view counter) const {
  std::uint64_t most = 0;
  for (const CounterValue& c : counters) {
    if (c.name == counter && ends_with_module(c.module, module)) most = std::max(most, c.value);
  }
  return most;
}

double Result::energy_pj(std::string_view module) const {
  double total = 0;
  for (const CounterValue& c : counters) {
    if (ends_with_module(c.module, module)) total += c.energy_pj;
  }
  return total;
}

double Result::total_energy_pj() const {
  double total = 0;
  for (const CounterValue& c : counters) total += c.energy_pj;
  return total;
}

Runner::Runner(const MachineConfig& machine, config::EnergyTable energy, bool full_data) : energy_(std::move(energy)) {
  // What SystemC only warns of is a mistake in a model.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  platform_ = std::make_unique<Platform>("attnvp", machine, full_data, firmware::boot);
}

Runner::~Runner() {
  platform_.reset();
  sc_core::sc_get_curr_simcontext()->reset();  // a later Runner elaborates into a fresh simulation
}

hal::JobBlock Runner::make_job(const config::Network& n, const Schedule& schedule, hal::Scratch& scratch) const {
  hal::JobBlock job{};
  job.magic = hal::kJobMagic;
  job.bytes = sizeof job;
  std::strncpy(job.dataflow, schedule.dataflow.c_str(), hal::kNameBytes - 1);
  for (std::size_t i = 0; i < schedule.options.size() && i < hal::kMaxOptions; ++i) {
    job.option[i] = schedule.options[i];
  }
  job.machine = platform_->machine_info();
  job.tiling = schedule.tiling;
  hal::Layer& l = job.layer;
  const config::Network folded = n.folded();
  l.batch = folded.batch;
  l.heads = folded.heads;
  l.seq_q = folded.seq_q;
  l.seq_kv = folded.seq_kv;
  l.emb = folded.emb;
  l.ragged = n.ragged() ? 1 : 0;
  std::uint64_t next = hal::kTensorsAddress;
  const auto place = [&next](std::uint64_t bytes) {
    const std::uint64_t here = next;
    next = aligned(next + bytes);
    return here;
  };
  l.q = place(query_bytes(n));
  l.k = place(key_bytes(n));
  l.v = place(key_bytes(n));
  l.o = place(query_bytes(n));
  const firmware::Dataflow* dataflow = firmware::find_dataflow(schedule.dataflow.c_str());
  const hal::Scores scores = dataflow != nullptr ? dataflow->scores : hal::kScoresOnChip;
  if (scores == hal::kScoresCAndP) l.c = place(score_bytes(n));
  if (scores != hal::kScoresOnChip) l.p = place(score_bytes(n));
  if (n.ragged() && dataflow != nullptr && !dataflow->is(firmware::kRagged)) {
    throw config::ConfigError(fmt::format(
        "{} with {}: the batches have contexts of different lengths, which that dataflow does not take; allowed: {}",
        n.name, schedule.text, ragged_dataflows()));
  }
  const std::uint64_t end = hal::kDramBase + platform_->machine().dram.size_bytes;
  if (next > end) {
    throw config::ConfigError(fmt::format("{} with {}: the tensors need {} bytes of DRAM, dram.size is {} bytes",
                                          n.name, schedule.text, next - hal::kDramBase, end - hal::kDramBase));
  }
  scratch = {next, end - next};
  return job;
}

Result Runner::run(const config::Network& network, const Schedule& schedule, const Tensors* tensors,
                   const RunOptions& options) {
  Platform& p = *platform_;
  hal::Scratch scratch{};
  const hal::JobBlock job = make_job(network, schedule, scratch);
  p.write(hal::kScratchAddress, &scratch, sizeof scratch);
  const hal::Partition none{};
  p.write(hal::kPartitionAddress, &none, sizeof none);
  p.write(hal::kJobAddress, &job, sizeof job);
  if (network.ragged()) {
    p.write(hal::kContextsAddress, network.contexts.data(), network.contexts.size() * sizeof(std::uint32_t));
  }
  const hal::JobResult unwritten{};
  for (std::uint32_t c = 0; c < p.machine().clusters; ++c) {
    p.write(hal::result_address(c), &unwritten, sizeof unwritten);
  }
  const bool full = p.context().full_data;
  if (full && tensors != nullptr) {
    p.write(job.layer.q, tensors->q.data(), query_bytes(network));
    p.write(job.layer.k, tensors->k.data(), key_bytes(network));
    p.write(job.layer.v, tensors->v.data(), key_bytes(network));
  }

  Result result;
  result.network = network;
  result.schedule = schedule;
  const std::uint64_t deltas = sc_core::sc_delta_count();
  const auto start = std::chrono::steady_clock::now();
  {
    const Tracing tracing(options.trace, p, energy_);
    result.cycles = p.run();
  }
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.events = sc_core::sc_delta_count() - deltas;

  check_status(result);
  collect(result);
  if (full) {
    result.output.resize(query_bytes(network) / sizeof(arith::Half));
    p.read(job.layer.o, result.output.data(), query_bytes(network));
    if (options.check_golden && tensors != nullptr) {
      const firmware::Dataflow& dataflow = *firmware::find_dataflow(schedule.dataflow.c_str());
      const OnePass softmax{dataflow.is(firmware::kOnePass) ? result.schedule.tiling.nkv : 0,
                            dataflow.is(firmware::kMerged)};
      result.golden = check(network, *tensors, softmax, result.output.data());
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
  for (std::uint32_t c = 0; c < p.machine().clusters; ++c) {
    hal::JobResult answer{};
    p.read(hal::result_address(c), &answer, sizeof answer);
    const auto say = [&](const std::string& why) {
      throw RunError(fmt::format("{}: cluster {}'s firmware: {}", what, c, why));
    };
    const auto need = [&](const char* memory, const char* key) {
      say(fmt::format("{} is too small: the schedule needs at least {} bytes, {} is {} bytes", memory, answer.detail[0],
                      key, answer.detail[1]));
    };
    switch (answer.status) {
      case hal::Status::kDone:
        break;
      case hal::Status::kIdle:
        say("it ended without a status");
        break;
      case hal::Status::kBadJob:
        say("the job block makes no sense to it");
        break;
      case hal::Status::kUnknownDataflow:
        say("it has no dataflow of that name");
        break;
      case hal::Status::kL1TooSmall:
        need("L1", "l1.size");
        break;
      case hal::Status::kL0TooSmall:
        need("L0", "l0.size");
        break;
      case hal::Status::kTooFewEvents:
        say(fmt::format("it needs {} events, events.count is {}", answer.detail[0], answer.detail[1]));
        break;
      case hal::Status::kTooFewChannels:
        say(fmt::format("it needs {} DMA channels, dma.channels is {}", answer.detail[0], answer.detail[1]));
        break;
      case hal::Status::kDramTooSmall:
        say(fmt::format("partial results need {} bytes of DRAM behind the tensors, where dram.size leaves {}",
                        answer.detail[0], answer.detail[1]));
        break;
      case hal::Status::kTooManyEvents:
        say("a command names more events than a descriptor can hold");
        break;
      case hal::Status::kEngineFault:
        say(fmt::format("its access to {:#x} was answered with an error", answer.detail[0]));
        break;
      case hal::Status::kBadTiling: {
        static const char* const kFields[] = {"bb", "hh", "nq", "nkv", "np"};
        if (answer.detail[0] == hal::kNpUnused) {
          say(fmt::format("tiling np={}: the dataflow takes no softmax apart from its row blocks", answer.detail[1]));
        } else {
          say(fmt::format("tiling {}={} is larger than the layer", kFields[answer.detail[0] % 5], answer.detail[1]));
        }
        break;
      }
    }
    result.schedule.tiling = answer.tiling;
    result.k_overwrites += answer.k_overwrites;
    result.v_overwrites += answer.v_overwrites;
    result.reload_bytes += answer.reload_bytes;
  }
  p.read(hal::kPartitionAddress, &result.partition, sizeof result.partition);
  for (std::uint32_t c = 0; result.partition.workers > 0 && c < p.machine().clusters; ++c) {
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
  result.counters = read_counters(p, energy_);
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
  result.utilization = {share("mac", cores), share("vec", cores), share("dma", p.machine().clusters), share("dram", 1)};
}

Tensors random_tensors(const config::Network& network, std::uint64_t seed) {
  AttentionShape shape = shape_of(network);
  if (network.ragged()) {  // one batch of one head with as many queries and keys as all have
    shape = {1, 1, network.query_elements() / network.emb, network.key_elements() / network.emb, network.emb};
  }
  AttentionTensors t = random_attention(shape, seed);
  return {std::move(t.q), std::move(t.k), std::move(t.v)};
}

}  // namespace attnvp::job
