// What control costs: the paper's schedules with firmware that is free but for its bus accesses, and as a program of a
// RISC-V hart at several clocks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/reproduce/section.h"
#include "models/machine.h"

namespace attnvp::reproduce {

struct ControlRow {
  std::string network, dataflow;
  std::uint64_t native_cycles = 0;
  struct Riscv {
    std::uint64_t cycles = 0, instructions = 0, hart_cycles = 0, hart_stalls = 0, commands = 0;
  };
  std::vector<Riscv> riscv;  // one for each clock
};

struct ControlStudy {
  std::vector<std::string> clocks;  // as they are shown
  std::vector<ControlRow> rows;
};

// In timing mode. Nothing (no rows) where there is no firmware for RISC-V in this build.
ControlStudy run_control_study(const MachineConfig& machine, const std::vector<std::string>& networks,
                               const std::vector<std::string>& dataflows,
                               const std::function<void(const std::string& what)>& progress);
Section control_section(const ControlStudy& study);

}  // namespace attnvp::reproduce
