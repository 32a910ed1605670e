// `attnvp riscv`: runs a program on a single RISC-V core.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "models/control/riscv/bare_machine.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"

namespace attnvp::cli {

namespace {

struct RiscvArguments {
  std::string program;  // an ELF file
  std::uint64_t most_cycles = 1'000'000'000;
};

int riscv(const RiscvArguments& a) {
  try {
    const attnvp::riscv::ElfFile program(a.program);
    attnvp::riscv::BareMachine machine(program);
    const auto result = machine.run(a.most_cycles);
    print(result.console);
    if (!result.ended || result.code != 0) {
      const std::string why = result.ended ? fmt::format("it ended with {}", result.code) : result.why;
      text::complain(fmt::format("{}: {}", a.program, why));
      return 1;
    }
    fmt::print("{}: passed, {} instructions in {} cycles\n", a.program, machine.hart().retired(),
               machine.hart().cycle());
    return 0;
  } catch (const attnvp::riscv::ElfError& e) {
    throw config::ConfigError(e.what());
  }
}

}  // namespace

void add_riscv(CLI::App& app, int& status) {
  const auto a = std::make_shared<RiscvArguments>();
  CLI::App& command = *app.add_subcommand(
      "riscv", "run a bare-metal RV32IMC program on the core alone: RAM at 0x80000000, its end by HTIF at `tohost`");
  command.add_option("program", a->program, "an ELF file")->required();
  command.add_option("--max-cycles", a->most_cycles, "give up after so many cycles")
      ->check(within(1, UINT64_MAX))
      ->capture_default_str();
  command.callback([a, &status] { status = riscv(*a); });
}

}  // namespace attnvp::cli
