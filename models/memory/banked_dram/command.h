// Commands of a DRAM channel's command bus (JEDEC).
#pragma once

#include <cstdint>

namespace attnvp {

enum class DramCommand : std::uint8_t {
  kActivate,
  kRead,
  kReadPrecharge,  // with auto-precharge
  kWrite,
  kWritePrecharge,
  kPrecharge,     // one bank
  kPrechargeAll,  // all banks of a rank
  kRefresh,       // a rank
  kRefreshBank
};

// One command, or a run of `count` reads or writes that start at `at`, `step` clocks apart.
struct DramCommandRun {
  DramCommand command = DramCommand::kPrecharge;
  std::uint32_t unit = 0;   // rank of a pseudo-channel
  std::uint32_t group = 0;  // of the unit
  std::uint32_t bank = 0;   // index in the unit, over all groups
  std::uint32_t row = 0;
  std::int64_t at = 0;  // clocks
  std::uint32_t count = 1, step = 0;
};

inline bool is_column(DramCommand c) { return c >= DramCommand::kRead && c <= DramCommand::kWritePrecharge; }
inline bool is_read(DramCommand c) { return c == DramCommand::kRead || c == DramCommand::kReadPrecharge; }
inline bool is_write(DramCommand c) { return c == DramCommand::kWrite || c == DramCommand::kWritePrecharge; }
inline bool closes_bank(DramCommand c) {
  return c == DramCommand::kReadPrecharge || c == DramCommand::kWritePrecharge || c == DramCommand::kPrecharge;
}

}  // namespace attnvp
