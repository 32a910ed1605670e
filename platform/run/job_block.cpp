// Job block for firmware, with the checks of its contents.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/arith/number.h"
#include "models/engine/mac_engine/mac_plan.h"
#include "platform/machine/error.h"
#include "platform/run/golden/reference.h"
#include "platform/run/operations.h"
#include "platform/run/schedule.h"
#include "platform/schedule/demand.h"
#include "platform/schedule/programs.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

namespace {

constexpr std::uint64_t kAlignment = 4096;

std::uint64_t aligned(std::uint64_t address) { return (address + kAlignment - 1) / kAlignment * kAlignment; }

std::uint64_t score_bytes(const workload::Workload& w) {
  const bool has_second = w.gemm() != nullptr && w.gemm()->fusion.down > 0;
  if (w.rows() != nullptr || has_second) return w.result_elements() * sizeof(arith::Half);
  const workload::Extents e = w.extents();
  return std::uint64_t{e.batch} * e.heads * e.seq_q * e.seq_kv * sizeof(arith::Half);
}

std::string dataflows_with(firmware::Trait trait, const schedule::FirmwareImage& firmware) {
  std::vector<std::string> names;
  for (const firmware::Dataflow* d : firmware.dataflows()) {
    if (d->is(trait)) names.emplace_back(d->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_extents(const schedule::Job& job, const firmware::Dataflow& dataflow) {
  for (int i = 0; dataflow.parameters[i] != nullptr; ++i) {
    const firmware::Parameter& p = *dataflow.parameters[i];
    const std::uint32_t value = job.block.parameter[i], most = schedule::largest(p, job);
    if (value == hal::kWord || p.extent == firmware::Extent::kBlocks || value <= most) continue;
    throw TilingError(fmt::format("tiling {}={} is larger than the layer; allowed is at most {}", p.name, value, most));
  }
}

unsigned step_traits(const workload::Workload& n) {
  if (n.is_attention()) return 0;
  return firmware::kOneStep | (takes_row_step(n) ? firmware::kRowStep : 0U);
}

// A cache has its rows one behind the other, not in tiles.
bool stores(const workload::Workload& n, const firmware::Dataflow& dataflow) {
  return n.gemm() == nullptr || !n.gemm()->fusion.append.any() || !dataflow.is(firmware::kPacked);
}

// A layer's step needs the dataflow of that step; attention needs any other dataflow.
void check_step(const workload::Workload& n, const Schedule& schedule, const firmware::Dataflow& dataflow) {
  const bool one_step = !n.is_attention();
  const unsigned traits = dataflow.traits & (firmware::kOneStep | firmware::kRowStep);
  if (stores(n, dataflow) && traits == step_traits(n) &&
      (!one_step || n.has_softmax() != dataflow.is(firmware::kChain)))
    return;
  std::vector<std::string> names;
  for (const firmware::Dataflow* d : dataflows_for(n, *schedule.firmware)) names.emplace_back(d->name);
  throw config::ConfigError(fmt::format("{} with {}: {}; allowed: {}", n.name(), schedule.text,
                                        !stores(n, dataflow) ? "the dataflow packs tiles, and a cache has rows"
                                        : one_step
                                            ? "that is one step of a layer, which the dataflow does not make"
                                            : "the dataflow makes one step of a layer, such as gemm:512x2304x768 "
                                              "or softmax:4096x512, no attention",
                                        fmt::join(names, ", ")));
}

// Refuses cores or clusters of different speeds (`what`) for dataflows that do not distribute work by speed.
void check_heterogeneous(const workload::Workload& n, const Schedule& schedule, const char* what) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  if (!dataflow.is(firmware::kHeterogeneousCores)) {
    if (!n.is_attention()) {
      throw config::ConfigError(
          fmt::format("{} with {}: the machine's {} are not alike; allowed is attention, as products and operations on "
                      "rows are dealt "
                      "in equal parts",
                      n.name(), schedule.text, what));
    }
    throw config::ConfigError(fmt::format(
        "{} with {}: the machine's {} are not alike, and that dataflow deals equal work to all; allowed: {}", n.name(),
        schedule.text, what, dataflows_with(firmware::kHeterogeneousCores, *schedule.firmware)));
  }
  for (std::size_t i = 0; i < schedule.options.size() && dataflow.options != nullptr; ++i) {
    const std::string option = dataflow.options[i].name;
    if (schedule.options[i] == 0 || (option != "grid" && option != "share")) continue;
    throw config::ConfigError(fmt::format("{} with {}: the machine's {} are not alike; allowed is {}={}", n.name(),
                                          schedule.text, what, option, dataflow.options[i].values[0]));
  }
}

template <typename Words>
void add_table(schedule::Job& made, std::uint64_t address, const Words& words, std::uint32_t flag) {
  schedule::Job::MailboxTable& table = made.tables.emplace_back();
  table.address = address;
  table.words.resize(sizeof words / sizeof(std::uint32_t));
  std::memcpy(table.words.data(), &words, sizeof words);
  made.block.flags |= flag;
}

// Adds block mask, padding and bias.
void add_places(schedule::Job& made, const workload::Attention& n) {
  const auto add = [&](std::uint32_t flag, std::uint64_t address, std::vector<std::uint32_t> words) {
    made.block.flags |= flag;
    if (words.size() % 2 != 0) words.push_back(0);  // firmware reads 8-byte words
    made.tables.push_back({address, std::move(words)});
  };
  if (n.mask.block != 0) add(hal::kMapped, hal::kMapAddress, n.map);
  if (n.mask.is_padded()) add(hal::kPadded, hal::kContextsAddress, n.valid);
  std::vector<std::uint32_t> words;
  const auto add_number = [&words](float number) {
    words.emplace_back();
    std::memcpy(&words.back(), &number, sizeof number);
  };
  if (n.sink) {
    for (std::uint32_t head = 0; head < n.heads; ++head) add_number(arith::float_from_half(workload::sink_of(head)));
    return add(hal::kSunkJob, hal::kBiasAddress, std::move(words));
  }
  if (n.bias == workload::Bias::kNone || n.bias == workload::Bias::kTensor) return;
  for (std::uint32_t head = 0; head < n.heads; ++head) {
    if (n.bias == workload::Bias::kAlibi) {
      add_number(workload::alibi_slope(head, n.heads));
      continue;
    }
    for (std::uint32_t i = 0; i < hal::kBuckets; i += 2) {
      words.push_back(workload::relative_bias(head, i) | std::uint32_t{workload::relative_bias(head, i + 1)} << 16);
    }
  }
  add(n.bias == workload::Bias::kAlibi ? hal::kSlopedJob : hal::kBucketedJob, hal::kBiasAddress, std::move(words));
}

}  // namespace

std::vector<const firmware::Dataflow*> dataflows_for(const workload::Workload& n,
                                                     const schedule::FirmwareImage& firmware) {
  std::vector<const firmware::Dataflow*> all = firmware.dataflows_for(n.has_softmax(), step_traits(n));
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto* d) { return !stores(n, *d); }), all.end());
  return all;
}

TensorBytes tensor_bytes(const workload::Workload& w) {
  const std::uint64_t bytes = hal::element_bytes(w.type());
  if (!w.is_attention()) {
    const Operands elements = operands_of(w);
    const std::uint64_t k = w.gemm() != nullptr ? w.gemm()->weight_bytes() : elements.k * bytes;
    return {elements.q * bytes, k, elements.v * sizeof(arith::Half), 0};
  }
  const workload::Attention& n = w.attention();
  const std::uint64_t in_pages = std::uint64_t{n.pages()} * n.page * n.folded().heads;  // rows
  const std::uint64_t key_rows = n.page > 0 ? in_pages : n.key_elements() / n.emb;
  return {n.query_elements() * bytes, key_rows * n.emb * bytes, key_rows * n.values() * bytes,
          n.output_elements() * hal::element_bytes(n.out)};
}

namespace {

// Element types, and scales as long as there are no data.
void add_types(schedule::Job& made, const workload::Workload& w, const Schedule& schedule) {
  made.types.operand = w.type();
  made.types.out = w.gemm() != nullptr ? w.gemm()->product_type() : w.out();
  if (w.is_typed()) made.block.flags |= hal::kTyped;
  const bool one_pass = has(schedule, firmware::kOnePass);
  if (w.type() == hal::ElementType::kInt8) {
    const std::uint64_t heads = std::uint64_t{made.block.layer.batch} * made.block.layer.heads;
    if (heads > hal::kMostScales) {
      throw config::ConfigError(fmt::format("{}: INT8 has scales for each of its {} heads of K and V; allowed are {}",
                                            w.name(), heads, hal::kMostScales));
    }
    made.types.per_head = 1;
    made.scales.assign(heads, {hal::kUnitScale, hal::kUnitScale});
  } else if (arith::is_relative(w.type()) && one_pass) {
    const float scale = 1 / arith::kept_one(w.type());
    std::memcpy(&made.types.value_scale, &scale, sizeof scale);
  }
}

// Attention beyond shape and types: masks, pages, contexts, blocks that share a scale.
void add_rules(schedule::Job& made, const workload::Attention& n, const Schedule& schedule) {
  hal::JobBlock& job = made.block;
  job.layer.ragged = !n.requests.empty() ? 2 : n.ragged() ? 1 : 0;
  made.rules.mask = n.mask;
  std::memcpy(&made.rules.scale, &n.scale, sizeof n.scale);
  std::memcpy(&made.types.cap, &n.soft_cap, sizeof n.soft_cap);
  made.types.value_emb = n.value_emb;
  if (n.beyond_fp16()) job.flags |= hal::kTyped;
  if (n.scale_block > 0) {
    made.types.per_head = 0;
    made.scales.clear();
    while (1U << made.types.scale_block < n.scale_block) ++made.types.scale_block;
    const float scale = has(schedule, firmware::kOnePass) ? 1 / arith::kept_one(n.type) : 1;
    std::memcpy(&made.types.value_scale, &scale, sizeof scale);
    made.tables.push_back({hal::kScalesAddress, std::vector<std::uint32_t>(n.block_scales(), hal::kUnitScale)});
  }
  add_places(made, n);
  const std::uint32_t group = n.folded().group();
  made.rules.group = static_cast<std::uint16_t>(group);
  made.rules.page = static_cast<std::uint16_t>(n.page);
  made.pages = n.page_table();
  if (n.mask.any() || n.scale != 1 || job.layer.ragged == 2 || n.page > 0 || n.bias != workload::Bias::kNone ||
      n.sink || group > 1) {
    job.flags |= hal::kRuled;
  }
  made.contexts = n.contexts;
  if (n.requests.empty()) return;
  made.contexts.clear();
  for (const workload::Request& r : n.requests) made.contexts.insert(made.contexts.end(), {r.new_tokens, r.tokens()});
}

// Refuses a type that an array does not multiply.
void check_type(const MachineConfig& machine, const workload::Workload& w) {
  if (w.rows() != nullptr) return;
  for (std::uint32_t i = 0; i < (machine.cluster_overrides.empty() ? 1 : machine.clusters) * machine.cores; ++i) {
    const MacConfig mac = machine.with_cluster(i / machine.cores).core(i % machine.cores).mac;
    if (multiplies(mac, w.type())) continue;
    std::vector<std::string> names;
    for (const hal::ElementTypeInfo& info : hal::kElementTypes) {
      if (info.is_tensor && multiplies(mac, info.type)) names.emplace_back(info.name);
    }
    throw config::ConfigError(fmt::format("{}: PEs do not multiply {} (keys mac.*_rate); allowed: {}", w.name(),
                                          hal::info_of(w.type()).name, fmt::join(names, ", ")));
  }
}

// Refuses layers that the dataflow does not support.
void check_dataflow(const workload::Workload& w, const Schedule& schedule) {
  const firmware::Dataflow& dataflow = schedule.declaration();
  check_step(w, schedule, dataflow);
  if (!w.has_softmax() && !dataflow.is(firmware::kChain)) {
    throw config::ConfigError(
        fmt::format("{} with {}: the dataflow needs a layer with softmax; "
                    "allowed: {}",
                    w.name(), schedule.text, dataflows_with(firmware::kChain, *schedule.firmware)));
  }
  if (w.has_softmax() && dataflow.is(firmware::kOnlyChain)) {
    throw config::ConfigError(
        fmt::format("{} with {}: that dataflow takes layers with softmax=none only", w.name(), schedule.text));
  }
}

// One-byte P of whole rows is relative to a row's maximum; the array divides by the sum of its elements.
void check_sink(const workload::Attention& n, const Schedule& schedule) {
  if (!n.sink || !arith::is_relative(n.type) || schedule.declaration().is(firmware::kOnePass)) return;
  throw config::ConfigError(fmt::format("{} with {}: sinks with P of one byte need one pass; allowed: {}", n.name,
                                        schedule.text, dataflows_with(firmware::kOnePass, *schedule.firmware)));
}

void check_cache(const workload::Attention& n, const schedule::Job& made, const Schedule& schedule) {
  const firmware::Dataflow& dataflow = schedule.declaration();
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
}

// Allocator of tensors in DRAM: consecutive, page-aligned.
struct Dram {
  std::uint64_t next = hal::kTensorsAddress;
  std::uint64_t place(std::uint64_t bytes) {
    const std::uint64_t here = next;
    next = aligned(next + bytes);
    return here;
  }
};

// K and V of new tokens are separate until firmware appends them to the cache.
void add_operation(schedule::Job& made, Dram& dram, const workload::Attention& n, const Schedule& schedule) {
  add_rules(made, n, schedule);
  hal::Layer& l = made.block.layer;
  const TensorBytes tensors = tensor_bytes(n);
  l.q = dram.place(tensors.q);
  if (n.bias == workload::Bias::kTensor) {
    add_table(made, hal::kBiasAddress, hal::Addends{dram.place(score_bytes(n))}, hal::kAddedJob);
  }
  if (n.append) {
    const std::uint64_t bytes = hal::element_bytes(n.type);
    hal::Append from{};
    from.k = dram.place(n.appended_rows() * n.emb * bytes);
    from.v = dram.place(n.appended_rows() * n.values() * bytes);
    from.first = n.mask.history;
    from.tokens = n.requests.empty() ? n.seq_q : 0;
    add_table(made, hal::kAppendAddress, from, hal::kAppends);
  }
  l.k = dram.place(tensors.k);
  l.v = dram.place(tensors.v);
  l.o = dram.place(tensors.o);
}

void place_operands(schedule::Job& made, Dram& dram, const workload::Workload& operation) {
  hal::Layer& l = made.block.layer;
  const TensorBytes operands = tensor_bytes(operation);
  l.q = dram.place(operands.q);
  l.k = dram.place(operands.k);
  l.v = dram.place(operands.v);
  l.o = dram.next;  // the result overwrites the scores
}

void add_operation(schedule::Job& made, Dram& dram, const workload::Gemm& g, const Schedule& /*schedule*/) {
  place_operands(made, dram, g);
  if (const workload::WeightType& w = g.weights; w.any()) {
    hal::Weights what{};
    what.scales = made.block.layer.k + w.code_bytes(g.columns, g.depth);
    what.group = w.group;
    what.type = w.format->code;
    what.scale = w.format->scale;
    add_table(made, hal::kWeightsAddress, what, hal::kQuantised);
  }
  const workload::Fusion& f = g.fusion;
  if (const workload::CacheAppend& c = f.append; c.any()) {
    const std::uint64_t bytes = c.cache_elements() * hal::element_bytes(g.out());
    hal::CachedColumns what{0, 0, c.sequences, c.heads, c.elements, c.context};
    what.k = dram.place(bytes);
    what.v = dram.place(bytes);
    add_table(made, hal::kCachedColumnsAddress, what, hal::kStoresCache);
  }
  if (!f.any()) return;
  const FusedOperands elements = fused_operands_of(g);
  std::uint64_t next = made.block.layer.v;
  const auto place = [&next](std::uint64_t count) {
    const std::uint64_t here = count > 0 ? next : 0;
    next += count * sizeof(arith::Half);
    return here;
  };
  hal::FusedProduct what{};
  what.gamma = place(elements.gamma);
  what.beta = place(elements.beta);
  what.bias = place(elements.bias);
  what.angles = place(elements.angles);
  what.residual = place(elements.residual);
  std::memcpy(&what.epsilon, &workload::kNormEpsilon, sizeof what.epsilon);
  what.head = f.head;
  what.rotated = f.rotated;
  what.is_activated = f.activation ? 1 : 0;
  what.is_gated = f.is_gated ? 1 : 0;
  what.function = f.activation.value_or(hal::Activation::kRelu);
  what.out = f.out.value_or(hal::ElementType::kNone);
  add_table(made, hal::kFusedAddress, what, hal::kFused);
  if (f.down == 0) return;
  hal::SecondProduct second{};
  second.b = made.block.layer.k + g.second_weights_at_byte();
  if (g.weights.any()) second.scales = second.b + g.weights.code_bytes(f.down, g.first_columns());
  second.columns = f.down;
  add_table(made, hal::kSecondAddress, second, hal::kSecond);
}

void add_operation(schedule::Job& made, Dram& dram, const workload::RowOperation& r, const Schedule& /*schedule*/) {
  place_operands(made, dram, r);
  if (!takes_row_step(r)) return;
  hal::RowStep what{};
  what.opcode = r.opcode;
  what.function = r.function;
  what.gated = r.is_gated ? 1 : 0;
  what.residual = r.has_residual ? 1 : 0;
  what.centred = r.norm == workload::Norm::kLayerNorm ? 1 : 0;
  const float number = r.opcode == hal::Opcode::kConvert ? 1 : workload::kNormEpsilon;
  std::memcpy(&what.number, &number, sizeof what.number);
  add_table(made, hal::kRowStepAddress, what, 0);
}

void add_stage(schedule::Job& made, const MachineConfig& machine) {
  constexpr std::uint64_t kAligned = 64;
  const std::uint64_t bytes = machine.l2.size_bytes / machine.clusters / kAligned * kAligned;
  if (machine.l2.staging) add_table(made, hal::kStageAddress, hal::Stage{hal::kL2Base, bytes}, hal::kStaged);
}

// Places scores that the dataflow keeps in DRAM; the rest of DRAM is scratch.
void place_scores(schedule::Job& made, Dram& dram, const MachineConfig& machine, const workload::Workload& w,
                  const Schedule& schedule) {
  const std::uint32_t scores = schedule.declaration().scores;
  if (scores == hal::kScoresCAndP) made.block.layer.c = dram.place(score_bytes(w));
  if (scores != hal::kScoresOnChip) made.block.layer.p = dram.place(score_bytes(w));
  if (w.is_attention()) check_cache(w.attention(), made, schedule);
  const std::uint64_t end = hal::kDramBase + machine.dram.size_bytes;
  if (dram.next > end) {
    throw config::ConfigError(fmt::format("{} with {}: the tensors need {} bytes of DRAM, dram.size is {} bytes",
                                          w.name(), schedule.text, dram.next - hal::kDramBase, end - hal::kDramBase));
  }
  made.scratch = {dram.next, end - dram.next};
}

hal::JobBlock block_of(const MachineConfig& machine, const workload::Workload& w, const Schedule& schedule) {
  hal::JobBlock job{};
  job.magic = hal::kJobMagic;
  job.bytes = sizeof job;
  std::strncpy(job.dataflow, schedule.dataflow.c_str(), hal::kNameBytes - 1);
  for (std::size_t i = 0; i < schedule.options.size() && i < hal::kMaxOptions; ++i) {
    job.option[i] = schedule.options[i];
  }
  job.machine = machine_info(machine, w);
  const workload::Extents e = w.folded().extents();
  job.layer.batch = e.batch;
  job.layer.heads = e.heads;
  job.layer.seq_q = e.seq_q;
  job.layer.seq_kv = e.seq_kv;
  job.layer.emb = e.emb;
  if (!w.has_softmax()) job.flags |= hal::kPlain;
  return job;
}

}  // namespace

schedule::Job make_job(const MachineConfig& machine, const workload::Workload& w, const Schedule& schedule) {
  schedule::Job made;
  made.image = schedule.firmware;
  made.firmware = schedule::untimed(*schedule.firmware, machine);
  made.block = block_of(machine, w, schedule);
  add_types(made, w, schedule);
  workload::refuse_scope(w);
  check_type(machine, w);
  check_dataflow(w, schedule);
  if (w.is_attention()) check_sink(w.attention(), schedule);
  Dram dram;
  std::visit([&](const auto& operation) { add_operation(made, dram, operation, schedule); }, w.operation);
  add_stage(made, machine);
  place_scores(made, dram, machine, w, schedule);
  const std::vector<std::uint32_t> words = words_of(schedule.tiling, schedule.declaration());
  std::copy(words.begin(), words.end(), made.block.parameter);
  const double dram_cycles = schedule::layer_demand(made, machine).bus / std::max(made.scores(), 1.0);
  if (const auto unequal = unequal_clusters(machine, w, dram_cycles)) {
    check_heterogeneous(w, schedule, "clusters");
    add_table(made, hal::kCoresAddress, unequal->fastest, hal::kHeterogeneous);
    add_table(made, hal::kClustersAddress, unequal->clusters, hal::kUnequalClusters);
    for (std::uint32_t kind = 0; kind < unequal->kinds.size(); ++kind) {
      add_table(made, hal::cores_address(kind), unequal->kinds[kind], 0);
    }
  } else if (const auto cores = heterogeneous_cores(machine.with_cluster(0), w, dram_cycles)) {
    check_heterogeneous(w, schedule, "cores");
    add_table(made, hal::kCoresAddress, *cores, hal::kHeterogeneous);
  }
  check_extents(made, schedule.declaration());
  return made;
}

std::uint64_t result_bytes(const workload::Workload& n, const Schedule& schedule) {
  const bool whole = !schedule.declaration().is(firmware::kOneStep);
  return whole ? n.attention().query_elements() * sizeof(arith::Half) : 0;
}

}  // namespace attnvp::job
