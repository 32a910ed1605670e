#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

Matrix columns_of(const Matrix& m, uint32_t column, uint32_t columns) {
  return {m.address + uint64_t{column} * kHalfBytes, m.rows, columns, m.stride};
}

Matrix rows_of(const Matrix& m, uint32_t row, uint32_t rows) {
  return {m.address + uint64_t{row} * m.stride, rows, m.columns, m.stride};
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

hal::Operand operand(const Matrix& m) { return {m.address, m.stride, 0}; }

Command matmul(const Matrix& a, const Matrix& b, const Matrix& c, uint32_t n, uint32_t k, const hal::Tiling& l0) {
  Command command(hal::Opcode::kMatmul);
  Descriptor& d = command.raw();
  d.dims[0] = a.rows;
  d.dims[1] = n;
  d.dims[2] = k;
  d.tile[0] = static_cast<std::uint16_t>(l0.m0);
  d.tile[1] = static_cast<std::uint16_t>(l0.n0);
  // Sub-tiles of equal depth: a thin last one would end before the next operands are there.
  d.tile[2] = static_cast<std::uint16_t>(ceil_div(k, ceil_div(k, l0.k0)));
  d.operand[0] = operand(a);
  d.operand[1] = operand(b);
  d.operand[2] = operand(c);
  return command;
}

}  // namespace

Command matmul_abt(const Matrix& a, const Matrix& b, const Matrix& c, const hal::Tiling& l0) {
  Command command = matmul(a, b, c, b.rows, a.columns, l0);
  command.raw().flags = hal::kTransposeB;
  return command;
}

Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const hal::Tiling& l0) {
  return matmul(a, b, c, b.columns, a.columns, l0);
}

Command matmul_ab(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& partials, Accumulate place,
                  const hal::Tiling& l0) {
  const bool ends = place == Accumulate::kOnly || place == Accumulate::kLast;
  const bool starts = place == Accumulate::kOnly || place == Accumulate::kFirst;
  Command command = matmul(a, b, ends ? c : partials, b.columns, a.columns, l0);
  Descriptor& d = command.raw();
  if (!ends) d.flags |= hal::kPartialOut;
  if (!starts) {
    d.flags |= hal::kAccumulate;
    d.operand[3] = operand(partials);
  }
  return command;
}

Accumulate place_of(uint32_t term, uint32_t terms) {
  if (terms == 1) return Accumulate::kOnly;
  if (term == 0) return Accumulate::kFirst;
  return term + 1 == terms ? Accumulate::kLast : Accumulate::kMiddle;
}

Command softmax(const Matrix& in, const Matrix& out) {
  Command command(hal::Opcode::kSoftmax);
  Descriptor& d = command.raw();
  d.dims[0] = in.rows;
  d.dims[1] = in.columns;
  d.dims[2] = 1;
  d.operand[0] = operand(in);
  d.operand[1] = operand(out);
  return command;
}

Command copy(const Matrix& from, const Matrix& to) {
  Command command(hal::Opcode::kCopy);
  Descriptor& d = command.raw();
  d.dims[0] = from.columns * kHalfBytes;
  d.dims[1] = from.rows;
  d.dims[2] = 1;
  d.operand[0] = operand(from);
  d.operand[1] = operand(to);
  return command;
}

Command fence() { return Command(hal::Opcode::kNop); }

Runtime::Runtime(hal::Cpu& cpu, uint32_t cluster) : cpu_(cpu), cluster_(cluster) {
  const bool read = hal::read(cpu_, hal::kJobAddress, &job_, sizeof job_);
  if (!read || job_.magic != hal::kJobMagic || job_.bytes != sizeof job_) fail(Status::kBadJob);
}

Events Runtime::events(uint32_t span, uint32_t tokens) {
  const Events result{next_event_, span};
  next_event_ += span;
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
  if (l1_used_ + size > machine().l1_bytes) {
    fail(Status::kL1TooSmall, l1_used_ + size, machine().l1_bytes);
    return 0;
  }
  const uint64_t address = hal::l1_base(cluster_) + l1_used_;
  l1_used_ += size;
  note_allocated(l1_used_, region);
  return address;
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

bool Runtime::halt_mac(uint32_t core) {
  const uint64_t base = hal::mac_base(cluster_, core);
  // An engine that is still loading its first operands takes the halt once it computes.
  while (ok()) {
    if (!hal::write32(cpu_, base + hal::kEngineControl, hal::kHalt)) fail(Status::kEngineFault, base);
    const uint32_t state = read32(base + hal::kEngineState);
    if (state == hal::kEngineHalted) return true;
    if (state == hal::kEngineIdle) return false;
  }
  return false;
}

void Runtime::replace_mac(uint32_t core, const Command& command) {
  const uint64_t base = hal::mac_base(cluster_, core);
  const bool written = ok() && hal::write(cpu_, base + hal::kQueueDescriptor, &command.raw(), sizeof(Descriptor)) &&
                       hal::write32(cpu_, base + hal::kEngineControl, hal::kReplace);
  if (!written) fail(Status::kEngineFault, base);
}

void Runtime::push(uint64_t queue, const Command& command, Side side) {
  if (!ok()) return;
  const Descriptor* descriptor = &command.raw();
  Command stepped = command;
  if (lock_step_.span > 0) {
    if (side != side_) settle();
    side_ = side;
    ++pending_;
    descriptor = &stepped.then(lock_step_).raw();
  }
  if (!command.complete() || !stepped.complete()) {
    fail(Status::kTooManyEvents);
    return;
  }
  const bool written = hal::write(cpu_, queue + hal::kQueueDescriptor, descriptor, sizeof(Descriptor)) &&
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

void Runtime::finish(const hal::Tiling& used) {
  hal::JobResult result{};
  result.status = status_;
  result.detail[0] = detail_[0];
  result.detail[1] = detail_[1];
  result.tiling = used;
  result.k_overwrites = k_overwrites_;
  result.v_overwrites = v_overwrites_;
  result.reload_bytes = reload_bytes_;
  hal::write(cpu_, hal::result_address(cluster_), &result, sizeof result);
}

}  // namespace attnvp::firmware
