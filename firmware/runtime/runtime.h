// Runtime of the scheduler programs: job data, command queues, events and L1 space of one cluster. It uses no heap,
// exceptions or globals. After a failure, which is kept in `status`, every call is a no-op.
#pragma once

#include <cstdint>

#include "firmware/hal/cpu.h"
#include "firmware/hal/job.h"
#include "firmware/runtime/command.h"
#include "firmware/runtime/dataflow.h"
#include "firmware/runtime/deal.h"
#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

class Runtime {
 public:
  Runtime(hal::Cpu& cpu, uint32_t cluster);

  const hal::JobBlock& job() const { return job_; }
  const hal::MachineInfo& machine() const { return job_.machine; }
  const hal::Layer& layer() const { return job_.layer; }
  const hal::Mask& mask() const { return rules_.mask; }
  const hal::Rules& rules() const { return rules_; }
  hal::BlockMask map() const {  // block map of the mask
    if (rules_.mask.block == 0) return {};
    return {map_, hal::map_stride(rules_.mask, layer().seq_kv)};
  }
  // Fails if commands of `rows` x `keys` exceed the capacity for the block map or for block scales in a descriptor.
  void check_extents(uint32_t rows, uint32_t keys) {
    if (mask().block != 0 || scaled_by_block()) check_more(rows, keys);
  }
  // Valid keys of a batch.
  uint32_t valid_keys(uint32_t batch) {
    uint32_t keys = layer().seq_kv;
    if (rules_.mask.is_padded()) read(hal::kContextsAddress + uint64_t{batch} * sizeof keys, &keys, sizeof keys);
    return keys;
  }
  // Element types and sizes in bytes: of Q, K, V and P; of O.
  hal::ElementType type() const { return types_.operand; }
  hal::ElementType out_type() const { return types_.out; }
  uint32_t bytes() const { return bytes_; }
  uint32_t out_bytes() const { return out_bytes_; }
  bool typed() const { return (job_.flags & hal::kTyped) != 0; }                                 // Types are given
  uint32_t value_emb() const { return types_.value_emb != 0 ? types_.value_emb : layer().emb; }  // columns of V and O
  uint32_t partial_columns() const { return value_emb() + (bytes() == 1 ? 1 : 0); }  // columns of the partial sums of O
  Matrix in(const Matrix& m) const { return m.as(types_.operand); }
  Matrix out(const Matrix& m) const { return m.as(types_.out); }
  // Scales of a head's products as FP32 bit patterns. Commands always carry them if heads differ.
  bool scaled_by_head() const { return types_.per_head != 0; }
  hal::HeadScales scales(uint32_t head) {
    if (!scaled_by_head()) return {rules_.scale, types_.value_scale};
    const uint32_t place = head % kScalesKept;
    if (scales_head_[place] != head + 1) read_scales(head, place);
    return scales_[place];
  }
  Command& scale_scores(Command& command, uint32_t head) {
    command.scaled_by(scaled_by_head() || types_.cap != 0, scales(head).score);
    return types_.cap == 0 ? command : command.capped(types_.cap);
  }
  Command& scale_values(Command& command, uint32_t head) {
    return command.scaled_by(scaled_by_head(), scales(head).value);
  }
  // True if commands depend on the scores' position (ScorePosition): biases, block scales.
  bool by_place() const {
    return (job_.flags & (hal::kSlopedJob | hal::kBucketedJob | hal::kAddedJob)) != 0 || scaled_by_block();
  }
  uint32_t most_scaled() const {  // keys per product with V
    return scaled_by_block() ? (hal::kMostScaled - 1) << types_.scale_block : 0xFFFF'FFFF;
  }
  bool scaled_by_block() const { return types_.scale_block != 0; }
  bool added() const { return (job_.flags & hal::kAddedJob) != 0; }
  // Issues a command for scores on the core's MAC engine, after adding the fields that depend on the position.
  void scores(uint32_t lane, uint32_t core, Command& command, const ScorePosition& at) {
    scores(lane, core, command, at, mask());
  }
  void scores(uint32_t lane, uint32_t core, Command& command, const ScorePosition& at, const hal::Mask& mask) {
    by_place() ? placed_scores(lane, core, command, at, mask) : mac(core, command);
  }
  // Addends (addends.cpp): every lane has L1 space for two commands of at most `rows` x `keys`. The lanes' channels
  // load them in turn; on those channels no load waits for one issued later.
  struct LoadChannels {
    uint32_t first, count;
  };
  LoadChannels own_channel() const { return {max<uint32_t>(job_.machine.dma_channels, 2) - 1, 1}; }
  uint64_t addend_bytes(uint32_t lanes, uint32_t rows, uint32_t keys) const;
  void expect_scores(uint32_t lanes, uint32_t rows, uint32_t keys, const LoadChannels& channels) {
    if (added())
      hold_addends(allocate(addend_bytes(lanes, rows, keys), L1Region::kScores), lanes, rows, keys, channels);
  }
  void hold_addends(uint64_t l1, uint32_t lanes, uint32_t rows, uint32_t keys, const LoadChannels& channels);
  Command& place_values(Command& command, const ScorePosition& at);
  // Adds the learned sinks of the heads of `rows` queries from `row` on to a softmax or division of whole rows. If a
  // row's keys are split, only the command that divides by the sum of all parts has them.
  bool has_sinks() const { return (job_.flags & hal::kSunkJob) != 0; }
  void add_sinks(Command& command, uint32_t head, uint32_t row) { add_sinks(command, head, row, mask()); }
  void add_sinks(Command& command, uint32_t head, uint32_t row, const hal::Mask& mask) {
    if (has_sinks()) place_sinks(command, head, row, mask);
  }
  uint32_t cluster() const { return cluster_; }
  uint32_t cores() const { return cores_; }  // cores in use: all, unless L1 does not hold the buffers of all cores
  // Cores differ in speed and get work in proportion.
#if ATTNVP_HETEROGENEOUS_CORES
  bool is_heterogeneous() const { return (job_.flags & hal::kHeterogeneous) != 0; }
  const Deal& deal() const { return deal_; }
  // Clusters differ, too. Windows of rows follow from one Deal for all clusters.
  bool has_unequal_clusters() const { return (job_.flags & hal::kUnequalClusters) != 0; }
  const Deal& common_deal() const { return has_unequal_clusters() ? common_deal_ : deal_; }
  ClusterDeal cluster_deal();
  // Weights of the first `count` cores of all clusters, core by core: worker w is core w / clusters of cluster
  // w % clusters.
  void read_worker_weights(uint32_t count, std::uint16_t* weights);
#else
  static constexpr bool is_heterogeneous() { return false; }
  static Deal deal() { return {}; }
#endif
  bool ok() const { return status_ == Status::kDone; }
  bool sketch() const { return sketch_; }                                       // during need_of
  bool plain() const { return (job_.flags & hal::kPlain) != 0; }                // no softmax
  bool dry() const { return is_dry_run_ || (job_.flags & hal::kDryRun) != 0; }  // no work is distributed

  // Limits the cores in use to those that have work. Returns their number.
  uint32_t use_cores(uint32_t most) { return cores_ = min(cores_, most); }
  // Runs the dataflow on all cores, or on the largest number whose buffers fit into L1.
  void run(const Dataflow& dataflow);

  // The job's parameters as the dataflow's own type; missing ones are refused.
  template <typename Tiling>
  Tiling parameters() {
    Tiling tiling;
    static_assert(sizeof tiling <= sizeof job_.parameter, "more parameters than the job can hold");
    constexpr uint32_t kWords = sizeof tiling / sizeof(uint32_t);
    auto* words = reinterpret_cast<Command::Word*>(&tiling);
    uint32_t missing = 0;
#pragma GCC unroll 12
    for (uint32_t i = 0; i < kWords; ++i) {
      words[i] = job_.parameter[i];
      missing |= words[i] == 0 ? 1 : 0;
    }
    for (uint32_t i = 0; missing != 0 && i < kWords; ++i) {
      if (words[i] == 0) refuse(i, 0);
    }
    return tiling;
  }
  [[gnu::noinline]] void refuse(uint32_t parameter, uint64_t value) { fail(Status::kBadTiling, parameter, value); }
  // Fails with kL0TooSmall unless the double-buffered operands of an L0 sub-tile fit into the MAC engine's half of L0.
  void check_l0(const L0Tile& tile);
  // True if L0 holds `sums` partial sums besides the operands.
  bool holds(uint64_t sums, const L0Tile& tile) const;

  // Allocates `span` events, each initialised with `tokens`.
  Events events(uint32_t span, uint32_t tokens = 0) {
    const Events result{next_event_, span};
    next_event_ += span;
    if (sketch_) return result;
    if (next_event_ > machine().events) fail(Status::kTooFewEvents, next_event_, machine().events);
    if (tokens > 0) give_at_first(result, tokens);
    return result;
  }
  void wait(Events events, uint32_t tokens = 1);  // stalls the processor
  void give(Events events, uint32_t tokens = 1);

  // Allocates L1 space, aligned to 64 bytes. Returns 0 and fails with kL1TooSmall if there is none left.
  uint64_t allocate(uint64_t bytes, L1Region region = L1Region::kOther) {
    const uint64_t address = hal::l1_base(cluster_) + l1_used_, used = l1_used_ + ((bytes + 63) & ~uint64_t{63});
    if (!sketch_ && !has_space(used)) return 0;
    l1_used_ = used;
    if (!sketch_) note_allocated(used, region);
    return address;
  }
  uint64_t allocated() const { return l1_used_; }
  void free_to(uint64_t mark);      // frees everything allocated since allocated() returned `mark`
  bool has_space(uint64_t bytes) {  // L1 bytes from the start; otherwise status kL1TooSmall
    if (bytes > machine().l1_bytes) fail(Status::kL1TooSmall, bytes, machine().l1_bytes);
    return ok();
  }
  // Returns the L1 bytes that `build` would allocate. It has no effect on space, events or status.
  template <typename Build>
  uint64_t need_of(const Build& build) {
    if (!ok()) return 0;
    const uint64_t used = l1_used_;
    const uint32_t event = next_event_;
    const bool within = sketch_;
    sketch_ = true;
    build();
    sketch_ = within;
    const uint64_t need = l1_used_ - used;
    l1_used_ = used;
    next_event_ = event;
    status_ = Status::kDone;
    return need;
  }

  // Fails if L1 cannot hold the later allocations of `build`.
  template <typename Build>
  void check_space_of(const Build& build) {
    has_space(l1_used_ + need_of(build));
  }
  // After a failed allocation: reports the L1 bytes that `build` needs.
  template <typename Build>
  void tell_need_of(const Build& build) {
    if (status_ != Status::kL1TooSmall) return;
    status_ = Status::kDone;
    l1_used_ = 0;
    has_space(need_of(build));
  }

  // Returns the address of DRAM space behind the tensors, shared by all clusters. Fails with kDramTooSmall.
  uint64_t scratch(uint64_t bytes);

  // True if streamed K and V are staged. stage() allocates space in this cluster's share of L2 and fails with
  // kL2TooSmall.
  bool stages() const { return (job_.flags & hal::kStaged) != 0; }
  [[gnu::cold]] uint64_t stage(uint64_t bytes);

  void mac(uint32_t core, const Command& command) { push(core_queue(core, hal::kMacOffset), command, Side::kCompute); }
  void vec(uint32_t core, const Command& command) { push(core_queue(core, hal::kVecOffset), command, Side::kCompute); }
  void dma(uint32_t channel, const Command& command) {
    if (channel >= machine().dma_channels) return fail(Status::kTooFewChannels, channel + 1, machine().dma_channels);
    push(dma_queue(channel), command, Side::kTransfer);
  }

  // Enqueues a command without checks: it must be complete, the status ok and lock-step off.
  void again(uint32_t queue, const Command& command) {
    if (!hal::push(cpu_, queue, command.raw())) fail(Status::kEngineFault, queue);
  }
  uint32_t dma_queue(uint32_t channel) const {  // the channel must exist
    return control_ + static_cast<uint32_t>(hal::kDmaOffset) + channel * static_cast<uint32_t>(hal::kQueueStride);
  }

  // From now on transfers and computation alternate: commands of one kind wait for all earlier ones of the other.
  void lock_step();
  bool in_lock_step() const { return lock_step_.span > 0; }
  void settle();                         // lock-step: waits until all commands are done
  uint32_t dma_level(uint32_t channel);  // descriptors waiting in the channel's queue

  // Adds to a statistic, numbered in the order of the dataflow's declaration.
  void count(uint32_t statistic, uint64_t amount) { statistic_[statistic] += amount; }
  // Writes the scratchpad's performance monitor: bytes allocated, and the purpose of the space allocated or freed last.
  void note_allocated(uint64_t bytes, L1Region region) {
    const uint64_t value = bytes | static_cast<uint64_t>(region) << hal::kL1TagShift;
    const uint32_t monitor = control_ + static_cast<uint32_t>(hal::kL1ControlOffset + hal::kL1Allocated);
    if (ok() && !is_dry_run_ && !hal::post(cpu_, monitor, value)) fail(Status::kEngineFault, monitor);
  }

  // Other bus accesses.
  bool read(uint64_t address, void* data, uint32_t bytes);
  bool write(uint64_t address, const void* data, uint32_t bytes);

  [[gnu::noinline]] void fail(Status status, uint64_t detail0 = 0, uint64_t detail1 = 0);
  void finish();  // writes the status word

 private:
  enum class Side : std::uint8_t { kCompute, kTransfer };
  // Register addresses are below 4 GiB.
  uint32_t event_registers(uint32_t event) const {
    return control_ + static_cast<uint32_t>(hal::kEventsOffset) + event * static_cast<uint32_t>(hal::kEventStride);
  }
  uint32_t core_queue(uint32_t core, uint64_t engine) const {
    return control_ + static_cast<uint32_t>(hal::kCoreOffset + engine) + core * static_cast<uint32_t>(hal::kCoreStride);
  }
  void push(uint32_t queue, const Command& command, Side side) {
    if (lock_step_.span != 0) return push_in_step(queue, command, side);
    enqueue(queue, command);
  }
  void push_in_step(uint32_t queue, const Command& command, Side side);
  void give_at_first(Events events, uint32_t tokens);
  void begin_again(uint32_t cores, uint32_t first_event);
  void enqueue(uint32_t queue, const Command& command) {
    if (!ok()) return;
    if (!command.complete()) return fail(Status::kTooManyEvents);
    if (!is_dry_run_) begun_ = true;
    if (!hal::push(cpu_, queue, command.raw())) fail(Status::kEngineFault, queue);
  }
#if ATTNVP_HETEROGENEOUS_CORES
  uint32_t kind_of(uint32_t cluster);
#endif
  void read_scales(uint32_t head, uint32_t place);
  [[gnu::noinline]] void check_more(uint32_t rows, uint32_t keys);
  void read_block_scales(Command& command, const ScorePosition& at, bool scores);
  void place_scores(Command& command, const ScorePosition& at, const hal::Mask& mask);
  [[gnu::noinline]] void place_sinks(Command& command, uint32_t head, uint32_t row, const hal::Mask& mask);
  void read_by_head(uint32_t* numbers, uint32_t head, uint32_t row, uint32_t rows, const hal::Mask& mask);
  [[gnu::noinline]] void placed_scores(uint32_t lane, uint32_t core, Command& command, const ScorePosition& at,
                                       const hal::Mask& mask);
  Events load_addends(uint32_t lane, Command& command, const ScorePosition& at);

  hal::Cpu& cpu_;
  uint32_t cluster_, control_, cores_ = 0;
  hal::JobBlock job_;
  hal::Rules rules_{{}, hal::kUnitScale, 1, 0};
  hal::Types types_{hal::ElementType::kFp16, hal::ElementType::kFp16, 0, 0, hal::kUnitScale, 0, 0};
  uint32_t bytes_ = kHalfBytes, out_bytes_ = kHalfBytes;  // per element
  static constexpr uint32_t kScalesKept = 16, kMostLanes = 64;
  uint32_t scales_head_[kScalesKept];  // 1 + head; used if heads have their own scales
  hal::HeadScales scales_[kScalesKept];
  Status status_ = Status::kDone;
  uint64_t detail_[2] = {};
  uint32_t next_event_ = 0;
  uint64_t l1_used_ = 0, stage_used_ = 0;
  bool sketch_ = false;      // during need_of
  bool is_dry_run_ = false;  // dry run that leaves the machine unchanged
  bool begun_ = false;       // at least one command was issued
  // Initial tokens of events, for undoing a run.
  static constexpr uint32_t kMostGiven = 32;
  struct InitialTokens {
    Events events;
    uint32_t tokens;
  };
  InitialTokens given_[kMostGiven];
  uint32_t given_count_ = 0;
  uint64_t statistic_[hal::kMaxStatistics] = {};
  Events lock_step_{};  // span 0: not in lock-step
  Side side_ = Side::kTransfer;
  uint32_t pending_ = 0;  // commands of that side in flight
  struct Held {           // for scores with addends
    uint64_t dram, l1, slot_bytes;
    LoadChannels channels;
    uint32_t ready, free;  // first events
    std::uint8_t turn[kMostLanes];
  } addends_;
  uint32_t map_[hal::kMostBlockWords];  // last, because few layers have a map
#if ATTNVP_HETEROGENEOUS_CORES
  Deal deal_, common_deal_;
#endif
};

}  // namespace attnvp::firmware
