#include "models/control/riscv/hart.h"

#include <cstring>

namespace attnvp::riscv {

RiscvMemory* Hart::memory_at(std::uint32_t address, std::uint32_t bytes) {
  for (RiscvMemory* memory : memories_) {
    if (memory->holds(address, bytes)) return memory;
  }
  return nullptr;
}

Decoded* Hart::slot_of(std::uint32_t pc, CodePage*& page) {
  RiscvMemory* memory = memory_at(pc, 2);
  if (memory == nullptr) return nullptr;
  page = &memory->code(pc - memory->base());
  return &page->slot[(pc - page->base) / 2];
}

bool Hart::decode_at(std::uint32_t pc, Decoded& d) {
  std::uint32_t bits = 0, next = 0;
  RiscvMemory* memory = memory_at(pc, 2);
  if (memory == nullptr || !memory->peek(pc, &bits, 2)) return false;
  if (!is_compressed(bits) && !memory->peek(pc, &bits, 4)) return false;
  const std::uint32_t length = is_compressed(bits) ? 2 : 4;
  if (!memory->peek(pc + length, &next, 4)) memory->peek(pc + length, &next, 2);
  d = decode(bits, pc, next, timing_);
  return true;
}

bool Hart::load(std::uint32_t address, std::uint32_t bytes, std::uint32_t& value) {
  const bool aligned = (address & (bytes - 1)) == 0;
  value = 0;
  if (RiscvMemory* memory = memory_at(address, bytes)) {
    std::memcpy(&value, memory->data() + (address - memory->base()), bytes);
    if (!aligned) cycle_ += timing_.misaligned;
    return true;
  }
  if (!aligned) {
    trap(TrapCause::kLoadMisaligned, address);
    return false;
  }
  const std::uint64_t asked = cycle_;
  const bool ok = bus_.read(address, &value, bytes, cycle_);
  stalled_ += cycle_ - asked;
  if (!ok) trap(TrapCause::kLoadFault, address);
  return ok;
}

bool Hart::store(std::uint32_t address, std::uint32_t bytes, std::uint32_t value) {
  const bool aligned = (address & (bytes - 1)) == 0;
  if (RiscvMemory* memory = memory_at(address, bytes)) {
    std::memcpy(memory->data() + (address - memory->base()), &value, bytes);
    memory->written(address - memory->base(), bytes);
    if (!aligned) cycle_ += timing_.misaligned;
    return true;
  }
  if (!aligned) {
    trap(TrapCause::kStoreMisaligned, address);
    return false;
  }
  const std::uint64_t asked = cycle_;
  const bool ok = bus_.write(address, &value, bytes, cycle_);
  stalled_ += cycle_ - asked;
  if (!ok) trap(TrapCause::kStoreFault, address);
  return ok;
}

Stop Hart::run(std::uint64_t limit) {
  asked_ = false;
  return observer_ != nullptr ? run_loop<true>(limit) : run_loop<false>(limit);
}

// Main loop. Straight-line code advances from slot to slot; other instructions set the slot. State that traps, the bus
// and CSRs use is written back before they are called.
template <bool kObserved>
Stop Hart::run_loop(std::uint64_t limit) {
  CodePage* page = nullptr;
  Decoded* d = nullptr;
  std::uint64_t cycle = 0, retired = 0;
  std::uint32_t* const x = x_;
  const std::uint32_t taken = timing_.taken_branch;
  [[maybe_unused]] Executed now;
  [[maybe_unused]] std::uint64_t started = 0;

  const auto pc_of = [&] { return page->base + static_cast<std::uint32_t>(d - page->slot) * 2; };
  const auto leave = [&] {
    cycle_ = cycle;
    retired_ = retired;
    pc_ = pc_of();
  };
  // Continues at pc_; false if no instruction can be fetched, not even at the trap handler.
  const auto enter = [&] {
    d = slot_of(pc_, page);
    if (d == nullptr) {
      trap(TrapCause::kFetchFault, pc_);
      d = slot_of(pc_, page);
    }
    cycle = cycle_;
    retired = retired_;
    return d != nullptr;
  };
  const auto jump = [&](std::uint32_t target) {
    const std::uint32_t index = (target - page->base) / 2;
    cycle += taken;
    if (index < kPageSlots) {
      d = &page->slot[index];
      return true;
    }
    cycle_ = cycle;
    retired_ = retired;
    pc_ = target;
    return enter();
  };

  csrs_.mip &= kAllInterrupts;
  take_interrupt();
  if (!enter()) return Stop::kLost;

// Appended to each `case`, so that every instruction has its own indirect branch for prediction.
#define NEXT()           \
  {                      \
    cycle += d->cycles;  \
    ++retired;           \
    d += d->length >> 1; \
    break;               \
  }
#define BRANCH(condition)                                                          \
  {                                                                                \
    cycle += d->cycles;                                                            \
    ++retired;                                                                     \
    ++classes_.branches;                                                           \
    if (condition) {                                                               \
      if (!jump(pc_of() + static_cast<std::uint32_t>(d->imm))) return Stop::kLost; \
    } else {                                                                       \
      d += d->length >> 1;                                                         \
    }                                                                              \
    break;                                                                         \
  }
#define COMPUTE(expression)                            \
  {                                                    \
    x[d->rd] = static_cast<std::uint32_t>(expression); \
    NEXT()                                             \
  }
#define LOAD(Type, Bytes)                                                                         \
  {                                                                                               \
    const std::uint32_t address = x[d->rs1] + static_cast<std::uint32_t>(d->imm);                 \
    std::uint32_t value = 0;                                                                      \
    if constexpr (kObserved) now.address = address, now.bytes = Bytes;                            \
    RiscvMemory& first = *memories_.front();                                                      \
    if (first.holds(address, Bytes)) {                                                            \
      Type loaded;                                                                                \
      std::memcpy(&loaded, first.data() + (address - first.base()), Bytes);                       \
      if ((address & (Bytes - 1)) != 0) cycle += timing_.misaligned;                              \
      ++classes_.loads;                                                                           \
      COMPUTE(static_cast<std::int32_t>(loaded))                                                  \
    }                                                                                             \
    leave();                                                                                      \
    const bool ok = load(address, Bytes, value);                                                  \
    if (ok) {                                                                                     \
      x[d->rd] = static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<Type>(value))); \
      cycle_ += d->cycles;                                                                        \
      ++retired_;                                                                                 \
      ++classes_.loads;                                                                           \
      pc_ += d->length;                                                                           \
    }                                                                                             \
    goto resume;                                                                                  \
  }
#define STORE(Bytes)                                                                                            \
  {                                                                                                             \
    const std::uint32_t address = x[d->rs1] + static_cast<std::uint32_t>(d->imm);                               \
    if constexpr (kObserved) now.address = address, now.bytes = Bytes, now.store = true, now.value = x[d->rs2]; \
    RiscvMemory& first = *memories_.front();                                                                    \
    if (first.holds(address, Bytes)) {                                                                          \
      const std::uint32_t offset = address - first.base();                                                      \
      std::memcpy(first.data() + offset, &x[d->rs2], Bytes);                                                    \
      if ((address & (Bytes - 1)) != 0) cycle += timing_.misaligned;                                            \
      cycle += d->cycles;                                                                                       \
      ++retired;                                                                                                \
      ++classes_.stores;                                                                                        \
      d += d->length >> 1;                                                                                      \
      first.written(offset, Bytes);                                                                             \
      break;                                                                                                    \
    }                                                                                                           \
    leave();                                                                                                    \
    const std::uint32_t length = d->length, cycles = d->cycles;                                                 \
    if (store(address, Bytes, x[d->rs2])) {                                                                     \
      cycle_ += cycles;                                                                                         \
      ++retired_;                                                                                               \
      ++classes_.stores;                                                                                        \
      pc_ += length;                                                                                            \
    }                                                                                                           \
    goto resume;                                                                                                \
  }

  while (cycle < limit) {
    if (d->op <= Op::kPageEnd) {
      const std::uint32_t pc = pc_of();
      if (d->op == Op::kPageEnd) {
        leave();
        if (!enter()) return Stop::kLost;
        continue;
      }
      if (!decode_at(pc, *d)) {
        leave();
        trap(TrapCause::kFetchFault, pc);
        if (!enter()) return Stop::kLost;
        continue;
      }
    }
    if constexpr (kObserved) {
      leave();
      if (!observer_->before(*this, pc_)) return Stop::kObserver;
      started = retired_;
      now = {};
      now.pc = pc_;
      now.instruction = d;
      now.cycle = cycle_;
      now.stall = stalled_;
    }
    switch (d->op) {
      case Op::kUndecoded:
      case Op::kPageEnd:
        break;
      case Op::kIllegal:
        leave();
        cycle_ += d->cycles;
        trap(TrapCause::kIllegalInstruction, d->bits);
        goto resume;
      case Op::kLui:
        COMPUTE(d->imm)
      case Op::kJal: {
        const std::uint32_t pc = pc_of();
        cycle += d->cycles;
        ++retired;
        ++classes_.branches;
        x[d->rd] = pc + d->length;
        if (!jump(pc + static_cast<std::uint32_t>(d->imm))) return Stop::kLost;
        break;
      }
      case Op::kJalr: {
        const std::uint32_t target = (x[d->rs1] + static_cast<std::uint32_t>(d->imm)) & ~1U;
        x[d->rd] = pc_of() + d->length;
        cycle += d->cycles;
        ++retired;
        ++classes_.branches;
        if (!jump(target)) return Stop::kLost;
        break;
      }
      case Op::kBeq:
        BRANCH(x[d->rs1] == x[d->rs2])
      case Op::kBne:
        BRANCH(x[d->rs1] != x[d->rs2])
      case Op::kBlt:
        BRANCH(static_cast<std::int32_t>(x[d->rs1]) < static_cast<std::int32_t>(x[d->rs2]))
      case Op::kBge:
        BRANCH(static_cast<std::int32_t>(x[d->rs1]) >= static_cast<std::int32_t>(x[d->rs2]))
      case Op::kBltu:
        BRANCH(x[d->rs1] < x[d->rs2])
      case Op::kBgeu:
        BRANCH(x[d->rs1] >= x[d->rs2])
      case Op::kLb:
        LOAD(std::int8_t, 1)
      case Op::kLh:
        LOAD(std::int16_t, 2)
      case Op::kLw:
        LOAD(std::uint32_t, 4)
      case Op::kLbu:
        LOAD(std::uint8_t, 1)
      case Op::kLhu:
        LOAD(std::uint16_t, 2)
      case Op::kSb:
        STORE(1)
      case Op::kSh:
        STORE(2)
      case Op::kSw:
        STORE(4)
      case Op::kAddi:
        COMPUTE(x[d->rs1] + static_cast<std::uint32_t>(d->imm))
      case Op::kSlti:
        COMPUTE(static_cast<std::int32_t>(x[d->rs1]) < d->imm ? 1 : 0)
      case Op::kSltiu:
        COMPUTE(x[d->rs1] < static_cast<std::uint32_t>(d->imm) ? 1 : 0)
      case Op::kXori:
        COMPUTE(x[d->rs1] ^ static_cast<std::uint32_t>(d->imm))
      case Op::kOri:
        COMPUTE(x[d->rs1] | static_cast<std::uint32_t>(d->imm))
      case Op::kAndi:
        COMPUTE(x[d->rs1] & static_cast<std::uint32_t>(d->imm))
      case Op::kSlli:
        COMPUTE(x[d->rs1] << d->imm)
      case Op::kSrli:
        COMPUTE(x[d->rs1] >> d->imm)
      case Op::kSrai:
        COMPUTE(static_cast<std::int32_t>(x[d->rs1]) >> d->imm)
      case Op::kAdd:
        COMPUTE(x[d->rs1] + x[d->rs2])
      case Op::kSub:
        COMPUTE(x[d->rs1] - x[d->rs2])
      case Op::kSll:
        COMPUTE(x[d->rs1] << (x[d->rs2] & 31))
      case Op::kSlt:
        COMPUTE(static_cast<std::int32_t>(x[d->rs1]) < static_cast<std::int32_t>(x[d->rs2]) ? 1 : 0)
      case Op::kSltu:
        COMPUTE(x[d->rs1] < x[d->rs2] ? 1 : 0)
      case Op::kXor:
        COMPUTE(x[d->rs1] ^ x[d->rs2])
      case Op::kSrl:
        COMPUTE(x[d->rs1] >> (x[d->rs2] & 31))
      case Op::kSra:
        COMPUTE(static_cast<std::int32_t>(x[d->rs1]) >> (x[d->rs2] & 31))
      case Op::kOr:
        COMPUTE(x[d->rs1] | x[d->rs2])
      case Op::kAnd:
        COMPUTE(x[d->rs1] & x[d->rs2])
      case Op::kMul:
        ++classes_.multiplies;
        COMPUTE(x[d->rs1] * x[d->rs2])
      case Op::kMulh:
        ++classes_.multiplies;
        COMPUTE((std::int64_t{static_cast<std::int32_t>(x[d->rs1])} * static_cast<std::int32_t>(x[d->rs2])) >> 32)
      case Op::kMulhsu:
        ++classes_.multiplies;
        COMPUTE((static_cast<std::int32_t>(x[d->rs1]) * std::int64_t{x[d->rs2]}) >> 32)
      case Op::kMulhu:
        ++classes_.multiplies;
        COMPUTE((std::uint64_t{x[d->rs1]} * x[d->rs2]) >> 32)
      case Op::kDiv: {
        ++classes_.divides;
        const auto a = static_cast<std::int32_t>(x[d->rs1]), b = static_cast<std::int32_t>(x[d->rs2]);
        COMPUTE(b == 0 ? -1 : b == -1 ? static_cast<std::int32_t>(0U - static_cast<std::uint32_t>(a)) : a / b)
      }
      case Op::kDivu:
        ++classes_.divides;
        COMPUTE(x[d->rs2] == 0 ? ~0U : x[d->rs1] / x[d->rs2])
      case Op::kRem: {
        ++classes_.divides;
        const auto a = static_cast<std::int32_t>(x[d->rs1]), b = static_cast<std::int32_t>(x[d->rs2]);
        COMPUTE(b == 0 ? a : b == -1 ? 0 : a % b)
      }
      case Op::kRemu:
        ++classes_.divides;
        COMPUTE(x[d->rs2] == 0 ? x[d->rs1] : x[d->rs1] % x[d->rs2])
      case Op::kFence:
        leave();
        fence(*d);
        goto resume;
      case Op::kFenceI:  // decoded instructions are always up to date
        ++classes_.system;
        NEXT()
      case Op::kEcall:
        leave();
        cycle_ += d->cycles;
        trap(TrapCause::kEnvironmentCall, 0);
        goto resume;
      case Op::kEbreak:
        leave();
        cycle_ += d->cycles;
        trap(TrapCause::kBreakpoint, pc_);
        goto resume;
      case Op::kMret:
        leave();
        cycle_ += d->cycles + taken;
        ++retired_;
        ++classes_.system;
        pc_ = csrs_.leave_trap();
        goto interruptible;
      case Op::kWfi:
        leave();
        cycle_ += d->cycles;
        ++retired_;
        ++classes_.system;
        pc_ += d->length;
        if (!csrs_.wakes()) {
          if constexpr (kObserved) {
            now.next = pc_;
            now.end = cycle_;
            now.stall = 0;
            if (!observer_->after(*this, now)) return Stop::kObserver;
          }
          return Stop::kWait;
        }
        goto interruptible;
      default: {  // CSRs
        leave();
        if (!csr(*d)) {
          cycle_ += d->cycles;
          trap(TrapCause::kIllegalInstruction, d->bits);
          goto resume;
        }
        cycle_ += d->cycles;
        ++retired_;
        ++classes_.system;
        pc_ += d->length;
        goto interruptible;
      }
    }
    if constexpr (kObserved) {
      leave();
      goto resume;
    }
    continue;

  interruptible:  // interrupts may have been enabled: the owner updates the lines
    limit = 0;
  resume:
    if constexpr (kObserved) {
      now.retired = retired_ != started;
      now.next = pc_;
      now.end = cycle_;
      now.stall = stalled_ - now.stall;
      if (!observer_->after(*this, now)) return Stop::kObserver;
    }
    if (asked_) return Stop::kAsked;
    if (limit == 0) return Stop::kLimit;
    if (!enter()) return Stop::kLost;
  }
  leave();
  return Stop::kLimit;
#undef NEXT
#undef BRANCH
#undef COMPUTE
#undef LOAD
#undef STORE
}

}  // namespace attnvp::riscv
