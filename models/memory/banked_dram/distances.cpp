#include "models/memory/banked_dram/distances.h"

#include <algorithm>

namespace attnvp {

Distances::Distances(const BankedConfig& c) {
  act = c.act_length, cas = c.cas_length, pre = c.pre_length, ref = c.ref_length;
  const Tick burst = c.burst_clocks(), WL = c.WL, RL = c.RL;
  const Tick write_data = WL + Tick{c.tDQSS} + burst;  // to the end of the data, as limits count it
  // Data sheets count from the end of a command to the end of the next one.
  act_read = c.tRCDRD + act - cas;
  act_write = c.tRCDWR + act - cas;
  act_pre = c.tRAS + act - pre;
  act_act = c.tRC;
  pre_act = c.tRP + pre - act;
  read_pre = c.tRTP + cas - pre;
  write_pre = write_data + c.tWR + cas - pre;
  read_act = c.tRTP + c.tRP + cas - act;
  write_act = write_data + c.tWR + c.tRP + cas - act;
  act_group = c.tRRD_L, act_rank = c.tRRD_S, act_window = c.tFAW;
  read_read_group = c.tCCD_L, write_write_group = c.write_to_write();
  column_rank = c.tCCD_S, read_write = c.tRTW;
  write_read_group = write_data + c.tWTR_L;
  write_read_rank = write_data + c.tWTR_S;
  write_read_pre = std::max(write_read_group, write_pre - read_pre);  // a read with auto-precharge
  pre_rank = c.tPPD;
  column_other = burst + c.tRTRS;
  read_write_other = std::max<Tick>(RL + burst + c.tRTRS - WL, 1);
  write_read_other = std::max<Tick>(WL + burst + c.tRTRS - RL, 1);
  act_ref = act - ref;
  preall_act = c.tRPab + pre - act;
  ref_act = c.tRFC + ref - act;
  refpb_act = c.tRFCpb + ref - act;
  refpb_act_other = c.tRREFD + ref - act;
  refpb_refpb = c.tRFCpb;
  // Data follow a command's last clock.
  read_end = RL + c.tDQSCK + burst + cas - 1;
  write_end = WL + burst + cas - 1;
}

}  // namespace attnvp
