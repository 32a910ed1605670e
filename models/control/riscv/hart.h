// RV32IMC_Zicsr_Zifencei hart in machine mode, without SystemC. Code and data in RiscvMemory are interpreted at host
// speed; all other addresses go to a RiscvBus. The owner runs the hart up to a cycle of its clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/control/riscv/csr.h"
#include "models/control/riscv/decode.h"
#include "models/control/riscv/memory.h"

namespace attnvp::riscv {

class Hart;

// Instruction that was executed or has trapped.
struct Executed {
  std::uint32_t pc = 0;
  const Decoded* instruction = nullptr;
  bool retired = true;
  std::uint32_t next = 0;     // next pc
  std::uint32_t address = 0;  // of a load or store
  std::uint32_t bytes = 0;    // of the load or store; 0: neither
  std::uint32_t value = 0;    // stored value
  bool store = false;
  std::uint64_t cycle = 0, end = 0;  // cycles of start and end
  std::uint64_t stall = 0;           // cycles spent on the bus
};

// Retired instructions by class, for energy; all others are ALU instructions.
struct Classes {
  std::uint64_t multiplies = 0, divides = 0;
  std::uint64_t loads = 0, stores = 0;
  std::uint64_t branches = 0;  // and jumps
  std::uint64_t system = 0;    // CSR accesses, fences, wfi, mret
};

// Observer of every instruction. Harts without an observer are faster.
class Observer {
 public:
  // before() and after() return true to continue.
  virtual bool before(Hart& /*hart*/, std::uint32_t /*pc*/) { return true; }
  virtual bool after(Hart& hart, const Executed& executed) = 0;
  virtual void trapped(Hart& /*hart*/, std::uint32_t /*cause*/, bool /*interrupt*/) {}

 protected:
  ~Observer() = default;
};

enum class Stop : std::uint8_t {
  kLimit,     // the limit is reached
  kWait,      // wfi without a pending interrupt
  kAsked,     // stop() was called
  kObserver,  // an Observer has stopped the hart
  kLost,      // no instruction can be fetched, not even at the trap handler
};

class Hart {
 public:
  Hart(std::uint32_t number, const HartTiming& timing, RiscvBus& bus) : timing_(timing), bus_(bus), csrs_(number) {}
  Hart(const Hart&) = delete;
  Hart& operator=(const Hart&) = delete;

  // Memories are searched in the order of their addition.
  void add(RiscvMemory& memory) { memories_.push_back(&memory); }
  void reset(std::uint32_t pc);

  // Runs up to the first instruction that would start at or after `limit`.
  Stop run(std::uint64_t limit);
  void stop() { asked_ = true; }  // called by a bus: stops after the current access
  void set_observer(Observer* observer) { observer_ = observer; }

  std::uint32_t pc() const { return pc_; }
  void set_pc(std::uint32_t pc) { pc_ = pc & ~1U; }
  std::uint32_t reg(std::uint32_t number) const { return x_[number]; }
  void set_reg(std::uint32_t number, std::uint32_t value) { x_[number == 0 ? kNowhere : number] = value; }
  Csrs& csrs() { return csrs_; }
  Now now() { return {cycle_, retired_, bus_.time(cycle_)}; }

  std::uint64_t cycle() const { return cycle_; }
  std::uint64_t retired() const { return retired_; }
  const Classes& classes() const { return classes_; }
  std::uint64_t stalled() const { return stalled_; }  // cycles of bus accesses
  std::uint64_t slept() const { return slept_; }      // cycles in wfi
  void sleep_until(std::uint64_t cycle) {
    slept_ += cycle - cycle_;
    cycle_ = cycle;
  }
  std::uint64_t traps() const { return traps_; }

  RiscvMemory* memory_at(std::uint32_t address, std::uint32_t bytes);

 private:
  template <bool kObserved>
  Stop run_loop(std::uint64_t limit);
  Decoded* slot_of(std::uint32_t pc, CodePage*& page);  // nullptr: no instruction can be fetched
  bool decode_at(std::uint32_t pc, Decoded& d);
  bool load(std::uint32_t address, std::uint32_t bytes, std::uint32_t& value);
  bool store(std::uint32_t address, std::uint32_t bytes, std::uint32_t value);
  void trap(std::uint32_t cause, std::uint32_t value, bool interrupt = false);
  void take_interrupt();
  bool csr(const Decoded& d);  // false: illegal
  void fence(const Decoded& d);

  HartTiming timing_;
  RiscvBus& bus_;
  Csrs csrs_;
  std::vector<RiscvMemory*> memories_;
  Observer* observer_ = nullptr;
  std::uint32_t x_[33] = {};
  std::uint32_t pc_ = 0;
  std::uint64_t cycle_ = 0, retired_ = 0, stalled_ = 0, slept_ = 0, traps_ = 0;
  Classes classes_;
  bool asked_ = false;
};

// Log of executed instructions in the format of Spike's commit log:
//   core   0: 3 0x60000000 (0x00000297) x5  0x60000000
//   core   0: 3 0x60000010 (0xc15c) mem 0x640001f4 0x00000001
std::string log_line(std::uint32_t hart_number, const Hart& hart, const Executed& e);

}  // namespace attnvp::riscv
