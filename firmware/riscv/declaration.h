// Layout of the ELF section `attnvp_dataflows`: 32-bit pointers to declarations (firmware/runtime/dataflow.h). The host
// reads them from the ELF file without executing it. The section `attnvp_abi` identifies this layout by
// kDeclarationVersion.
#pragma once

#include <cstdint>

namespace attnvp::riscv {

constexpr std::uint32_t kDeclarationVersion = 3;

struct DataflowLayout {
  std::uint32_t name, description, run, parameters, options, statistics;
  std::uint8_t scores, reserved[3];
  std::uint32_t traits;
};
struct ParameterLayout {
  std::uint32_t name, meaning;
  std::uint8_t extent, grain, reserved[2];
  std::uint32_t most, none;
  std::uint32_t tries[8];
  std::uint8_t in_command, reserved2[3];
  std::uint32_t guess, named;
};
struct NamedValueLayout {
  std::uint32_t name, meaning, traits, same;
};
struct OptionLayout {
  std::uint32_t name, values, description;
};
struct StatisticLayout {
  std::uint32_t name, meaning;
};

}  // namespace attnvp::riscv
