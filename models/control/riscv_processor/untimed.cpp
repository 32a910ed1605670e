#include "models/control/riscv_processor/untimed.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnvp::riscv {

namespace {

class Direct final : public Port {
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

std::uint64_t run_untimed(const ElfFile& program, const CoreConfig& config, hal::Cpu& cpu, std::uint64_t most_cycles,
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
