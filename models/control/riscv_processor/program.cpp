#include "models/control/riscv_processor/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace attnvp::riscv {

namespace fs = std::filesystem;

namespace {

// Installed: bin/attnvp and share/attnvp/firmware; in a build folder: firmware/riscv. Otherwise the build folder of
// this program.
std::string shipped(const std::string& name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path up = program.parent_path().parent_path();
  for (const fs::path& path : {up / "share/attnvp/firmware" / name, up / "firmware/riscv" / name}) {
    if (fs::exists(path, error)) return path.string();
  }
  return (fs::path(ATTNVP_FIRMWARE_DIR) / name).string();
}

// Port without effect, for a core that only checks whether a program fits.
class Nowhere final : public CorePort {
  bool transfer(bool /*write*/, std::uint64_t /*address*/, void* /*data*/, std::uint32_t /*bytes*/,
                std::uint64_t& /*cycle*/) override {
    return false;
  }
  void console(char /*c*/, std::uint64_t /*cycle*/) override {}
  bool watch(std::uint32_t /*event*/) override { return true; }
};

}  // namespace

std::string program_path(const RiscvConfig& config) {
  if (config.firmware != RiscvConfig::kShipped) return config.firmware;
  return shipped(config.heterogeneous_cores ? "attnvp-heterogeneous.elf" : "attnvp.elf");
}

std::shared_ptr<const ElfFile> open_program(const RiscvConfig& config) {
  static std::map<std::string, std::weak_ptr<const ElfFile>> open;
  const std::string path = program_path(config);
  std::weak_ptr<const ElfFile>& known = open[path];
  std::shared_ptr<const ElfFile> program = known.lock();
  if (program == nullptr) known = program = std::make_shared<const ElfFile>(path);
  return program;
}

HartConfig core_config(const RiscvConfig& config, std::uint32_t cluster) {
  HartConfig core;
  core.hart = core.clusters_l1 = cluster;
  core.code_bytes = static_cast<std::uint32_t>(config.code_bytes);
  core.data_bytes = static_cast<std::uint32_t>(config.data_bytes);
  core.store_bytes = config.store_bytes;
  core.push_bytes = config.push_bytes;
  core.timing = {config.base_cycles,     config.load_use_cycles, config.branch_cycles,
                 config.multiply_cycles, config.divide_cycles,   1};
  return core;
}

std::string program_problem(const RiscvConfig& config) {
  std::error_code error;
  const std::string path = program_path(config);
  if (config.firmware == RiscvConfig::kShipped && !fs::exists(path, error)) {
    return fmt::format(
        "key 'control.cpu': found 'riscv'; this build has no firmware for it ({} is missing), as there "
        "was no riscv64-unknown-elf-gcc: install gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf "
        "and build again, or give a program by --firmware",
        path);
  }
  try {
    Nowhere nowhere;
    ControlCore(core_config(config, 0), nowhere).load(*open_program(config));
  } catch (const ElfError& problem) {
    return problem.what();
  }
  return {};
}

namespace {

class Direct final : public CorePort {
 public:
  explicit Direct(hal::Cpu& cpu) : cpu_(cpu) {}

 private:
  bool transfer(bool write, std::uint64_t address, void* data, std::uint32_t bytes, std::uint64_t& /*cycle*/) override {
    return write ? cpu_.write(address, data, bytes) : cpu_.read(address, data, bytes);
  }
  void console(char /*c*/, std::uint64_t /*cycle*/) override {}
  bool watch(std::uint32_t /*event*/) override { return true; }
  hal::Cpu& cpu_;
};

}  // namespace

std::uint64_t run_untimed(const ElfFile& program, const HartConfig& config, hal::Cpu& cpu, std::uint64_t most_cycles,
                          Observer* observer) {
  Direct port(cpu);
  ControlCore core(config, port);
  core.load(program);
  Hart& hart = core.hart();
  hart.set_observer(observer);
  Stop stop = Stop::kLimit;
  core.set_lines(false);
  while (!core.finished() && stop != Stop::kLost) {
    stop = hart.run(most_cycles);
    if (core.finished()) break;
    if (stop == Stop::kWait) {  // the awaited work is complete in untimed execution
      core.set_lines(true);
      if (!hart.csrs().wakes() && hart.csrs().hears(kTimerInterrupt) && core.clint().deadline() < most_cycles) {
        hart.sleep_until(std::max(hart.cycle(), core.clint().deadline()));
        core.set_lines(true);
      }
      if (hart.csrs().wakes()) continue;
      throw ProgramError(
          fmt::format("{}: hart {} waits for an interrupt, {}", program.path(), config.hart, core.place()));
    }
    if (hart.cycle() >= most_cycles) {
      throw ProgramError(fmt::format("{}: hart {} has not ended after {} cycles, {}; --max-cycles allows more",
                                     program.path(), config.hart, most_cycles, core.place()));
    }
  }
  if (!core.mistake().empty()) {
    throw ProgramError(fmt::format("{}: hart {}: {}", program.path(), config.hart, core.mistake()));
  }
  if (!core.finished() || core.code() != 0) throw ProgramError(fmt::format("{}: {}", program.path(), core.complaint()));
  return hart.cycle();
}

}  // namespace attnvp::riscv
