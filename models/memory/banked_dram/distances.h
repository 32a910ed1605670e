// Minimum distances between two commands in clocks, from start to start, derived from a part's parameters.
#pragma once

#include <cstdint>

#include "models/memory/banked_dram/config.h"

namespace attnvp {

using Tick = std::int64_t;  // clocks of the part

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
