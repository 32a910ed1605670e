// Jobs that come as command lists: the same commands and output as firmware's own, whatever plays them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <tuple>

#include "firmware/hal/list.h"
#include "platform/run/control/commands.h"
#include "tests/platform/control/riscv_runs.h"
#include "tests/support/tuned.h"

namespace attnvp {
namespace {

using runs::machine_with;
using runs::run_job;

using Case = std::tuple<const char*, const char*, const char*>;
class ListOf : public testing::TestWithParam<Case> {};

TEST_P(ListOf, EveryDataflowIsItsCommands) {
  const auto& [hardware, dataflow, network] = GetParam();
  const auto plain = run_job(machine_with(hardware, {}), network, dataflow);
  for (const char* cpu : {"native", "riscv"}) {
    if (std::strcmp(cpu, "riscv") == 0 && !runs::has_riscv_firmware()) continue;
    const auto listed = run_job(machine_with(hardware, {"control.lists=true", std::string("control.cpu=") + cpu}),
                                network, dataflow, true, plain.result.schedule.tiling);
    EXPECT_TRUE(listed.result.golden.passed) << cpu << ": " << listed.result.golden.to_string();
    EXPECT_TRUE(plain.descriptors == listed.descriptors) << cpu;
    EXPECT_TRUE(plain.result.output == listed.result.output) << cpu;
    EXPECT_EQ(plain.result.statistics, listed.result.statistics) << cpu;
    if (std::strcmp(cpu, "native") == 0) continue;
    // However long the layer is.
    EXPECT_LT(listed.result.sum("cpu", "instructions"), 450 * machine_with(hardware, {}).clusters);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lists, ListOf,
    testing::Values(
        Case{"edge", "layerwise", "H=3,N=96,E=32"}, Case{"edge", "softpipe", "H=3,N=96,E=32"},
        Case{"edge", "flat", "H=3,N=96,E=32"}, Case{"edge", "flat:overlap=on", "H=3,N=96,E=32"},
        Case{"edge", "tileflow", "H=3,N=96,E=32"}, Case{"edge", "mas", "H=3,N=96,E=32"},
        Case{"edge", "mas:overwrite=on", "H=3,N=96,E=32"}, Case{"edge", "cascade", "H=3,N=96,E=32"},
        Case{"edge", "mas", "H=4,HKV=2,N=128,E=32,causal=1"}, Case{"edge", "flat", "H=2,N=100,E=32,type=int8"},
        Case{"fusemax", "fusemax:binding=serial", "H=2,N=512,E=64"}, Case{"cluster3", "lean", "H=5,NQ=1,NKV=700,E=32"},
        Case{"cluster3", "lean", "H=8,NQ=1,NKV=4096,E=64"}, Case{"cluster3", "flash-decoding", "H=5,NQ=1,NKV=700,E=32"},
        Case{"cluster3", "flash2", "H=5,NQ=1,NKV=700,E=32"}, Case{"cluster3", "mas", "H=5,N=96,E=32"},
        Case{"edge", "lean", "H=2,NQ=1,NKV=512,E=32,phase=decode"}),
    [](const auto& of) {
      return runs::test_name(std::string(std::get<0>(of.param)) + "_" + std::get<1>(of.param) + "_" +
                             std::get<2>(of.param));
    });

// DRAM is read for the list beside the tensors, and its bytes are those of the list; on the bus it is written as words
// that differ, each run of them once, and a doorbell a command.
TEST(CommandLists, CostTheirBytes) {
  const MachineConfig machine = machine_with("edge", {"control.lists=true"});
  const workload::Attention network = workload::load("H=3,N=96,E=32").attention();
  const auto plain = run_job(machine_with("edge", {}), "H=3,N=96,E=32", "mas", false);
  const auto listed = run_job(machine, "H=3,N=96,E=32", "mas", false, plain.result.schedule.tiling);
  schedule::Job job = job::make_job(machine, network, plain.result.schedule);
  const std::uint64_t behind = job.scratch.address;
  const std::vector<job::PlacedList> lists = job::make_lists(job, machine);
  ASSERT_EQ(lists.size(), 1U);
  EXPECT_EQ(job.scratch.address, behind);
  EXPECT_EQ(lists[0].address, behind + job.scratch.bytes);
  EXPECT_LE(lists[0].address + lists[0].bytes(), hal::kDramBase + machine.dram.size_bytes);
  const auto words = [](const job::RunResult& r) { return r.sum("dram", "read_words"); };
  EXPECT_EQ(words(listed.result), words(plain.result) + 2 * lists[0].words.size());

  std::uint64_t commands = 0;
  for (const auto& [track, descriptors] : plain.descriptors) commands += descriptors.size();
  std::uint32_t doorbells = 0, writes = 0;
  std::vector<std::uint32_t> copy = lists[0].words;
  for (std::size_t at = 0; at < copy.size();) {
    const std::uint32_t size = hal::record_words(&copy[at], static_cast<std::uint32_t>(copy.size() - at));
    ASSERT_GT(size, 0U);
    hal::play_record(&copy[at], [&](std::uint32_t address, const std::uint32_t*, std::uint32_t bytes) {
      const bool control = address >= hal::kControlBase;
      if (control && address % hal::kQueueStride == hal::kQueueDoorbell && bytes == 4) ++doorbells;
      ++writes;
      return true;
    });
    at += size;
  }
  EXPECT_EQ(doorbells, commands);
  // Much shorter than the descriptors.
  EXPECT_LT(4 * lists[0].words.size(), 64 * commands);
  // One read for the job, one for where the list is, one for every burst of it, and its writes.
  const std::uint64_t bursts = (4 * lists[0].words.size() + hal::kListBurst - 1) / hal::kListBurst;
  EXPECT_EQ(listed.result.sum("cpu", "accesses"), 2 + bursts + writes);
}

// What a chip's control may cost: 2% of the cycles at 1 GHz or 1,500 of its own, 5% or 2,500 at 500 MHz.
TEST(CommandLists, KeepUpWithTheEngines) {
  ATTNVP_NEEDS_RISCV();
  const MachineConfig free = machine_with("edge", {});
  const auto cycles = [](const MachineConfig& m, const std::string& network) {
    return static_cast<double>(run_job(m, network, "mas", false).result.cycles);
  };
  for (const auto& [hertz, share, own] : {std::tuple{1e9, 0.02, 1500.0}, {500e6, 0.05, 2500.0}}) {
    const MachineConfig machine =
        machine_with("edge", {"control.cpu=riscv", "control.lists=true", fmt::format("control.clock={} Hz", hertz)});
    for (const char* network : {"bert-base", "bert-large", "bert-small", "llama3-8b", "t5-mini", "vit-b-14", "vit-l-14",
                                "vit-h-14", "vit-b-16", "vit-l-16", "vit-h-16", "xlm"}) {
      const double native = cycles(free, network), lost = cycles(machine, network) - native;
      EXPECT_LE(lost, std::max(share * native, own * free.clock_hz / hertz)) << network << " at " << hertz << " Hz";
    }
  }
}

// Tiles that firmware refuses are refused with the same sentence.
TEST(CommandLists, LeaveRefusalsToFirmware) {
  const auto refusal = [](const std::vector<std::string>& settings) {
    try {
      run_job(machine_with("edge", settings), "H=1,N=512,E=64", "mas", false,
              job::parse_tiling("nq=512,nkv=512,kv=1,rb=64,m0=32,n0=32,k0=32,bb=1,hh=1"));
    } catch (const job::RunError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal({}), "");
  EXPECT_EQ(refusal({"control.lists=true"}), refusal({}));
}

TEST(CommandLists, NeedRoomInDram) {
  const MachineConfig machine = machine_with("edge", {"control.lists=true"});
  const workload::Attention network = workload::load("H=3,N=96,E=32").attention();
  const job::Schedule schedule = runs::complete(machine, network, job::parse_dataflow("mas"));
  schedule::Job job = job::make_job(machine, network, schedule);
  job.scratch.bytes = 1024;
  EXPECT_THROW(job::make_lists(job, machine), job::RunError);
}

// Records of all kinds, cut wherever bursts end.
TEST(CommandLists, ArePlayedAsTheyAreWritten) {
  std::mt19937 engine(7);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  const auto below = [&](std::uint32_t n) { return random() % n; };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> list;
    std::vector<std::tuple<std::uint32_t, std::vector<std::uint32_t>>> wanted, seen;
    for (std::uint32_t i = below(120); i > 0; --i) {
      const std::uint32_t address = 4 * below(1U << 20), kind = below(3);
      if (kind == hal::kListWrite) {
        std::vector<std::uint32_t> words(1 + below(hal::kWindowWords));
        for (std::uint32_t& w : words) w = random();
        list.insert(list.end(), {address | kind, static_cast<std::uint32_t>(4 * words.size())});
        list.insert(list.end(), words.begin(), words.end());
        wanted.emplace_back(address, words);
        continue;
      }
      const std::uint32_t masks = kind == hal::kListLonger ? 2 : 1;
      const std::size_t at = list.size() + 1;
      list.push_back(address | kind);
      list.resize(list.size() + masks);
      std::vector<std::uint32_t> run;
      for (std::uint32_t bit = 0; bit <= 32 * masks; ++bit) {
        if (bit < 32 * masks && below(3) == 0) {
          list[at + bit / 32] |= 1U << bit % 32;
          run.push_back(random());
          list.push_back(run.back());
        } else if (!run.empty()) {
          wanted.emplace_back(address + 4 * (bit - run.size()), run);
          run.clear();
        }
      }
      wanted.emplace_back(address + hal::kQueueDoorbell, std::vector<std::uint32_t>{1});
    }
    const std::uint64_t base = 4096;
    const auto read = [&](std::uint64_t address, std::uint32_t* words, std::uint32_t bytes) {
      std::memcpy(words, reinterpret_cast<const char*>(list.data()) + (address - base), bytes);
      return bytes <= hal::kListBurst;
    };
    const auto write = [&](std::uint32_t address, const std::uint32_t* words, std::uint32_t bytes) {
      seen.emplace_back(address, std::vector<std::uint32_t>(words, words + bytes / 4));
      return true;
    };
    const auto bytes = static_cast<std::uint32_t>(4 * list.size());
    EXPECT_TRUE(hal::play_list({base, bytes, 0}, read, write));
    EXPECT_EQ(seen, wanted);
    if (list.empty()) continue;
    EXPECT_FALSE(hal::play_list({base, bytes - 4, 0}, read, write));  // cut off
  }
}

// What is no list is refused, and read no further than it is long.
TEST(CommandLists, RefuseWhatIsNone) {
  std::mt19937 engine(11);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint32_t> list(1 + random() % 600);
    for (std::uint32_t& w : list) w = round % 2 == 0 ? random() : random() % 64;
    std::uint32_t most = 0;
    const auto read = [&](std::uint64_t address, std::uint32_t* words, std::uint32_t bytes) {
      most = std::max(most, static_cast<std::uint32_t>(address + bytes));
      std::memcpy(words, reinterpret_cast<const char*>(list.data()) + address, bytes);
      return true;
    };
    hal::play_list({0, static_cast<std::uint32_t>(4 * list.size()), 0}, read,
                   [](std::uint32_t, const std::uint32_t*, std::uint32_t bytes) { return bytes <= 256; });
    EXPECT_LE(most, 4 * list.size());
  }
}

}  // namespace
}  // namespace attnvp
