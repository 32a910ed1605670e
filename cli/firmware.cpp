#include "cli/firmware.h"

#include <filesystem>
#include <fstream>

#include "models/riscv_processor/config.h"
#include "platform/config/hardware.h"
#include "platform/job/schedule.h"
#include "platform/schedule/programs.h"

namespace attnvp::cli {

const schedule::FirmwareImage& use_firmware(MachineConfig& machine, const std::string& elf) {
  if (!elf.empty()) {
    machine.control.cpu = "riscv";
    machine.own<RiscvConfig>().firmware = elf;
    config::check_machine(machine, {"--firmware"});
  }
  return schedule::firmware_of(machine);
}

bool is_program(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // reading a pipe would wait
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof magic);
  return file && std::string(magic, sizeof magic) ==
                     "\x7f"
                     "ELF";
}

std::string default_dataflow(const std::string& asked, const config::Network& network, const MachineConfig& machine) {
  if (!asked.empty()) return asked;
  const bool one_step = network.step != config::Step::kAttention;
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  const auto fit = job::dataflows_for(network, firmware);
  if (one_step && !fit.empty()) return fit.front()->name;
  return firmware.find("mas") != nullptr ? "mas" : firmware.dataflows().front()->name;
}

}  // namespace attnvp::cli
