// `attnvp riscv`: a program on the core alone.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "models/riscv/bare_machine.h"
#include "platform/config/error.h"
#include "platform/text/complaint.h"

namespace attnvp::cli {

int riscv(const RiscvArguments& a) {
  try {
    const attnvp::riscv::ElfFile program(a.program);
    attnvp::riscv::BareMachine machine(program);
    const auto result = machine.run(a.most_cycles);
    std::fputs(result.console.c_str(), stdout);
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

}  // namespace attnvp::cli
