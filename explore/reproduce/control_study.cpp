#include "explore/reproduce/control_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "explore/tuning/tuned_runner.h"
#include "models/riscv_processor/program.h"
#include "platform/config/energy.h"
#include "platform/config/network.h"
#include "platform/job/job.h"

namespace attnvp::reproduce {

namespace {

struct Control {
  std::string name;
  double clock_hz;  // 0: native
  bool lists = false;
};

std::vector<Control> controls(const MachineConfig& machine) {
  return {{"native", 0},
          {"platform's clock", machine.clock_hz},
          {"1 GHz", 1e9},
          {"500 MHz", 500e6},
          {"1 GHz, list", 1e9, true},
          {"500 MHz, list", 500e6, true}};
}

std::string percent(std::uint64_t cycles, std::uint64_t native) {
  return fmt::format("{:+.1f}%", 100 * (static_cast<double>(cycles) / static_cast<double>(native) - 1));
}

}  // namespace

ControlStudy run_control_study(const MachineConfig& machine, const std::vector<std::string>& networks,
                               const std::vector<std::string>& dataflows,
                               const std::function<void(const std::string& what)>& progress) {
  ControlStudy study;
  if (!std::filesystem::exists(riscv::program_path(RiscvConfig()))) return study;
  for (const std::string& network : networks) {
    for (const std::string& dataflow : dataflows) study.rows.push_back({network, dataflow, 0, {}});
  }
  for (const Control& control : controls(machine)) {
    MachineConfig m = machine;
    m.control.cpu = control.clock_hz > 0 ? "riscv" : "native";
    m.control.lists = control.lists;
    m.own<RiscvConfig>() = {};
    if (control.clock_hz > 0) {
      m.own<RiscvConfig>().clock_hz = control.clock_hz;
      study.clocks.push_back(control.name);
    }
    explore::TunedRunner runner(m, config::load_energy(m.energy), false);
    for (ControlRow& row : study.rows) {
      progress(fmt::format("{} with {}, control {}", row.network, row.dataflow, control.name));
      const job::Result r =
          runner.run(config::load_network(row.network), job::parse_dataflow(row.dataflow), nullptr, {});
      if (control.clock_hz == 0) {
        row.native_cycles = r.cycles;
        continue;
      }
      row.riscv.push_back({r.cycles, r.sum("cpu", "instructions"), r.sum("cpu", "hart_cycles"),
                           r.sum("cpu", "hart_stalls"), r.sum("cpu", "doorbells")});
    }
  }
  return study;
}

Section control_section(const ControlStudy& study) {
  Section s;
  s.title = "What control costs";
  s.lead =
      "Cycles with firmware that costs nothing but its bus accesses (native), and what they become where it is a "
      "program "
      "of an in-order RISC-V hart (control.cpu: riscv) of that clock; list: the program was run beforehand and plays "
      "its "
      "commands out of DRAM (control.lists). Tile sizes are chosen for each.";
  s.left = 2;
  s.columns = {"network", "dataflow", "native"};
  for (const std::string& clock : study.clocks) s.columns.push_back(clock);
  s.columns.insert(s.columns.end(),
                   {"instructions", "commands", "instructions per command", "CPI", "list: instructions"});
  for (const ControlRow& row : study.rows) {
    std::vector<std::string> cells = {row.network, row.dataflow, fmt::format("{}", row.native_cycles)};
    for (const ControlRow::Riscv& r : row.riscv) cells.push_back(percent(r.cycles, row.native_cycles));
    const ControlRow::Riscv& at_1_ghz = row.riscv.at(1);
    const auto instructions = static_cast<double>(at_1_ghz.instructions);
    cells.push_back(fmt::format("{}", at_1_ghz.instructions));
    cells.push_back(fmt::format("{}", at_1_ghz.commands));
    cells.push_back(
        fmt::format("{:.0f}", instructions / static_cast<double>(std::max<std::uint64_t>(at_1_ghz.commands, 1))));
    cells.push_back(
        fmt::format("{:.2f}", static_cast<double>(at_1_ghz.hart_cycles - at_1_ghz.hart_stalls) / instructions));
    cells.push_back(fmt::format("{}", row.riscv.at(3).instructions));
    s.rows.push_back(std::move(cells));
  }
  s.notes.push_back("Instructions, commands and CPI (without stalls) are those at 1 GHz.");
  s.notes.push_back(
      "A list costs its bytes of DRAM's bandwidth, some 40 a command, and that it was made beforehand, which is no "
      "time "
      "of the run.");
  return s;
}

}  // namespace attnvp::reproduce
