#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

Matrix columns_of(const Matrix& m, uint32_t column, uint32_t columns) {
  return {m.address + uint64_t{column} * hal::element_bytes(m.type), m.rows, columns, m.stride, m.type};
}

Matrix rows_of(const Matrix& m, uint32_t row, uint32_t rows) {
  return {m.address + uint64_t{row} * m.stride, rows, m.columns, m.stride, m.type};
}

Command& Command::operand(int i, const Matrix& m) {
  d_.operand[i] = {m.address, m.stride, m.columns};
  d_.type[i] = m.type;
  return *this;
}

Command& Command::masked(const hal::Mask& mask, uint32_t row, uint32_t key) {
  d_.flags |= hal::kMasked;
  d_.length = hal::length_with(d_.flags);
  d_.tail.rule.row = row;
  d_.tail.rule.key = key;
  d_.tail.rule.mask = mask;
  return *this;
}

Command& Command::scaled(uint32_t scale) {
  if (scale == hal::kUnitScale) return *this;
  d_.flags |= hal::kScaled;
  d_.length = hal::length_with(d_.flags);
  d_.tail.rule.scale = scale;
  return *this;
}

Command& Command::add(hal::EventRef* refs, int slots, Events events, uint32_t tokens) {
  if (tokens == 0) return *this;
  for (int i = 0; i < slots; ++i) {
    if (refs[i].tokens() != 0) continue;
    refs[i] = hal::event_ref(events.first, events.span, tokens);
    return *this;
  }
  complete_ = false;
  return *this;
}

namespace {

Command matmul(const Matrix& a, const Matrix& b, const Matrix& c, const L0Tile& l0) {
  Command command(hal::Opcode::kMatmul, a.rows);
  command.operand(0, a).operand(1, b).operand(2, c);
  // Sub-tiles of equal depth: a thin last one would end before the next operands are there.
  const uint64_t k0 = ceil_div(a.columns, ceil_div(a.columns, l0.k0));
  command.raw().tail.matmul = {static_cast<std::uint16_t>(l0.m0), static_cast<std::uint16_t>(l0.n0),
                               static_cast<std::uint16_t>(k0)};
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
  const Matrix sums = partials.as(hal::ElementType::kFp32);
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

Runtime::Runtime(hal::Cpu& cpu, uint32_t cluster) : cpu_(cpu), cluster_(cluster) {
  const bool read = hal::read(cpu_, hal::kJobAddress, &job_, sizeof job_);
  if (!read || job_.magic != hal::kJobMagic || job_.bytes != sizeof job_) fail(Status::kBadJob);
  if (ok() && (job_.flags & hal::kRuled) != 0) this->read(hal::kRulesAddress, &rules_, sizeof rules_);
}

Events Runtime::events(uint32_t span, uint32_t tokens) {
  const Events result{next_event_, span};
  next_event_ += span;
  if (sketch_) return result;
  if (next_event_ > machine().events) fail(Status::kTooFewEvents, next_event_, machine().events);
  give(result, tokens);
  return result;
}

void Runtime::give(Events events, uint32_t tokens) {
  for (uint32_t i = 0; ok() && tokens > 0 && i < events.span; ++i) {
    const uint64_t event = hal::events_base(cluster_) + (events.first + i) * hal::kEventStride;
    if (!hal::write32(cpu_, event + hal::kEventSignal, tokens)) fail(Status::kEngineFault, event);
  }
}

void Runtime::wait(Events events, uint32_t tokens) {
  for (uint32_t i = 0; ok() && tokens > 0 && i < events.span; ++i) {
    const uint64_t event = hal::events_base(cluster_) + (events.first + i) * hal::kEventStride;
    if (!hal::write32(cpu_, event + hal::kEventTake, tokens)) fail(Status::kEngineFault, event);
  }
}

uint64_t Runtime::allocate(uint64_t bytes, L1Region region) {
  const uint64_t size = round_up(bytes, 64);
  if (!sketch_ && !has_space(l1_used_ + size)) return 0;
  const uint64_t address = hal::l1_base(cluster_) + l1_used_;
  l1_used_ += size;
  if (!sketch_) note_allocated(l1_used_, region);
  return address;
}

bool Runtime::has_space(uint64_t bytes) {
  if (bytes > machine().l1_bytes) fail(Status::kL1TooSmall, bytes, machine().l1_bytes);
  return ok();
}

void Runtime::free_to(uint64_t mark) {
  l1_used_ = mark;
  note_allocated(l1_used_, L1Region::kOther);
}

uint64_t Runtime::scratch(uint64_t bytes) {
  hal::Scratch scratch{};
  read(hal::kScratchAddress, &scratch, sizeof scratch);
  if (bytes > scratch.bytes) fail(Status::kDramTooSmall, bytes, scratch.bytes);
  return scratch.address;
}

void Runtime::note_allocated(uint64_t bytes, L1Region region) {
  if (!ok()) return;
  const uint64_t value = bytes | static_cast<uint64_t>(region) << hal::kL1RegionShift;
  if (!hal::write(cpu_, hal::l1_control_base(cluster_) + hal::kL1Allocated, &value, sizeof value)) {
    fail(Status::kEngineFault, hal::l1_control_base(cluster_));
  }
}

bool Runtime::read(uint64_t address, void* data, uint32_t bytes) {
  if (ok() && !hal::read(cpu_, address, data, bytes)) fail(Status::kEngineFault, address);
  return ok();
}

bool Runtime::write(uint64_t address, const void* data, uint32_t bytes) {
  if (ok() && !hal::write(cpu_, address, data, bytes)) fail(Status::kEngineFault, address);
  return ok();
}

uint32_t Runtime::read32(uint64_t address) {
  uint32_t value = 0;
  if (ok() && !hal::read(cpu_, address, &value, sizeof value)) fail(Status::kEngineFault, address);
  return value;
}

void Runtime::push(uint64_t queue, const Command& command, Side side) {
  if (!ok()) return;
  if (lock_step_.span == 0) return enqueue(queue, command);
  if (side != side_) settle();
  side_ = side;
  ++pending_;
  Command stepped = command;
  enqueue(queue, stepped.then(lock_step_));
}

void Runtime::enqueue(uint64_t queue, const Command& command) {
  if (!ok()) return;
  if (!command.complete()) {
    fail(Status::kTooManyEvents);
    return;
  }
  const bool written = hal::write(cpu_, queue + hal::kQueueDescriptor, &command.raw(), command.raw().length) &&
                       hal::write32(cpu_, queue + hal::kQueueDoorbell, 1);
  if (!written) fail(Status::kEngineFault, queue);
}

void Runtime::lock_step() { lock_step_ = events(1); }

void Runtime::settle() {
  if (lock_step_.span == 0) return;
  wait(lock_step_, pending_);
  pending_ = 0;
}

void Runtime::dma(uint32_t channel, const Command& command) {
  if (channel >= machine().dma_channels) {
    fail(Status::kTooFewChannels, channel + 1, machine().dma_channels);
    return;
  }
  push(hal::dma_base(cluster_) + channel * hal::kQueueStride, command, Side::kTransfer);
}

uint32_t Runtime::dma_level(uint32_t channel) {
  return read32(hal::dma_base(cluster_) + channel * hal::kQueueStride + hal::kQueueLevel);
}

void Runtime::fail(Status status, uint64_t detail0, uint64_t detail1) {
  if (!ok()) return;  // the first failure is the one to tell
  status_ = status;
  detail_[0] = detail0;
  detail_[1] = detail1;
}

void Runtime::take_parameters(uint32_t* words, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    words[i] = job_.parameter[i];
    if (words[i] == 0) refuse(i, 0);
  }
}

void Runtime::check_l0(const L0Tile& t) {
  const uint64_t operands = 2 * (uint64_t{t.m0} + t.n0) * t.k0 * kHalfBytes;
  const uint64_t need = operands + uint64_t{t.m0} * t.n0 * kPartialBytes;
  if (need > machine().l0_bytes / 2) fail(Status::kL0TooSmall, 2 * need, machine().l0_bytes);
}

void Runtime::finish() {
  hal::JobResult result{};
  result.status = status_;
  for (int i = 0; i < 2; ++i) result.detail[i] = detail_[i];
  for (int i = 0; i < hal::kMaxStatistics; ++i) result.statistic[i] = statistic_[i];
  hal::write(cpu_, hal::result_address(cluster_), &result, sizeof result);
}

}  // namespace attnvp::firmware
