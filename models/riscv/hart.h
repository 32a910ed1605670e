// One RV32IMC_Zicsr_Zifencei hart in machine mode. It knows no SystemC: memory is interpreted at host speed, everything
// else is a Bus, and whoever owns the hart lets it run up to a cycle of its clock.
#pragma once

#include <cstdint>
#include <vector>

#include "models/riscv/csr.h"
#include "models/riscv/decode.h"
#include "models/riscv/memory.h"

namespace attnvp::riscv {

class Hart;

// An instruction that has been executed, or has trapped.
struct Executed {
  std::uint32_t pc = 0;
  const Decoded* instruction = nullptr;
  bool retired = true;
  std::uint32_t next = 0;     // where the hart goes on
  std::uint32_t address = 0;  // of a load or store
  std::uint32_t bytes = 0;    // of it; 0: neither
  std::uint32_t value = 0;    // that was stored
  bool store = false;
  std::uint64_t cycle = 0, end = 0;  // when it began, and when it was done
  std::uint64_t stall = 0;           // cycles of it that the bus took
};

// Instructions retired, by what they make the core do; the others compute.
struct Classes {
  std::uint64_t multiplies = 0, divides = 0;
  std::uint64_t loads = 0, stores = 0;
  std::uint64_t branches = 0;  // jumps too
  std::uint64_t system = 0;    // CSRs, fences, wfi, mret
};

// Looks at every instruction; harts without one are faster.
class Observer {
 public:
  // Both: whether the hart goes on.
  virtual bool before(Hart& /*hart*/, std::uint32_t /*pc*/) { return true; }
  virtual bool after(Hart& hart, const Executed& executed) = 0;
  virtual void trapped(Hart& /*hart*/, std::uint32_t /*cause*/, bool /*interrupt*/) {}

 protected:
  ~Observer() = default;
};

enum class Stop : std::uint8_t {
  kLimit,     // the cycle has come
  kWait,      // wfi, and no interrupt is there
  kAsked,     // stop()
  kObserver,  // it said so
  kLost,      // nothing can be fetched where it is to go on, and nothing at the trap handler
};

class Hart {
 public:
  Hart(std::uint32_t number, const Timing& timing, Bus& bus) : timing_(timing), bus_(bus), csrs_(number) {}
  Hart(const Hart&) = delete;
  Hart& operator=(const Hart&) = delete;

  // Memory is looked for in the order in which it was added.
  void add(Memory& memory) { memories_.push_back(&memory); }
  void reset(std::uint32_t pc);

  // Up to the first instruction that would begin at or after `limit`.
  Stop run(std::uint64_t limit);
  void stop() { asked_ = true; }  // by a bus, after the access under way
  void set_observer(Observer* observer) { observer_ = observer; }

  std::uint32_t pc() const { return pc_; }
  void set_pc(std::uint32_t pc) { pc_ = pc & ~1U; }
  std::uint32_t reg(std::uint32_t number) const { return x_[number]; }
  void set_reg(std::uint32_t number, std::uint32_t value) { x_[number == 0 ? kNowhere : number] = value; }
  Csrs& csrs() { return csrs_; }
  Now now() { return {cycle_, retired_, bus_.time(cycle_)}; }

  std::uint64_t cycle() const { return cycle_; }
  void set_cycle(std::uint64_t cycle) { cycle_ = cycle; }  // time that passed while it waited
  std::uint64_t retired() const { return retired_; }
  const Classes& classes() const { return classes_; }
  std::uint64_t stalled() const { return stalled_; }  // cycles of bus accesses
  std::uint64_t slept() const { return slept_; }      // cycles in wfi
  void sleep_until(std::uint64_t cycle) {
    slept_ += cycle - cycle_;
    cycle_ = cycle;
  }
  // Of the last instruction that trapped.
  std::uint64_t traps() const { return traps_; }

  Memory* memory_at(std::uint32_t address, std::uint32_t bytes);

 private:
  template <bool kObserved>
  Stop run_loop(std::uint64_t limit);
  Decoded* slot_of(std::uint32_t pc, CodePage*& page);  // nullptr: nothing can be fetched there
  bool decode_at(std::uint32_t pc, Decoded& d);
  bool load(std::uint32_t address, std::uint32_t bytes, std::uint32_t& value);
  bool store(std::uint32_t address, std::uint32_t bytes, std::uint32_t value);
  void trap(std::uint32_t cause, std::uint32_t value, bool interrupt = false);
  void take_interrupt();
  bool csr(const Decoded& d);  // false: illegal
  void fence(const Decoded& d);

  Timing timing_;
  Bus& bus_;
  Csrs csrs_;
  std::vector<Memory*> memories_;
  Observer* observer_ = nullptr;
  std::uint32_t x_[33] = {};
  std::uint32_t pc_ = 0;
  std::uint64_t cycle_ = 0, retired_ = 0, stalled_ = 0, slept_ = 0, traps_ = 0;
  Classes classes_;
  bool asked_ = false;
};

}  // namespace attnvp::riscv
