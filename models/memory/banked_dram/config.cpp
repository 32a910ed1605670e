#include "models/memory/banked_dram/config.h"

#include <algorithm>

#include "models/keys/binding.h"

namespace attnvp {

namespace {
constexpr double kMostClocks = 1e6;
}

void BankedConfig::describe(config::Keys<BankedConfig>& key) {
  using namespace config;
  using C = BankedConfig;
  const auto banked = [](const char* meaning) { return std::string("with policy banked: ") + meaning; };
  const auto size = [&](const char* name, double most, const char* meaning) {
    return power_of_two(name, KeyUnit::kCount, 1, most, banked(meaning));
  };
  const auto clocks = [&](const char* name, std::uint32_t C::*field, double least, const char* meaning) {
    key(number(name, KeyUnit::kCycles, least, kMostClocks, banked(meaning)), field);
  };

  key(text("part", banked("the part, a name under configs/dram; sets the keys of its file")), &C::part);
  key(choice("type", {"lpddr4", "lpddr5", "ddr4", "ddr5", "hbm2", "hbm2e", "hbm3", "gddr6x", "gddr7"},
             banked("the part's type, whose energies its commands have")),
      &C::type);
  key(number("channels", KeyUnit::kCount, 0, 64, banked("channels; 0: the power of two nearest to dram.bandwidth")),
      &C::channels);
  key(size("pseudo_channels", 4, "data buses of a channel behind one command bus"), &C::pseudo_channels);
  key(size("ranks", 8, "ranks of a pseudo-channel"), &C::ranks);
  key(size("bank_groups", 16, "bank groups of a rank"), &C::bank_groups);
  key(size("banks", 32, "banks of a bank group"), &C::banks);
  key(size("rows", 1 << 24, "rows of a bank"), &C::rows);
  key(size("columns", 1 << 16, "columns of a row, each as wide as the data bus"), &C::columns);
  key(power_of_two("width", KeyUnit::kCount, 8, 1024, banked("bits of a data bus")), &C::width);
  key(size("burst_length", 64, "beats of a burst"), &C::burst_length);
  key(size("data_rate", 16, "beats per clock"), &C::data_rate);
  key(number("tCK", KeyUnit::kTime, 1e-11, 1e-7, banked("the command clock's period")), &C::tCK_seconds);
  key(flag("row_bus", banked("row and column commands have buses of their own")), &C::row_bus);
  clocks("act_length", &C::act_length, 1, "clocks of an activate on the command bus");
  clocks("cas_length", &C::cas_length, 1, "clocks of a read or write");
  clocks("pre_length", &C::pre_length, 1, "clocks of a precharge");
  clocks("ref_length", &C::ref_length, 1, "clocks of a refresh");
  clocks("tRCDRD", &C::tRCDRD, 1, "activate to read");
  clocks("tRCDWR", &C::tRCDWR, 1, "activate to write");
  clocks("tRP", &C::tRP, 1, "precharge to activate, of one bank");
  clocks("tRPab", &C::tRPab, 1, "precharge to activate, of all banks");
  clocks("tRAS", &C::tRAS, 1, "activate to precharge");
  clocks("tRC", &C::tRC, 1, "activate to activate of a bank");
  clocks("tRRD_S", &C::tRRD_S, 1, "activate to activate of another bank group");
  clocks("tRRD_L", &C::tRRD_L, 1, "activate to activate of a bank group");
  clocks("tFAW", &C::tFAW, 1, "four activates of a rank, no fifth within");
  clocks("tCCD_S", &C::tCCD_S, 1, "read to read and write to write, of another bank group");
  clocks("tCCD_L", &C::tCCD_L, 1, "likewise of a bank group");
  clocks("tCCD_L_WR", &C::tCCD_L_WR, 0, "write to write of a bank group; 0: tCCD_L");
  clocks("RL", &C::RL, 1, "read to data");
  clocks("WL", &C::WL, 1, "write to data");
  clocks("tDQSCK", &C::tDQSCK, 0, "delay of read data beyond RL");
  clocks("tDQSS", &C::tDQSS, 0, "delay of write data beyond WL, as limits count it");
  clocks("tWR", &C::tWR, 1, "end of write data to precharge");
  clocks("tWTR_S", &C::tWTR_S, 1, "end of write data to read of another bank group");
  clocks("tWTR_L", &C::tWTR_L, 1, "end of write data to read of a bank group");
  clocks("tRTP", &C::tRTP, 1, "read to precharge");
  clocks("tRTW", &C::tRTW, 1, "read to write, of a rank");
  clocks("tRTRS", &C::tRTRS, 0, "gap on the data bus between ranks");
  clocks("tPPD", &C::tPPD, 1, "precharge to precharge of a rank");
  clocks("tREFI", &C::tREFI, 1, "between refreshes of all banks");
  clocks("tRFC", &C::tRFC, 1, "a refresh of all banks");
  clocks("tREFIpb", &C::tREFIpb, 1, "between refreshes of single banks");
  clocks("tRFCpb", &C::tRFCpb, 1, "a refresh of a bank");
  clocks("tRREFD", &C::tRREFD, 1, "refresh of a bank to activate or refresh of another one");
  key(text("mapping",
           banked(
               "address bits from the highest on, of row, group, bank, rank, pseudo, channel, column, byte: NAME takes "
               "all bits of a field, NAME:2 two, NAME^row is hashed by the row's lowest; or a name in "
               "configs/dram/mappings")),
      &C::mapping);
  key(power_of_two("interleave", KeyUnit::kBytes, 16, kMiB,
                   banked("bytes of a channel in turn, where the mapping says nothing")),
      &C::interleave_bytes);
  key(choice(
          "page", {"open", "closed", "open-adaptive", "closed-adaptive"},
          banked("rows stay open; are closed after each access; stay open unless only others are asked for; are closed "
                 "unless they are asked for")),
      &C::page);
  key(choice("refresh", {"off", "all-bank", "per-bank"}, banked("how rows are refreshed")), &C::refresh);
  key(number("queue", KeyUnit::kCount, 1, 1024, banked("requests waiting for a bank, of which a row hit goes first")),
      &C::queue);
  key(number("age_limit", KeyUnit::kCycles, 0, 1e9,
             banked("a request that has waited for so many clocks is passed by no row hit; 0: no limit")),
      &C::age_limit);
  key(number("write_queue", KeyUnit::kCount, 0, 4096,
             banked("writes put by while there are reads; 0: reads and writes are one queue")),
      &C::write_queue);
  key(number("write_high", KeyUnit::kCount, 0, 4096, banked("so many writes put by are drained")), &C::write_high);
  key(number("write_low", KeyUnit::kCount, 0, 4096, banked("down to so many")), &C::write_low);
}

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
