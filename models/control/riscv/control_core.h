// Control core: a hart with tightly coupled memories, interruptor, store buffer, push unit and the hart's map of the
// platform (firmware/hal/hart.h). Its time is cycles of its own clock. A SystemC module (riscv_processor) runs it on a
// platform; readers of a schedule run it untimed.
#pragma once

#include <cstdint>
#include <string>

#include "models/control/riscv/csr.h"
#include "models/control/riscv/elf_file.h"
#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

struct HartConfig {
  std::uint32_t hart = 0;
  std::uint32_t code_bytes = 1 << 18, data_bytes = 1 << 17;
  std::uint32_t store_bytes = 128;  // capacity of the store buffer
  std::uint32_t push_bytes = 16;    // bytes per cycle that the push unit reads from data memory
  std::uint32_t clusters_l1 = 0;    // cluster whose L1 the window shows
  HartTiming timing;
};

// Interface of the core to the platform.
class CorePort {
 public:
  // Bus access at `cycle` of the hart, which is set to the cycle of the response. Posted stores may be answered later.
  virtual bool transfer(bool write, std::uint64_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) = 0;
  // Writes a descriptor and then the doorbell of a queue. The hart does not wait for the response.
  virtual bool push(std::uint64_t queue, void* descriptor, std::uint32_t bytes, std::uint64_t& cycle);
  virtual void console(char c, std::uint64_t cycle) = 0;
  virtual bool watch(std::uint32_t event) = 0;  // 1 + event number, 0: none; false: no such event

 protected:
  ~CorePort() = default;
};

class ControlCore final : private RiscvBus {
 public:
  ControlCore(const HartConfig& config, CorePort& port);

  // Throws ElfError if the program does not fit.
  void load(const ElfFile& program);
  void reset();  // back to the program's entry; memory as loaded

  Hart& hart() { return hart_; }
  Clint& clint() { return clint_; }
  const ElfFile* program() const { return program_; }
  bool finished() const { return finished_; }
  std::uint32_t code() const { return code_; }  // exit code of the program

  // Sets the interrupt lines at the hart's time; `external` is the level of the external line.
  void set_lines(bool external) {
    hart_.csrs().mip = clint_.lines(hart_.cycle()) | (external ? 1U << kExternalInterrupt : 0);
  }
  // Reason why the program cannot continue, in one clause: "hart 0 took a store access fault at ..., pc ... in f
  // (x.cpp:3)".
  std::string complaint();
  std::string place() { return place_of(hart_.pc()); }  // "pc 0x... in f (x.cpp:3)"
  std::string place_of(std::uint32_t pc) const;

  // Latest refused access of the push unit or the store buffer, in one clause; empty: none.
  const std::string& refused() const { return refused_; }
  // First access of the push unit that is invalid on every platform; empty: none.
  const std::string& mistake() const { return mistake_; }

  // Translates an address of the hart to the platform's. False: the address is local to the hart or unmapped.
  bool translate(std::uint32_t address, std::uint64_t& far) const;

 private:
  bool read(std::uint32_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) override;
  bool write(std::uint32_t address, const void* data, std::uint32_t bytes, std::uint64_t& cycle) override;
  bool fence(std::uint64_t& cycle, std::uint32_t& address) override;
  std::uint64_t time(std::uint64_t cycle) override { return cycle; }
  bool drain(std::uint64_t& cycle);
  bool device(bool write, std::uint32_t offset, std::uint32_t& value, std::uint64_t& cycle);
  bool push(std::uint32_t descriptor, std::uint64_t& cycle);
  bool pushed(std::uint64_t& cycle);
  bool fetch(std::uint32_t address, std::uint64_t& cycle);
  bool play(std::uint32_t bytes, std::uint64_t& cycle);
  bool refuse(std::string access);          // refused by the bus; returns false
  bool refuse_mistake(std::string access);  // refused independently of the bus; returns false

  HartConfig config_;
  CorePort& port_;
  RiscvMemory code_memory_, data_memory_;
  Clint clint_;
  Hart hart_;
  const ElfFile* program_ = nullptr;
  std::uint64_t window_ = 0;
  std::uint32_t watch_ = 0;
  bool finished_ = false;
  std::uint32_t code_ = 0;

  // Store buffer.
  unsigned char gathered_[256];
  std::uint32_t first_ = 0, count_ = 0;

  // Destination and size of a fetch of the push unit.
  std::uint32_t fetch_to_ = 0, fetch_bytes_ = 0;
  std::uint64_t list_ = 0;  // command list being played
  // Push unit: its queue, the cycle from which on it is free, and a failure that no trap has reported.
  std::uint32_t queue_ = 0;
  std::uint64_t push_end_ = 0;
  std::string push_failed_;

  std::string refused_, mistake_;
  std::uint32_t refused_pc_ = 0;  // pc of the instruction that caused the trap
};

}  // namespace attnvp::riscv
