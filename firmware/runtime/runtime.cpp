#include "firmware/runtime/runtime.h"

namespace attnvp::firmware {

// As its flags ask for; what comes in is zero.
void Command::lengthen() {
  const std::uint16_t length = hal::length_with(d_.flags);
  auto* bytes = reinterpret_cast<unsigned char*>(&d_);
  for (uint32_t i = d_.length; i < length; ++i) bytes[i] = 0;
  d_.length = length;
}

Command& Command::masked(const hal::Mask& mask, uint32_t row, uint32_t key) {
  d_.flags |= hal::kMasked;
  lengthen();
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
  // Sub-tiles of equal depth: a thin last one would end before the next operands are there.
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
               const L0Tile& l0) {
  if (hal::element_bytes(p.type) != 1) return matmul_ab(p, v, o, partials, place, l0);
  Matrix sums = partials;
  sums.columns = o.columns + 1;
  Command command = matmul_ab(p, v, o, sums, place, l0);
  command.raw().flags |= hal::kNormalised;
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
  if (ok() && (job_.flags & hal::kRuled) != 0) this->read(hal::kRulesAddress, &rules_, sizeof rules_);
  if (!ok() || !typed()) return;
  this->read(hal::kTypesAddress, &types_, sizeof types_);
  bytes_ = hal::element_bytes(types_.operand);
  out_bytes_ = hal::element_bytes(types_.out);
  for (uint32_t& head : scales_head_) head = 0;
}

void Runtime::give(Events events, uint32_t tokens) {
  if (!ok() || tokens == 0) return;
  uint32_t event = event_registers(events.first);
  for (const uint32_t end = event_registers(events.first + events.span); event != end; event += hal::kEventStride) {
    if (!hal::post(cpu_, event + hal::kEventSignal, tokens)) return fail(Status::kEngineFault, event);
  }
}

void Runtime::wait(Events events, uint32_t tokens) {
  for (uint32_t i = 0; ok() && tokens > 0 && i < events.span; ++i) {
    const uint32_t event = event_registers(events.first + i);
    if (!hal::write_register(cpu_, event + hal::kEventTake, tokens)) fail(Status::kEngineFault, event);
  }
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
  if (!ok()) return;  // the first failure is the one to tell
  status_ = status;
  detail_[0] = detail0;
  detail_[1] = detail1;
}

void Runtime::read_scales(uint32_t head, uint32_t place) {
  scales_[place] = {hal::kUnitScale, hal::kUnitScale};
  read(hal::kScalesAddress + uint64_t{head} * sizeof(hal::HeadScales), &scales_[place], sizeof scales_[place]);
  scales_head_[place] = head + 1;
}

void Runtime::check_l0(const L0Tile& t) {
  const uint64_t operands = 2 * (uint64_t{t.m0} + t.n0) * t.k0 * bytes();
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
