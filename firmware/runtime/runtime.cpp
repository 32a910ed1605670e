#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

// Added bytes are zero.
void Command::lengthen_to(uint32_t end) {
  const uint32_t length = round_up(end, uint32_t{hal::kDescriptorStep});
  auto* bytes = reinterpret_cast<unsigned char*>(&d_);
  for (uint32_t i = d_.length; i < length; ++i) bytes[i] = 0;
  d_.length = static_cast<std::uint16_t>(length);
}

Command& Command::masked(const hal::Mask& mask, const hal::BlockMask& blocks, uint32_t row, uint32_t key,
                         uint32_t keys) {
  d_.flags |= hal::kMasked;
  if (blocks.any()) d_.flags |= hal::kBlocked;
  lengthen();
  if (blocks.any()) {
    const hal::BlockWindow w = hal::window_of(mask, row, d_.rows, key, keys);
    complete_ = complete_ && w.bits() <= hal::kMapBits;
    uint32_t* const map = d_.tail.rule.more.map;
    for (uint32_t i = 0; i < hal::kMapBits / 32; ++i) map[i] = 0;
    for (uint32_t i = 0; complete_ && i < w.rows; ++i) {
      for (uint32_t j = 0; j < w.columns; ++j) {
        const uint32_t bit = i * w.columns + j;
        if (blocks.at(w.first_row + i, w.first_column + j)) map[bit / 32] |= 1U << bit % 32;
      }
    }
  }
  d_.tail.rule.row = row;
  d_.tail.rule.key = key;
  d_.tail.rule.mask = mask;
  return *this;
}

Command& Command::scaled(uint32_t scale) { return scale == hal::kUnitScale ? *this : scaled_by(scale); }

Command& Command::scaled_by(uint32_t scale) {
  d_.flags |= hal::kScaled;
  lengthen();
  d_.tail.rule.scale = scale;
  return *this;
}

Command& Command::capped(uint32_t cap) {
  d_.flags |= hal::kCapped;
  lengthen();
  d_.tail.rule.cap = cap;
  return *this;
}

namespace {

hal::ElementType sum_type(hal::ElementType operand) {
  return operand == hal::ElementType::kInt8 ? hal::ElementType::kInt32 : hal::ElementType::kFp32;
}

Command matmul(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0) {
  Command command(hal::Opcode::kMatmul, a.rows);
  command.operand(0, a).operand(1, b).operand(2, c);
  // Sub-tiles of equal depth: a thin last one would end before the next operands are loaded.
  const uint64_t k0 = ceil_div(a.columns, ceil_div(a.columns, l0.k0));
  command.raw().tail.matmul = {static_cast<std::uint16_t>(l0.m0), static_cast<std::uint16_t>(l0.n0),
                               static_cast<std::uint16_t>(k0), 0};
  return command;
}

}  // namespace

Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0) {
  Command command = matmul(a, b, c, l0);
  command.raw().flags = hal::kTransposeB;
  return command;
}

Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0) { return matmul(a, b, c, l0); }

Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                  const L0Tile& l0) {
  const bool ends = place == Accumulate::kOnly || place == Accumulate::kLast;
  const bool starts = place == Accumulate::kOnly || place == Accumulate::kFirst;
  const Matrix sums = partials.as(sum_type(a.type));
  Command command = matmul(a, b, ends ? c : sums, l0);
  if (!starts) {
    command.operand(3, sums);
    command.raw().flags |= hal::kAccumulate;
  }
  return command;
}

Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                   const L0Tile& l0) {
  Command command = matmul_ab(a, b, c, partials, place, l0);
  command.raw().flags |= hal::kTransposeB;
  return command;
}

Command attend(const Matrix& p, const Matrix& v, const Matrix& o, const Matrix& partials, Accumulate place,
               const L0Tile& l0, bool scaled_by_block) {
  if (hal::element_bytes(p.type) != 1) return matmul_ab(p, v, o, partials, place, l0);
  Matrix sums = partials;
  sums.columns = o.columns + 1;
  Command command = matmul_ab(p, v, o, sums, place, l0);
  command.raw().flags |= hal::kNormalised;
  if (!scaled_by_block) return command;  // its sums include the scales
  for (int i = 2; i < hal::kOperands; ++i) {
    if (command.raw().type[i] == hal::ElementType::kInt32) command.raw().type[i] = hal::ElementType::kFp32;
  }
  return command;
}

Accumulate place_of(uint32_t term, uint32_t terms) {
  if (terms == 1) return Accumulate::kOnly;
  if (term == 0) return Accumulate::kFirst;
  return term + 1 == terms ? Accumulate::kLast : Accumulate::kMiddle;
}

Command softmax(const Matrix& in, const Matrix& out) {
  Command command(hal::Opcode::kSoftmax, in.rows);
  command.operand(0, in).operand(1, out);
  return command;
}

Command copy(const Matrix& from, const Matrix& to) {
  Command command(hal::Opcode::kCopy, from.rows);
  command.operand(0, from).operand(1, to).raw().tail.copy.planes = 1;
  return command;
}

Command fence() { return Command(hal::Opcode::kNop); }

Runtime::Runtime(hal::Cpu& cpu, uint32_t cluster)
    : cpu_(cpu), cluster_(cluster), control_(static_cast<uint32_t>(hal::cluster_base(cluster))) {
  const bool read = hal::read(cpu_, hal::kJobAddress, &job_, sizeof job_);
  if (!read) job_ = {};
  if (!read || job_.magic != hal::kJobMagic || job_.bytes != sizeof job_) fail(Status::kBadJob);
  cores_ = job_.machine.cores;
  if (ok() && (job_.flags & hal::kRuled) != 0) this->read(hal::kRulesAddress, &rules_, sizeof rules_);
  if (ok() && (job_.flags & hal::kMapped) != 0) {
    const uint32_t words = hal::map_rows(mask()) * hal::map_stride(mask(), layer().seq_kv);
    if (words > hal::kMostBlockWords) fail(Status::kBadJob);
    this->read(hal::kMapAddress, map_, static_cast<uint32_t>(round_up(words, 2)) * sizeof map_[0]);
  }
  if (ok() && added()) this->read(hal::kBiasAddress, &addends_.dram, sizeof(hal::Addends));
#if ATTNVP_HETEROGENEOUS_CORES
  if (ok() && is_heterogeneous()) {
    hal::Cores cores{};
    if (this->read(hal::kCoresAddress, &cores, sizeof cores)) deal_ = Deal(cores, cores_);
    if (has_unequal_clusters()) {
      common_deal_ = deal_;
      if (this->read(hal::cores_address(kind_of(cluster)), &cores, sizeof cores)) deal_ = Deal(cores, cores_);
    }
  }
#endif
  if (!ok() || !typed()) return;
  this->read(hal::kTypesAddress, &types_, sizeof types_);
  bytes_ = hal::element_bytes(types_.operand);
  out_bytes_ = hal::element_bytes(types_.out);
  for (uint32_t& head : scales_head_) head = 0;
}

#if ATTNVP_HETEROGENEOUS_CORES
uint32_t Runtime::kind_of(uint32_t cluster) {
  std::uint8_t kinds[4] = {};  // read in words
  read(hal::kClustersAddress + offsetof(hal::Clusters, kind) + cluster / sizeof kinds * sizeof kinds, kinds,
       sizeof kinds);
  return kinds[cluster % sizeof kinds];
}

ClusterDeal Runtime::cluster_deal() {
  ClusterDeal deal(machine().clusters);
  read(hal::kClustersAddress, deal.weights(), static_cast<uint32_t>(round_up(machine().clusters * 2, 8)));
  return deal;
}

void Runtime::read_worker_weights(uint32_t count, std::uint16_t* weights) {
  const uint32_t clusters = machine().clusters;
  for (uint32_t c = 0; ok() && c < clusters; ++c) {
    hal::Cores cores{};
    if (has_unequal_clusters()) read(hal::cores_address(kind_of(c)), &cores, sizeof cores);
    for (uint32_t k = 0; k < count; ++k) {
      weights[k * clusters + c] =
          has_unequal_clusters() ? cores.weight[k] : static_cast<std::uint16_t>(deal_.weight(k));
    }
  }
}
#endif

void Runtime::give(Events events, uint32_t tokens) {
  if (!ok() || tokens == 0) return;
  uint32_t event = event_registers(events.first);
  for (const uint32_t end = event_registers(events.first + events.span); event != end; event += hal::kEventStride) {
    if (!hal::post(cpu_, event + hal::kEventSignal, tokens)) return fail(Status::kEngineFault, event);
  }
}

void Runtime::give_at_first(Events events, uint32_t tokens) {
  if (is_dry_run_ || !ok()) return;
  if (given_count_ < kMostGiven) given_[given_count_] = {events, tokens};
  ++given_count_;
  give(events, tokens);
}

// Undoes all allocations made after event `first_event` and continues with `cores` cores.
void Runtime::begin_again(uint32_t cores, uint32_t first_event) {
  status_ = Status::kDone;
  detail_[0] = detail_[1] = 0;
  if (l1_used_ > 0) free_to(0);
  for (uint32_t i = 0; i < given_count_; ++i) wait(given_[i].events, given_[i].tokens);
  given_count_ = 0;
  begun_ = false;
  next_event_ = first_event;
  stage_used_ = 0;
  lock_step_ = {};
  cores_ = cores;
#if ATTNVP_HETEROGENEOUS_CORES
  if (is_heterogeneous()) deal_.use(cores), common_deal_.use(cores);
#endif
}

void Runtime::run(const Dataflow& dataflow) {
  const uint32_t first_event = next_event_;
  given_count_ = 0;
  begun_ = false;
  dataflow.run(*this);
  const auto lacks_l1 = [&] { return status_ == Status::kL1TooSmall && !begun_ && given_count_ <= kMostGiven; };
  for (uint32_t cores = cores_ - 1; cores > 0 && lacks_l1(); --cores) {
    const uint64_t need = detail_[0];
    begin_again(cores, first_event);
    is_dry_run_ = true;
    dataflow.run(*this);
    is_dry_run_ = false;
    if (ok()) {
      begin_again(cores, first_event);
      return dataflow.run(*this);
    }
    if (status_ == Status::kL1TooSmall) continue;
    status_ = Status::kDone;  // the dataflow does not support so few cores
    return fail(Status::kL1TooSmall, need, machine().l1_bytes);
  }
}

void Runtime::wait(Events events, uint32_t tokens) {
  for (uint32_t i = 0; ok() && tokens > 0 && i < events.span; ++i) {
    const uint32_t event = event_registers(events.first + i);
    if (!hal::write_register(cpu_, event + hal::kEventTake, tokens)) fail(Status::kEngineFault, event);
  }
}

void Runtime::free_to(uint64_t mark) {
  if (ok() && !is_dry_run_) begun_ = true;
  l1_used_ = mark;
  note_allocated(l1_used_, L1Region::kOther);
}

uint64_t Runtime::scratch(uint64_t bytes) {
  hal::ScratchSpace scratch{};
  read(hal::kScratchAddress, &scratch, sizeof scratch);
  if (bytes > scratch.bytes) fail(Status::kDramTooSmall, bytes, scratch.bytes);
  return scratch.address;
}

uint64_t Runtime::stage(uint64_t bytes) {
  hal::Stage part{};
  if (sketch_ || !read(hal::kStageAddress, &part, sizeof part)) return part.address;
  const uint64_t begin = stage_used_;
  stage_used_ += round_up(bytes, uint64_t{64});
  if (stage_used_ > part.bytes) fail(Status::kL2TooSmall, stage_used_, part.bytes);
  return part.address + cluster_ * part.bytes + begin;
}

bool Runtime::read(uint64_t address, void* data, uint32_t bytes) {
  if (ok() && !hal::read(cpu_, address, data, bytes)) fail(Status::kEngineFault, address);
  return ok();
}

bool Runtime::write(uint64_t address, const void* data, uint32_t bytes) {
  if (ok() && !hal::write(cpu_, address, data, bytes)) fail(Status::kEngineFault, address);
  return ok();
}

void Runtime::push_in_step(uint32_t queue, const Command& command, Side side) {
  if (!ok()) return;
  if (side != side_) settle();
  side_ = side;
  ++pending_;
  Command stepped = command;
  enqueue(queue, stepped.then(lock_step_));
}

void Runtime::lock_step() { lock_step_ = events(1); }

void Runtime::settle() {
  if (lock_step_.span == 0) return;
  wait(lock_step_, pending_);
  pending_ = 0;
}

uint32_t Runtime::dma_level(uint32_t channel) {
  const uint32_t level = dma_queue(channel) + static_cast<uint32_t>(hal::kQueueLevel);
  uint32_t value = 0;
  if (ok() && !hal::read_register(cpu_, level, value)) fail(Status::kEngineFault, level);
  return value;
}

void Runtime::fail(Status status, uint64_t detail0, uint64_t detail1) {
  if (!ok()) return;  // the first failure is reported
  status_ = status;
  detail_[0] = detail0;
  detail_[1] = detail1;
}

void Runtime::read_scales(uint32_t head, uint32_t place) {
  scales_[place] = {hal::kUnitScale, hal::kUnitScale};
  read(hal::kScalesAddress + uint64_t{head} * sizeof(hal::HeadScales), &scales_[place], sizeof scales_[place]);
  scales_head_[place] = head + 1;
}

void Runtime::check_more(uint32_t rows, uint32_t keys) {
  if (scaled_by_block()) {
    const uint32_t most = (hal::kMostScaled - 1) << types_.scale_block;
    if (rows > most && rows > 1) refuse(RowTiling::kNq, rows);
    if (keys > most) refuse(RowTiling::kNkv, keys);
  }
  const hal::Mask& m = mask();
  if (m.block == 0) return;
  const auto blocks = [&](uint32_t n, uint32_t all) { return min((n + m.block - 2) / m.block + 1, all); };
  if (blocks(rows, hal::map_rows(m)) * blocks(keys, hal::map_columns(m, layer().seq_kv)) > hal::kMapBits) {
    refuse(RowTiling::kNq, rows);
  }
}

// FP32 numbers of the query heads of those rows, at most kMostSlopes.
void Runtime::read_by_head(uint32_t* numbers, uint32_t head, uint32_t row, uint32_t rows, const hal::Mask& mask) {
  const uint32_t heads = rules_.group, first = head % layer().heads * heads + row / mask.queries;
  const uint32_t count = (row % mask.queries + rows - 1) / mask.queries + 1;
  if (count > hal::kMostSlopes) refuse(RowTiling::kNq, rows);
  const uint32_t known = min(count, layer().heads * heads - first);  // rows beyond the last query are padding
  if (ok()) read(hal::kBiasAddress + uint64_t{first} * 4, numbers, min(known, hal::kMostSlopes) * 4);
}

void Runtime::place_sinks(Command& command, uint32_t head, uint32_t row, const hal::Mask& mask) {
  hal::RuleTail& rule = command.with(hal::kSink).raw().tail.rule;
  rule.row = row;
  rule.mask = mask;
  read_by_head(rule.more.sink, head, row, command.raw().rows, mask);
}

// Slopes, buckets, sinks and scales are read from the mailbox for every command.
void Runtime::place_scores(Command& command, const ScorePosition& at, const hal::Mask& mask) {
  hal::Descriptor& d = command.raw();
  if ((job_.flags & (hal::kSlopedJob | hal::kBucketedJob)) != 0) {
    const bool sloped = (job_.flags & hal::kSlopedJob) != 0;
    command.scaled_by(scales(at.head).score).with(sloped ? hal::kSloped : hal::kBucketed);
    d.tail.rule.row = at.row;
    d.tail.rule.key = at.key;
    d.tail.rule.mask = mask;
    if (sloped) {
      read_by_head(d.tail.rule.more.slope, at.head, at.row, at.rows, mask);
    } else {
      const uint32_t head = at.head % layer().heads * rules_.group + at.row / mask.queries;
      constexpr uint32_t kBytes = sizeof d.tail.rule.more.bucket;
      read(hal::kBiasAddress + uint64_t{head} * kBytes, d.tail.rule.more.bucket, kBytes);
    }
  }
  if (scaled_by_block()) read_block_scales(command.scaled_by(hal::kUnitScale), at, true);
}

Command& Runtime::place_values(Command& command, const ScorePosition& at) {
  if (scaled_by_block()) read_block_scales(command.scaled_by(types_.value_scale), at, false);
  return command;
}

void Runtime::read_block_scales(Command& command, const ScorePosition& at, bool scores) {
  const uint32_t block = 1U << types_.scale_block;
  const auto blocks = [&](uint32_t n) { return ceil_div(n, block); };
  const uint32_t of_q = blocks(layer().seq_q), of_k = blocks(layer().seq_kv);
  hal::Descriptor& d = command.with(hal::kBlockScaled).raw();
  d.tail.rule.row = at.row;
  d.tail.rule.key = at.key;
  hal::BlockScales& s = d.tail.rule.more.scales;
  s.block = block;
  const uint64_t head = hal::kScalesAddress + uint64_t{at.head} * (of_q + 2 * of_k) * sizeof(uint32_t);
  const auto get = [&](uint32_t* scales, uint64_t base, uint32_t from, uint32_t n, uint32_t all) {
    const uint32_t first = from / block, count = min((from + n - 1) / block, all - 1) - first + 1;
    if (count > hal::kMostScaled) return refuse(RowTiling::kNq, n);
    read(base + uint64_t{first} * sizeof *scales, scales, count * sizeof *scales);
  };
  if (scores) get(s.row, head, at.row, at.rows, of_q);
  get(s.key, head + uint64_t{of_q + (scores ? 0 : of_k)} * sizeof(uint32_t), at.key, at.keys, of_k);
}

static uint64_t working_set(uint64_t sums, const L0Tile& t, uint32_t bytes) {
  return 2 * (uint64_t{t.m0} + t.n0) * t.k0 * bytes + sums * kPartialBytes;
}

void Runtime::check_l0(const L0Tile& t) {
  const uint64_t sums = uint64_t{t.m0} * t.n0;
  if (!holds(sums, t)) fail(Status::kL0TooSmall, 2 * working_set(sums, t, bytes()), machine().l0_bytes);
}

bool Runtime::holds(uint64_t sums, const L0Tile& t) const {
  return working_set(sums, t, bytes()) <= machine().l0_bytes / 2;
}

void Runtime::finish() {
  hal::JobResult result{};
  result.status = status_;
  for (int i = 0; i < 2; ++i) result.detail[i] = detail_[i];
  for (int i = 0; i < hal::kMaxStatistics; ++i) result.statistic[i] = statistic_[i];
  hal::write(cpu_, hal::result_address(cluster_), &result, sizeof result);
}

}  // namespace attnvp::firmware
