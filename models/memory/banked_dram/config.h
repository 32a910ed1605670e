// Parameters of banked DRAM: a part, as in its data sheet, and its controller. Times are in clocks of the part's
// command clock, under their JEDEC names. A time between two commands is measured from end to end, as in data sheets.
#pragma once

#include <cstdint>
#include <string>

#include "models/keys/key.h"

namespace attnvp {

enum class PagePolicy : std::uint8_t { kOpen, kClosed, kOpenAdaptive, kClosedAdaptive };
enum class RefreshPolicy : std::uint8_t { kOff, kAllBank, kPerBank };

struct BankedConfig {
  // Part.
  std::string part = "lpddr4-3200";   // configs/dram; the file sets all keys below except those of the controller
  std::string type = "lpddr4";        // energy table entry of its commands
  std::uint32_t pseudo_channels = 1;  // per channel: separate data buses behind one command bus
  std::uint32_t ranks = 1;
  std::uint32_t bank_groups = 1;
  std::uint32_t banks = 8;  // per group
  std::uint32_t rows = 131072;
  std::uint32_t columns = 1024;
  std::uint32_t width = 16;         // bits of a data bus
  std::uint32_t burst_length = 16;  // beats
  std::uint32_t data_rate = 2;      // beats per clock
  double tCK_seconds = 625e-12;
  bool row_bus = false;  // separate buses for row and column commands
  std::uint32_t act_length = 4, cas_length = 4, pre_length = 2, ref_length = 2;  // clocks on the command bus
  std::uint32_t tRCDRD = 29, tRCDWR = 29, tRP = 29, tRPab = 34, tRAS = 68, tRC = 97;
  std::uint32_t tRRD_S = 16, tRRD_L = 16, tFAW = 64;
  std::uint32_t tCCD_S = 8, tCCD_L = 8, tCCD_L_WR = 0;
  std::uint32_t RL = 28, WL = 14, tDQSCK = 3, tDQSS = 1;
  std::uint32_t tWR = 29, tWTR_S = 16, tWTR_L = 16, tRTP = 12, tRTW = 27, tRTRS = 1, tPPD = 4;
  std::uint32_t tREFI = 6246, tRFC = 608, tREFIpb = 780, tRFCpb = 304, tRREFD = 16;

  // Controller, one per channel.
  std::uint32_t channels = 0;
  std::string mapping = "row bank column byte";
  std::uint64_t interleave_bytes = 256;
  PagePolicy page = PagePolicy::kOpen;
  RefreshPolicy refresh = RefreshPolicy::kAllBank;
  std::uint32_t queue = 8;
  std::uint32_t age_limit = 0;
  std::uint32_t write_queue = 0, write_high = 0, write_low = 0;

  std::uint32_t units() const { return pseudo_channels * ranks; }  // units of a channel with rank limits of their own
  std::uint32_t banks_of_unit() const { return bank_groups * banks; }
  std::uint32_t burst_clocks() const { return burst_length / data_rate; }
  std::uint32_t write_to_write() const { return tCCD_L_WR > 0 ? tCCD_L_WR : tCCD_L; }  // in a bank group
  std::uint32_t burst_bytes() const { return burst_length * width / 8; }
  std::uint64_t channel_bytes() const {
    return std::uint64_t{units()} * banks_of_unit() * rows * columns * (width / 8);
  }
  double channel_bytes_per_second() const { return pseudo_channels * (width / 8.0) * data_rate / tCK_seconds; }

  static void describe(config::Keys<BankedConfig>& key);
};

using Tick = std::int64_t;  // clocks of the part

// Minimum distances between two commands in clocks, from start to start, derived from a part's parameters.
struct Distances {
  explicit Distances(const BankedConfig& config);

  Tick act, cas, pre, ref;  // lengths on the command bus
  // Same bank.
  Tick act_read, act_write, act_pre, act_act, pre_act, read_pre, write_pre, read_act, write_act, write_read_pre;
  // Same bank group, same rank.
  Tick act_group, act_rank, act_window;
  Tick read_read_group, write_write_group, column_rank, read_write, write_read_group, write_read_rank;
  Tick pre_rank;
  // Another rank on the same data bus.
  Tick column_other, read_write_other, write_read_other;
  // Refresh. `act_ref` is added to the earliest time of an activate.
  Tick act_ref, preall_act, ref_act, refpb_act, refpb_act_other, refpb_refpb;
  // To the end of the data.
  Tick read_end, write_end;
};

}  // namespace attnvp
