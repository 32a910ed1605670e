// The L2 as a memory of the address map: copies by hand. DRAM gives 8 B/cycle after 100 cycles (reads only), the L2 64
// B/cycle after 10, an L1 port 64 B/cycle; bursts of 1 KiB are 128 cycles on DRAM's bus and 16 on the others.
#include <numeric>

#include "models/interconnect/config.h"
#include "platform/machine/hardware.h"
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kL2 = hal::kL2Base, kL1Of1 = hal::l1_base(1);

MachineConfig with_l2() {
  MachineConfig m = machine();
  m.clusters = 2;
  m.l2.kind = "scratchpad";
  m.l2.size_bytes = 1 << 20;
  m.l2.bytes_per_second = 64e9;
  m.l2.latency_seconds = 10e-9;
  return m;
}

std::vector<std::uint16_t> numbers(std::size_t n) {
  std::vector<std::uint16_t> out(n);
  std::iota(out.begin(), out.end(), std::uint16_t{1});
  return out;
}

struct Traffic {
  std::uint64_t read, written, busy;
  bool operator==(const Traffic& o) const { return read == o.read && written == o.written && busy == o.busy; }
};

// Cycles of a copy of 4 KiB, from its doorbell on.
std::uint64_t cycles_of_copy(const MachineConfig& m, std::uint64_t from, std::uint64_t to, const Traffic& l2) {
  Bench bench(m);
  std::uint64_t cycles = 0;
  bench.run([&](Bench& b) {
    b.set_dram(from, numbers(2048));  // any memory, by the interconnect
    b.push(channel(0), then(copy(4096, from, to), 0));
    b.take(0);
    cycles = b.now() - kPush;
  });
  EXPECT_EQ(bench.dram<std::uint16_t>(to, 2048), numbers(2048));
  EXPECT_FALSE(bench.faults().any());
  const Memory& memory = *bench.platform().l2;
  const Traffic counted{2 * memory.value("read_words"), 2 * memory.value("write_words"), memory.value("busy_cycles")};
  EXPECT_EQ(counted, l2);
  return cycles;
}

TEST(L2, ToL1) {
  // All four are asked for at once: data from 10 on, the last at 74, and then at the port.
  EXPECT_EQ(cycles_of_copy(with_l2(), kL2, kL1, {4096, 0, 64}), 10U + 4 * 16 + 16);
  EXPECT_EQ(cycles_of_copy(with_l2(), kL2 + 64, kL1Of1, {4096, 0, 64}), 10U + 4 * 16 + 16);
}

TEST(L2, OutOfL1) { EXPECT_EQ(cycles_of_copy(with_l2(), kL1, kL2, {0, 4096, 64}), 16U + 4 * 16); }

TEST(L2, OutOfDram) { EXPECT_EQ(cycles_of_copy(with_l2(), kDram, kL2, {0, 4096, 64}), 100U + 4 * 128 + 16); }

// The first burst is there at 26.
TEST(L2, ToDram) { EXPECT_EQ(cycles_of_copy(with_l2(), kL2, kDram, {4096, 0, 64}), 10U + 16 + 4 * 128); }

// The first write comes when all reads have the bus already.
TEST(L2, Within) { EXPECT_EQ(cycles_of_copy(with_l2(), kL2, kL2 + 8192, {4096, 4096, 128}), 10U + 4 * 16 + 4 * 16); }

// Behind DRAM's ports: a head takes 10 cycles there, the answer's 17 flits 26.
TEST(L2, OverACrossbar) {
  MachineConfig m = with_l2();
  m.interconnect.kind = "crossbar";
  m.own<NetworkConfig>().hop_cycles = 5;
  m.dma.burst_bytes = 4096;
  EXPECT_EQ(cycles_of_copy(m, kL2, kL1, {4096, 0, 64}), 10U + 10 + 64 + 10 + 64 + 64);
}

TEST(L2, EndsWhereItEnds) {
  Bench bench(with_l2());
  bench.run([&](Bench& b) { b.push(channel(0), copy(4096, kL1, kL2 + (1 << 20) - 64)); });
  ASSERT_TRUE(bench.faults().any());
  EXPECT_NE(to_sentence(bench.faults().faults().front()).find("l2 ends at"), std::string::npos)
      << to_sentence(bench.faults().faults().front());
}

TEST(L2, IsNotThereByDefault) {
  Bench bench(machine());
  EXPECT_EQ(bench.platform().l2, nullptr);
  bench.run([&](Bench& b) { b.push(channel(0), copy(64, kL1, kL2)); });
  EXPECT_TRUE(bench.faults().any());
}

TEST(L2, IsRefusedWhereItCannotBe) {
  const auto refusal = [](const std::vector<std::string>& settings) -> std::string {
    try {
      config::load_hardware("edge", settings);
      return "taken";
    } catch (const config::ConfigError& e) {
      return e.what();
    }
  };
  EXPECT_EQ(refusal({"l2.kind=scratchpad", "l2.staging=true"}), "taken");
  EXPECT_NE(refusal({"l2.staging=true"}).find("there is nothing to stage in with l2.kind none; allowed: false"),
            std::string::npos);
  EXPECT_NE(refusal({"l2.kind=scratchpad", "dram.policy=cached"})
                .find("key 'l2.kind': found 'scratchpad', but dram.policy cached has an L2 of its own; allowed: none"),
            std::string::npos);
}

}  // namespace
}  // namespace attnvp::bench
