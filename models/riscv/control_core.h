// A hart as a cluster's control processor has it: with tightly coupled memories, interruptor, store buffer and its own
// map of the platform (firmware/hal/hart.h). It knows no time but cycles of its clock: the platform's module runs it in
// SystemC's time, a reader of command streams runs it at once.
#pragma once

#include <cstdint>
#include <string>

#include "models/riscv/clint.h"
#include "models/riscv/elf_file.h"
#include "models/riscv/hart.h"

namespace attnvp::riscv {

struct CoreConfig {
  std::uint32_t hart = 0;
  std::uint32_t code_bytes = 1 << 18, data_bytes = 1 << 17;
  std::uint32_t store_bytes = 128;  // that the store buffer gathers
  std::uint32_t push_bytes = 16;    // that the push unit takes out of data memory in a cycle
  std::uint32_t clusters_l1 = 0;    // whose L1 its window shows
  Timing timing;
};

// The platform, as the core sees it.
class Port {
 public:
  // The hart has come to `cycle`; sets it to when the access is answered. Posted stores may be answered later.
  virtual bool transfer(bool write, std::uint64_t address, void* data, std::uint32_t bytes, std::uint64_t& cycle) = 0;
  // Into a queue: the descriptor, then the doorbell. The hart does not wait for it.
  virtual bool push(std::uint64_t queue, void* descriptor, std::uint32_t bytes, std::uint64_t& cycle);
  virtual void console(char c, std::uint64_t cycle) = 0;
  virtual bool watch(std::uint32_t event) = 0;  // 1 + an event, 0: none; false: there is no such event

 protected:
  ~Port() = default;
};

class ControlCore final : private Bus {
 public:
  ControlCore(const CoreConfig& config, Port& port);

  // Throws ElfError where the program does not fit.
  void load(const ElfFile& program);
  void reset();  // back to the program's entry; memory as loaded

  Hart& hart() { return hart_; }
  Clint& clint() { return clint_; }
  const ElfFile* program() const { return program_; }
  bool finished() const { return finished_; }
  std::uint32_t code() const { return code_; }  // that it finished with

  // The interrupt lines at the hart's time, with the external one as given.
  void set_lines(bool external) {
    hart_.csrs().mip = clint_.lines(hart_.cycle()) | (external ? 1U << kExternalInterrupt : 0);
  }
  // Why it cannot go on, in one clause: "hart 0 took a store access fault at ..., pc ... in f (x.cpp:3)".
  std::string complaint();
  std::string place() { return place_of(hart_.pc()); }  // "pc 0x... in f (x.cpp:3)"
  std::string place_of(std::uint32_t pc) const;

  // The latest access of the push unit or the store buffer that was refused, in one clause; empty: there was none.
  const std::string& refused() const { return refused_; }
  // The first of the push unit that no platform could have done; empty: there was none.
  const std::string& mistake() const { return mistake_; }

  // Where what the hart sees at an address is in the platform; false: it is the hart's own, or nothing.
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
  bool refuse(std::string access);          // by the bus; false
  bool refuse_mistake(std::string access);  // likewise, whatever the bus

  CoreConfig config_;
  Port& port_;
  Memory code_memory_, data_memory_;
  Clint clint_;
  Hart hart_;
  const ElfFile* program_ = nullptr;
  std::uint64_t window_ = 0;
  std::uint32_t watch_ = 0;
  bool finished_ = false;
  std::uint32_t code_ = 0;

  // The store buffer.
  unsigned char gathered_[256];
  std::uint32_t first_ = 0, count_ = 0;

  // What the push unit fetches: where to, and how much.
  std::uint32_t fetch_to_ = 0, fetch_bytes_ = 0;
  std::uint64_t list_ = 0;  // that it plays
  // The push unit: its queue, when it is free, what it could not do and no trap has told of.
  std::uint32_t queue_ = 0;
  std::uint64_t push_end_ = 0;
  std::string push_failed_;

  std::string refused_, mistake_;
  std::uint32_t refused_pc_ = 0;  // of the instruction that traps by it
};

}  // namespace attnvp::riscv
