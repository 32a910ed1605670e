// Parameters of control: control processors and the event unit of each cluster, and the mailbox.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/key.h"

namespace attnvp {

// Parameters that all kinds of control processor share, one per cluster.
struct ControlConfig {
  std::string cpu = "native";
  std::uint32_t access_cycles = 1;  // per bus access of up to bus_bytes
  std::uint32_t bus_bytes = 8;      // width of the control bus
  bool lists = false;               // jobs are command lists

  static void describe(config::Keys<ControlConfig>& key) {
    using namespace config;
    using C = ControlConfig;
    key(config::kind("cpu", "control", "control processor"), &C::cpu);
    key(number("access_cycles", KeyUnit::kCycles, 1, 65536, "per access of up to control.bus_width"),
        &C::access_cycles);
    key(power_of_two("bus_width", KeyUnit::kBytes, 4, 64, "width of the control bus"), &C::bus_bytes);
    key(flag("lists", "firmware is run beforehand, as a compiler, and plays its commands from a list in DRAM"),
        &C::lists);
  }
};

// Parameters of control processors of kind `riscv` alone.
struct RiscvConfig {
  static constexpr const char* kShipped = "shipped";
  double clock_hz = 1e9;
  std::uint64_t code_bytes = 256 << 10, data_bytes = 256 << 10;
  std::uint32_t store_bytes = 128, push_bytes = 16;
  std::uint32_t base_cycles = 1, load_use_cycles = 1, branch_cycles = 2, multiply_cycles = 1, divide_cycles = 16;
  std::uint32_t quantum = 10000;
  std::string firmware = kShipped;
  bool heterogeneous_cores =
      false;  // derived: cores or clusters differ, and the shipped firmware divides work by speed

  static void describe(config::Keys<RiscvConfig>& key) {
    using namespace config;
    using C = RiscvConfig;
    const auto cycles = [](const char* name, const char* meaning) {
      return number(name, KeyUnit::kCycles, 0, 1000, std::string("with cpu riscv: ") + meaning);
    };
    key(number("clock", KeyUnit::kFrequency, 1e6, 100e9, "with cpu riscv: its own clock"), &C::clock_hz);
    key(number("itcm", KeyUnit::kBytes, kKiB, 64 * kMiB, "with cpu riscv: tightly coupled memory for code"),
        &C::code_bytes);
    key(number("dtcm", KeyUnit::kBytes, kKiB, 64 * kMiB, "with cpu riscv: tightly coupled memory for data and stack"),
        &C::data_bytes);
    key(power_of_two("store_buffer", KeyUnit::kBytes, 8, 256,
                     "with cpu riscv: stores to consecutive addresses that go over the bus as one access"),
        &C::store_bytes);
    key(power_of_two("push_width", KeyUnit::kBytes, 4, 64,
                     "with cpu riscv: that the push unit takes out of data memory, or puts there, in a cycle"),
        &C::push_bytes);
    key(number("cpi", KeyUnit::kCycles, 1, 1000, "with cpu riscv: cycles of every instruction"), &C::base_cycles);
    key(cycles("load_use", "more, where an instruction takes what the load before it brings"), &C::load_use_cycles);
    key(cycles("branch", "more, for branches taken, jumps and traps"), &C::branch_cycles);
    key(cycles("multiply", "more, for a multiplication"), &C::multiply_cycles);
    key(cycles("divide", "more, for a division"), &C::divide_cycles);
    key(number("quantum", KeyUnit::kCycles, 1, 1e9,
               "with cpu riscv: of its cycles, that it may be ahead of the platform; results do not depend on it"),
        &C::quantum);
    key(config::text("firmware",
                     "with cpu riscv: the program, a path to an ELF file; shipped: the one that comes with this"),
        &C::firmware);
  }
};

// Parameters of the event unit, one per cluster.
struct EventUnitConfig {
  std::string kind = "model";
  std::uint32_t events = 256;  // counting semaphores

  static void describe(config::Keys<EventUnitConfig>& key) {
    using namespace config;
    key(config::kind("kind", "events", "the event unit of a cluster"), &EventUnitConfig::kind);
    key(number("count", KeyUnit::kCount, 16, 4096, "counting semaphores in a cluster's event unit"),
        &EventUnitConfig::events);
  }
};

// Parameters of the mailbox.
struct MailboxConfig {
  std::string kind = "model";

  static void describe(config::Keys<MailboxConfig>& key) {
    key(config::kind("kind", "mailbox", "the memory through which the host hands jobs to firmware"),
        &MailboxConfig::kind);
  }
};

}  // namespace attnvp
