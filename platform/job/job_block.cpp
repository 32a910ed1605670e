// What firmware is given: the job block, and what it says of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "models/arith/number.h"
#include "models/mac_engine/mac_rate.h"
#include "models/network/config.h"
#include "platform/config/error.h"
#include "platform/config/operations.h"
#include "platform/config/step.h"
#include "platform/job/schedule.h"
#include "platform/job/steps.h"
#include "platform/schedule/bound.h"
#include "platform/schedule/programs.h"

namespace attnvp::job {

namespace {

constexpr std::uint64_t kAlignment = 4096;

std::uint64_t aligned(std::uint64_t address) { return (address + kAlignment - 1) / kAlignment * kAlignment; }

std::uint64_t score_bytes(const config::Network& n) {
  return std::uint64_t{n.batch} * n.heads * n.seq_q * n.seq_kv * sizeof(arith::Half);
}

std::string dataflows_with(firmware::Trait trait, const schedule::FirmwareImage& firmware) {
  std::vector<std::string> names;
  for (const firmware::Dataflow* d : firmware.dataflows()) {
    if (d->is(trait)) names.emplace_back(d->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The rate of DRAM, and what a cluster's DMA controller can draw of it.
void add_dram_rate(hal::MachineInfo& info, const MachineConfig& m) {
  if (m.dram.policy == "cached" || m.own<NetworkConfig>().multicast) return;
  const double all = m.dram.bytes_per_second / m.clock_hz, port = m.l1.port_bytes_per_cycle;
  const double burst = m.dram.latency_seconds * m.clock_hz + m.dma.burst_bytes / std::min(all, port);  // cycles
  const double own = std::min({all, port, m.dma.outstanding * m.dma.burst_bytes / burst});
  info.dram_rate = static_cast<std::uint16_t>(std::clamp(16 * all, 1.0, 65535.0));
  info.dram_sharers = static_cast<std::uint8_t>(std::clamp(std::round(16 * all / own), 16.0, 255.0));
}

// Cycles that core `k` takes for a score: of its MAC array or of its VEC engine, as they work side by side.
double score_cycles(const CoreConfig& core, const config::Network& n) {
  const double depth = 1.0 * n.emb + (n.value_emb > 0 ? n.value_emb : n.emb);
  const auto rate = static_cast<double>(mac_rate(core.mac, n.type));
  const double array = depth / (1.0 * core.mac.rows * core.mac.columns * rate);
  return n.softmax ? std::max(array, 1.0 * core.vec.softmax_lane_cycles / core.vec.lanes) : array;
}

// Cores in proportion to their speed on the layer; nothing where they are equally fast. None is faster than its even
// share of DRAM lets it be, `dram_cycles` of all for a score.
std::optional<hal::Cores> heterogeneous_cores(const MachineConfig& m, const config::Network& n, double dram_cycles) {
  if (m.has_equal_cores()) return {};
  const double share_cycles = dram_cycles * m.clusters * m.cores;
  constexpr double kFastest = 4096;  // a weight
  double least = score_cycles(m.core(0), n);
  for (std::uint32_t k = 1; k < m.cores; ++k) least = std::min(least, score_cycles(m.core(k), n));
  hal::Cores cores{};
  cores.least_rows = cores.least_columns = UINT32_MAX;
  bool heterogeneous = false;
  for (std::uint32_t k = 0; k < m.cores; ++k) {
    const MacConfig mac = m.core(k).mac;
    const double cycles = score_cycles(m.core(k), n);
    const double weight = std::round(kFastest * std::max(share_cycles, least) / std::max(share_cycles, cycles));
    const double slower = cycles > least && weight == kFastest ? 1 : 0;  // comes behind where all else is equal
    cores.weight[k] = static_cast<std::uint16_t>(std::max(1.0, weight - slower));
    cores.rows[k] = static_cast<std::uint16_t>(mac.rows);
    cores.least_rows = std::min(cores.least_rows, mac.rows);
    cores.most_rows = std::max(cores.most_rows, mac.rows);
    cores.least_columns = std::min(cores.least_columns, mac.columns);
    heterogeneous = heterogeneous || cores.weight[k] != cores.weight[0] || mac.rows != m.core(0).mac.rows ||
                    mac.columns != m.core(0).mac.columns;
  }
  if (!heterogeneous) return {};
  return cores;
}

// The fastest core, of equal ones the first; with the least that any of them has.
CoreConfig core_for_firmware(const MachineConfig& m, const config::Network& n) {
  CoreConfig fastest = m.core(0);
  std::uint32_t resident_tiles = fastest.mac.resident_tiles;
  std::uint64_t l0_bytes = fastest.l0.size_bytes;
  for (std::uint32_t k = 1; k < m.cores && !m.core_overrides.empty(); ++k) {
    const CoreConfig core = m.core(k);
    if (score_cycles(core, n) < score_cycles(fastest, n)) fastest = core;
    resident_tiles = std::min(resident_tiles, core.mac.resident_tiles);
    l0_bytes = std::min(l0_bytes, core.l0.size_bytes);
  }
  fastest.mac.resident_tiles = resident_tiles;
  fastest.l0.size_bytes = l0_bytes;
  return fastest;
}

// The machine as firmware sees it.
hal::MachineInfo machine_info(const MachineConfig& m, const config::Network& n) {
  const CoreConfig core = core_for_firmware(m, n);
  hal::MachineInfo info{};
  info.clusters = m.clusters;
  info.cores = m.cores;
  info.mac_rows = core.mac.rows;
  info.mac_columns = core.mac.columns;
  info.dma_channels = static_cast<std::uint16_t>(m.dma.channels);
  info.dma_queue_depth = static_cast<std::uint16_t>(m.dma.queue_depth);
  info.events = m.events.events;
  info.resident_tiles = static_cast<std::uint16_t>(core.mac.resident_tiles);
  info.softmax_rate = static_cast<std::uint16_t>(
      std::clamp<std::uint64_t>(std::uint64_t{core.vec.lanes} * 16 / core.vec.softmax_lane_cycles, 1, 0xFFFF));
  add_dram_rate(info, m);
  info.l1_bytes = m.l1.size_bytes;
  info.l0_bytes = core.l0.size_bytes;
  return info;
}

void check_extents(const schedule::Job& job, const firmware::Dataflow& dataflow) {
  for (int i = 0; dataflow.parameters[i] != nullptr; ++i) {
    const firmware::Parameter& p = *dataflow.parameters[i];
    const std::uint32_t value = job.block.parameter[i], most = schedule::largest(p, job);
    if (value == hal::kWord || p.extent == firmware::Extent::kBlocks || value <= most) continue;
    throw TilingError(fmt::format("tiling {}={} is larger than the layer; allowed is at most {}", p.name, value, most));
  }
}

unsigned step_traits(const config::Network& n) {
  if (n.step == config::Step::kAttention) return 0;
  return firmware::kOneStep | (config::is_row_step(n.step) ? firmware::kRowStep : 0U);
}

// A step of a layer is for the dataflow of that step, attention for all others.
void check_step(const config::Network& n, const Schedule& schedule, const firmware::Dataflow& dataflow) {
  const bool one_step = n.step != config::Step::kAttention;
  const unsigned traits = dataflow.traits & (firmware::kOneStep | firmware::kRowStep);
  if (traits == step_traits(n) && (!one_step || n.softmax != dataflow.is(firmware::kChain))) return;
  std::vector<std::string> names;
  for (const firmware::Dataflow* d : dataflows_for(n, *schedule.firmware)) names.emplace_back(d->name);
  throw config::ConfigError(fmt::format("{} with {}: {}; allowed: {}", n.name, schedule.text,
                                        one_step ? "that is one step of a layer, which the dataflow does not make"
                                                 : "the dataflow makes one step of a layer, such as gemm:512x2304x768 "
                                                   "or softmax:4096x512, no attention",
                                        fmt::join(names, ", ")));
}

// Which dataflows deal work to cores by their speed.
void check_heterogeneous(const config::Network& n, const Schedule& schedule, const firmware::Dataflow& dataflow) {
  if (!dataflow.is(firmware::kHeterogeneousCores)) {
    throw config::ConfigError(fmt::format(
        "{} with {}: the machine's cores are not alike, and that dataflow deals equal work to all; allowed: {}", n.name,
        schedule.text, dataflows_with(firmware::kHeterogeneousCores, *schedule.firmware)));
  }
  for (std::size_t i = 0; i < schedule.options.size() && dataflow.options != nullptr; ++i) {
    const std::string option = dataflow.options[i].name;
    if (schedule.options[i] == 0 || (option != "grid" && option != "share")) continue;
    throw config::ConfigError(fmt::format("{} with {}: the machine's cores are not alike; allowed is {}={}", n.name,
                                          schedule.text, option, dataflow.options[i].values[0]));
  }
}

// What a step does to rows, for firmware.
schedule::Job::Table row_step(const config::Network& n) {
  hal::RowStep what{};
  const hal::Opcode kOpcodes[] = {hal::Opcode::kNorm, n.elementwise, hal::Opcode::kActivate, hal::Opcode::kRotate};
  what.opcode = kOpcodes[static_cast<std::size_t>(n.step) - static_cast<std::size_t>(config::Step::kNorm)];
  what.function = n.activation;
  what.gated = n.gated ? 1 : 0;
  what.centred = n.norm == config::Norm::kLayerNorm ? 1 : 0;
  std::memcpy(&what.epsilon, &config::kNormEpsilon, sizeof what.epsilon);
  schedule::Job::Table table{hal::kRowStepAddress, std::vector<std::uint32_t>(sizeof what / sizeof(std::uint32_t))};
  std::memcpy(table.words.data(), &what, sizeof what);
  return table;
}

std::size_t block_scales(const config::Network& n) {
  const config::Network f = n.folded();
  const auto blocks = [&](std::size_t tokens) { return (tokens + n.scale_block - 1) / n.scale_block; };
  return std::size_t{f.batch} * f.heads * (blocks(f.seq_q) + 2 * blocks(f.seq_kv));
}

// A map of blocks, padding, a bias.
void add_places(schedule::Job& made, const config::Network& n) {
  const auto add = [&](std::uint32_t flag, std::uint64_t address, std::vector<std::uint32_t> words) {
    made.block.flags |= flag;
    if (words.size() % 2 != 0) words.push_back(0);  // firmware reads words of 8 bytes
    made.tables.push_back({address, std::move(words)});
  };
  if (n.mask.block != 0) add(hal::kMapped, hal::kMapAddress, n.map);
  if (n.mask.is_padded()) add(hal::kPadded, hal::kContextsAddress, n.valid);
  if (n.bias == config::Bias::kNone || n.bias == config::Bias::kTensor) return;
  std::vector<std::uint32_t> words;
  for (std::uint32_t head = 0; head < n.heads; ++head) {
    if (n.bias == config::Bias::kAlibi) {
      const float slope = config::alibi_slope(head, n.heads);
      words.emplace_back();
      std::memcpy(&words.back(), &slope, sizeof slope);
      continue;
    }
    for (std::uint32_t i = 0; i < hal::kBuckets; i += 2) {
      words.push_back(config::relative_bias(head, i) | std::uint32_t{config::relative_bias(head, i + 1)} << 16);
    }
  }
  add(n.bias == config::Bias::kAlibi ? hal::kSlopedJob : hal::kBucketedJob, hal::kBiasAddress, std::move(words));
}

}  // namespace

std::vector<const firmware::Dataflow*> dataflows_for(const config::Network& n,
                                                     const schedule::FirmwareImage& firmware) {
  return firmware.dataflows_for(n.softmax, step_traits(n));
}

TensorBytes tensor_bytes(const config::Network& n) {
  const std::uint64_t bytes = hal::element_bytes(n.type);
  if (n.step != config::Step::kAttention) {
    const Operands elements = operands_of(n);
    return {elements.q * bytes, elements.k * bytes, elements.v * bytes, 0};
  }
  const std::uint64_t in_pages = std::uint64_t{n.pages()} * n.page * n.folded().heads;  // rows
  const std::uint64_t key_rows = n.page > 0 ? in_pages : n.key_elements() / n.emb;
  return {n.query_elements() * bytes, key_rows * n.emb * bytes, key_rows * n.values() * bytes,
          n.output_elements() * hal::element_bytes(n.out)};
}

schedule::Job make_job(const MachineConfig& machine, const config::Network& n, const Schedule& schedule) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  schedule::Job made;
  made.image = schedule.firmware;
  made.firmware = schedule::untimed(*schedule.firmware, machine);
  hal::JobBlock& job = made.block;
  job.magic = hal::kJobMagic;
  job.bytes = sizeof job;
  std::strncpy(job.dataflow, schedule.dataflow.c_str(), hal::kNameBytes - 1);
  for (std::size_t i = 0; i < schedule.options.size() && i < hal::kMaxOptions; ++i) {
    job.option[i] = schedule.options[i];
  }
  job.machine = machine_info(machine, n);
  hal::Layer& l = job.layer;
  const config::Network folded = n.folded();
  l.batch = folded.batch;
  l.heads = folded.heads;
  l.seq_q = folded.seq_q;
  l.seq_kv = folded.seq_kv;
  l.emb = folded.emb;
  l.ragged = !n.requests.empty() ? 2 : n.ragged() ? 1 : 0;
  made.rules.mask = n.mask;
  std::memcpy(&made.rules.scale, &n.scale, sizeof n.scale);
  made.types.operand = n.type;
  made.types.out = n.out;
  std::memcpy(&made.types.cap, &n.soft_cap, sizeof n.soft_cap);
  made.types.value_emb = n.value_emb;
  if (n.beyond_fp16()) job.flags |= hal::kTyped;
  if (n.type == hal::ElementType::kInt8) {
    const std::uint64_t heads = std::uint64_t{folded.batch} * folded.heads;
    if (heads > hal::kMostScales) {
      throw config::ConfigError(fmt::format("{}: INT8 has scales for each of its {} heads of K and V; allowed are {}",
                                            n.name, heads, hal::kMostScales));
    }
    made.types.per_head = 1;
    made.scales.assign(heads, {hal::kUnitScale, hal::kUnitScale});  // where there are no data
  } else if (arith::is_relative(n.type) && has(schedule, firmware::kOnePass)) {
    const float scale = 1 / arith::kept_one(n.type);
    std::memcpy(&made.types.value_scale, &scale, sizeof scale);
  }
  if (n.scale_block > 0) {
    made.types.per_head = 0;
    made.scales.clear();
    while (1U << made.types.scale_block < n.scale_block) ++made.types.scale_block;
    const float scale = has(schedule, firmware::kOnePass) ? 1 / arith::kept_one(n.type) : 1;
    std::memcpy(&made.types.value_scale, &scale, sizeof scale);
    made.tables.push_back({hal::kScalesAddress, std::vector<std::uint32_t>(block_scales(n), hal::kUnitScale)});
  }
  add_places(made, n);
  made.rules.group = static_cast<std::uint16_t>(folded.group());
  made.rules.page = static_cast<std::uint16_t>(n.page);
  made.pages = n.page_table();
  if (n.mask.any() || n.scale != 1 || l.ragged == 2 || n.page > 0 || n.bias != config::Bias::kNone ||
      folded.group() > 1) {
    job.flags |= hal::kRuled;
  }
  config::refuse_scope(n);
  check_step(n, schedule, dataflow);
  if (!n.softmax) {
    if (!dataflow.is(firmware::kChain)) {
      throw config::ConfigError(
          fmt::format("{} with {}: the layer has no softmax, which that dataflow does not take; "
                      "allowed: {}",
                      n.name, schedule.text, dataflows_with(firmware::kChain, *schedule.firmware)));
    }
    job.flags |= hal::kPlain;
  } else if (dataflow.is(firmware::kOnlyChain)) {
    throw config::ConfigError(
        fmt::format("{} with {}: that dataflow takes layers with softmax=none only", n.name, schedule.text));
  }
  std::uint64_t next = hal::kTensorsAddress;
  const auto place = [&next](std::uint64_t bytes) {
    const std::uint64_t here = next;
    next = aligned(next + bytes);
    return here;
  };
  const std::uint64_t bytes = hal::element_bytes(n.type);
  const TensorBytes tensors = tensor_bytes(n);
  l.q = place(tensors.q);
  if (n.bias == config::Bias::kTensor) {
    const hal::Addends addends{place(score_bytes(n))};
    schedule::Job::Table table{hal::kBiasAddress, std::vector<std::uint32_t>(sizeof addends / sizeof(std::uint32_t))};
    std::memcpy(table.words.data(), &addends, sizeof addends);
    made.tables.push_back(std::move(table));
    job.flags |= hal::kAddedJob;
  }
  if (n.append) {
    hal::Append from{};
    from.k = place(n.appended_rows() * n.emb * bytes);
    from.v = place(n.appended_rows() * n.values() * bytes);
    from.first = n.mask.history;
    from.tokens = n.requests.empty() ? n.seq_q : 0;
    schedule::Job::Table table{hal::kAppendAddress, std::vector<std::uint32_t>(sizeof from / sizeof(std::uint32_t))};
    std::memcpy(table.words.data(), &from, sizeof from);
    made.tables.push_back(std::move(table));
    job.flags |= hal::kAppends;
  }
  if (machine.l2.staging) {
    constexpr std::uint64_t kAligned = 64;
    const hal::Stage stage{hal::kL2Base, machine.l2.size_bytes / machine.clusters / kAligned * kAligned};
    schedule::Job::Table table{hal::kStageAddress, std::vector<std::uint32_t>(sizeof stage / sizeof(std::uint32_t))};
    std::memcpy(table.words.data(), &stage, sizeof stage);
    made.tables.push_back(std::move(table));
    job.flags |= hal::kStaged;
  }
  l.k = place(tensors.k);
  l.v = place(tensors.v);
  if (config::is_row_step(n.step)) made.tables.push_back(row_step(n));
  l.o = place(tensors.o);
  if (dataflow.scores == hal::kScoresCAndP) l.c = place(score_bytes(n));
  if (dataflow.scores != hal::kScoresOnChip) l.p = place(score_bytes(n));
  if (n.ragged() && !dataflow.is(firmware::kRagged)) {
    throw config::ConfigError(fmt::format(
        "{} with {}: the batches have contexts of different lengths, which that dataflow does not take; allowed: {}",
        n.name, schedule.text, dataflows_with(firmware::kRagged, *schedule.firmware)));
  }
  if (n.page > 0 && !dataflow.is(firmware::kRagged)) {
    throw config::ConfigError(fmt::format("{} with {}: that dataflow takes no cache of pages; allowed: {}", n.name,
                                          schedule.text, dataflows_with(firmware::kRagged, *schedule.firmware)));
  }
  if (std::any_of(made.pages.begin(), made.pages.end(), [&](std::uint32_t page) { return page >= n.pages(); })) {
    throw config::ConfigError(fmt::format("{}: its cache has {} pages of {} tokens; the batches need {}", n.name,
                                          n.pages(), n.page, made.pages.size()));
  }
  if (made.pages.size() > hal::kMostPages) {
    throw config::ConfigError(
        fmt::format("{}: its requests need {} pages; allowed are {}", n.name, made.pages.size(), hal::kMostPages));
  }
  const std::uint64_t end = hal::kDramBase + machine.dram.size_bytes;
  if (next > end) {
    throw config::ConfigError(fmt::format("{} with {}: the tensors need {} bytes of DRAM, dram.size is {} bytes",
                                          n.name, schedule.text, next - hal::kDramBase, end - hal::kDramBase));
  }
  made.scratch = {next, end - next};
  made.contexts = n.contexts;
  if (!n.requests.empty()) {
    made.contexts.clear();
    for (const config::Request& r : n.requests) made.contexts.insert(made.contexts.end(), {r.new_tokens, r.tokens()});
  }
  const std::vector<std::uint32_t> words = words_of(schedule.tiling, dataflow);
  std::copy(words.begin(), words.end(), job.parameter);
  const double dram_cycles = schedule::layer_demand(made, machine).bus / std::max(made.scores(), 1.0);
  if (const auto cores = heterogeneous_cores(machine, n, dram_cycles)) {
    check_heterogeneous(n, schedule, dataflow);
    schedule::Job::Table table{hal::kCoresAddress, std::vector<std::uint32_t>(sizeof *cores / sizeof(std::uint32_t))};
    std::memcpy(table.words.data(), &*cores, sizeof *cores);
    made.tables.push_back(std::move(table));
    job.flags |= hal::kHeterogeneous;
  }
  check_extents(made, dataflow);
  return made;
}

std::uint64_t result_bytes(const config::Network& n, const Schedule& schedule) {
  const bool whole = !schedule.declaration().is(firmware::kOneStep);
  return whole ? n.query_elements() * sizeof(arith::Half) : 0;
}

std::string refusal(const hal::JobResult& answer, const firmware::Dataflow& dataflow) {
  const auto need = [&](const char* memory, const char* key) {
    return fmt::format("{} is too small: the schedule needs at least {} bytes, {} is {} bytes", memory,
                       answer.detail[0], key, answer.detail[1]);
  };
  switch (answer.status) {
    case hal::Status::kDone:
      return "it is done";
    case hal::Status::kIdle:
      return "it ended without a status";
    case hal::Status::kBadJob:
      return "the job block makes no sense to it";
    case hal::Status::kUnknownDataflow:
      return "it has no dataflow of that name";
    case hal::Status::kL1TooSmall:
      return need("L1", "l1.size");
    case hal::Status::kL0TooSmall:
      return need("L0", "l0.size");
    case hal::Status::kTooFewEvents:
      return fmt::format("it needs {} events, events.count is {}", answer.detail[0], answer.detail[1]);
    case hal::Status::kTooFewChannels:
      return fmt::format("it needs {} DMA channels, dma.channels is {}", answer.detail[0], answer.detail[1]);
    case hal::Status::kDramTooSmall:
      return fmt::format("partial results need {} bytes of DRAM behind the tensors, where dram.size leaves {}",
                         answer.detail[0], answer.detail[1]);
    case hal::Status::kL2TooSmall:
      return fmt::format(
          "K and V that are staged need {} bytes of each cluster's part of the L2, where l2.size leaves {}",
          answer.detail[0], answer.detail[1]);
    case hal::Status::kTooManyEvents:
      return "a command names more events than a descriptor can hold";
    case hal::Status::kEngineFault:
      return fmt::format("its access to {:#x} was answered with an error", answer.detail[0]);
    case hal::Status::kBadTiling:
      break;
  }
  const firmware::Parameter& p = *dataflow.parameters[answer.detail[0]];
  const bool word = answer.detail[1] == hal::kWord && p.none != nullptr;
  const bool named = p.named != nullptr && answer.detail[1] >= 1 && answer.detail[1] <= p.most;
  return fmt::format("it cannot do with {}={} on this layer and machine, beside what else is given", p.name,
                     word    ? p.none
                     : named ? p.named[answer.detail[1] - 1].name
                             : std::to_string(answer.detail[1]));
}

}  // namespace attnvp::job
