// Queues, DRAM, the interconnect and the processor's bus: who waits for what, and for how long.
#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

TEST(CommandQueue, AFullQueueStallsTheDoorbell) {
  // Depth 2. A descriptor leaves the queue when its first operand is loaded: the NOPs wait for event 5, which
  // a copy of 64 B gives 109 cycles after its doorbell at 17. Doorbells at 34 and 51 fill the queue, the
  // third waits until 126.
  MachineConfig m = machine();
  m.mac.queue_depth = 2;
  Bench bench(m);
  bench.run([](Bench& b) {
    b.push(channel(0), then(copy(64, kDram, kL1), 5));
    b.push(kMac, after(nop(), 5));
    b.push(kMac, nop());
    EXPECT_EQ(b.now(), 3 * kPush);
    EXPECT_EQ(b.read<std::uint32_t>(kMac + hal::kQueueLevel), 2U);
    b.push(kMac, then(nop(), 6));
    EXPECT_EQ(b.now(), kPush + 109);
    b.take(6);
    EXPECT_EQ(b.read<std::uint32_t>(kMac + hal::kQueueLevel), 0U);
    EXPECT_EQ(b.read<std::uint32_t>(kMac + hal::kQueueDone), 3U);
  });
}

TEST(CommandQueue, DmaChannelsStallAlone) {
  MachineConfig m = machine();
  m.dma.queue_depth = 2;
  Bench bench(m);
  bench.run([](Bench& b) {
    b.push(channel(0), after(copy(64, kDram, kL1), 5));
    b.push(channel(0), copy(64, kDram, kL1));
    const std::uint64_t before = b.now();
    b.push(channel(1), then(copy(64, kDram, kL1), 6));  // not held up
    EXPECT_EQ(b.now(), before + kPush);
    b.take(6);
    b.give(5);
    b.push(channel(0), then(copy(64, kDram, kL1), 6));
    b.take(6);
    EXPECT_EQ(b.read<std::uint32_t>(channel(0) + hal::kQueueDone), 3U);
    EXPECT_EQ(b.read<std::uint32_t>(channel(1) + hal::kQueueDone), 1U);
  });
}

TEST(CommandQueue, ADescriptorIsBuiltInWordsAndKeepsItsFields) {
  // The descriptor under construction stays: a doorbell alone enqueues it again.
  Bench bench;
  bench.run([](Bench& b) {
    const hal::Descriptor d = then(nop(), 3);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&d);
    for (std::uint64_t i = 0; i < d.length; i += 4) EXPECT_TRUE(hal::write(b.cpu(), kMac + i, bytes + i, 4));
    EXPECT_TRUE(hal::write32(b.cpu(), kMac + hal::kQueueDoorbell, 1));
    EXPECT_TRUE(hal::write32(b.cpu(), kMac + hal::kQueueDoorbell, 0));
    b.take(3, 2);
  });
}

TEST(CommandQueue, ADescriptorIsBuiltInPlaceWithPlainStores) {
  // Fields of 1, 2, 4 and 8 bytes, each with one store at the offset that the contract's page gives.
  Bench bench;
  std::vector<arith::Half> numbers(4 * 8, arith::kHalfOne);
  bench.run([&](Bench& b) {
    b.set_l1(kL1, numbers);
    const auto store = [&](std::uint64_t offset, auto value) {
      EXPECT_TRUE(hal::write(b.cpu(), kVec + offset, &value, sizeof value)) << offset;
    };
    store(0x00, std::uint8_t{2});
    store(0x01, std::uint8_t{2});  // softmax
    store(0x02, std::uint16_t{128});
    store(0x06, std::uint16_t{11});
    store(0x0C, std::uint8_t{1});
    store(0x0D, std::uint8_t{1});
    store(0x20, std::uint32_t{3 | 1 << 12 | 1 << 20});  // a token to event 3
    store(0x34, std::uint32_t{4});
    for (const std::uint64_t operand : {0x38, 0x48}) {
      store(operand, kL1);
      store(operand + 8, std::uint32_t{16});
      store(operand + 12, std::uint32_t{8});
    }
    EXPECT_TRUE(hal::write32(b.cpu(), kVec + hal::kQueueDoorbell, 1));
    EXPECT_TRUE(b.take(3));
    numbers = b.l1<arith::Half>(kL1, numbers.size());
  });
  EXPECT_EQ(numbers, std::vector<arith::Half>(numbers.size(), arith::half_from_float(0.125F)));
}

TEST(CommandQueue, WhatLiesBehindTheLengthIsNotRead) {
  // 256 bytes of which 128 count: the second plane stride is from a copy before.
  Bench bench;
  bench.run([](Bench& b) {
    EXPECT_TRUE(b.push(channel(0), then(copy(16, 2, 2, {kDram, 16, 32}, {kL1, 16, 32}), 0)));
    EXPECT_TRUE(b.push(channel(0), then(copy(16, kDram, kL1), 0)));
    EXPECT_TRUE(b.take(0, 2));
  });
  EXPECT_EQ(bench.cluster().dma->value("read_bytes"), 64U + 16U);
}

TEST(CommandQueue, BadRegisterAccessesAreErrorsAndNothingElse) {
  Bench bench;
  bench.run([](Bench& b) {
    std::uint64_t wide = 0;
    std::uint32_t word = 0;
    for (const std::uint64_t queue : {kMac, kVec, channel(0), channel(3)}) {
      EXPECT_FALSE(hal::read(b.cpu(), queue + hal::kQueueDescriptor, &word, 4));  // write only
      EXPECT_FALSE(hal::write(b.cpu(), queue + 0xFC, &wide, 8));                  // beyond the descriptor
      EXPECT_FALSE(hal::read(b.cpu(), queue + hal::kQueueDoorbell, &word, 4));
      EXPECT_FALSE(hal::write(b.cpu(), queue + hal::kQueueDoorbell, &wide, 8));
      EXPECT_FALSE(hal::read(b.cpu(), queue + hal::kQueueLevel, &wide, 8));
      EXPECT_FALSE(hal::write(b.cpu(), queue + hal::kQueueLevel, &word, 4));
      EXPECT_FALSE(hal::read(b.cpu(), queue + hal::kQueueFaultAddress, &word, 4));
      EXPECT_FALSE(hal::read(b.cpu(), queue + 0x118, &word, 4));  // no such register
    }
    EXPECT_FALSE(hal::read(b.cpu(), channel(4) + hal::kQueueLevel, &word, 4));  // no such channel
    EXPECT_EQ(b.read<std::uint32_t>(kMac + hal::kQueueLevel), 0U);
    EXPECT_TRUE(b.push(kMac, then(nop(), 0)));  // as healthy as before
    EXPECT_TRUE(b.take(0));
  });
}

TEST(Scratchpad, ThePerformanceMonitorTakes64BitsAtItsAddressOnly) {
  Bench bench;
  bench.run([](Bench& b) {
    std::uint64_t bytes = 12345;
    const std::uint64_t monitor = hal::l1_control_base(0) + hal::kL1Allocated;
    EXPECT_TRUE(hal::write(b.cpu(), monitor, &bytes, 8));
    EXPECT_FALSE(hal::write(b.cpu(), monitor, &bytes, 4));
    EXPECT_FALSE(hal::read(b.cpu(), monitor, &bytes, 8));
    EXPECT_FALSE(hal::write(b.cpu(), monitor + 8, &bytes, 8));
    bytes = 100;
    EXPECT_TRUE(hal::write(b.cpu(), monitor, &bytes, 8));
  });
  EXPECT_EQ(bench.cluster().l1->value("peak_bytes"), 12345U);
}

TEST(Interconnect, AnUnmappedAddressIsAnError) {
  Bench bench;
  bench.run([](Bench& b) {
    const std::uint64_t end_of_dram = hal::kDramBase + machine().dram.size_bytes;
    for (const std::uint64_t address : {std::uint64_t{0}, hal::kControlBase - 4, hal::cluster_base(1),
                                        hal::mac_base(0, 1), hal::kDramBase - 4, end_of_dram, hal::l1_base(1)}) {
      std::uint32_t word = 0;
      EXPECT_FALSE(hal::read(b.cpu(), address, &word, 4)) << std::hex << address;
      EXPECT_FALSE(hal::write(b.cpu(), address, &word, 4)) << std::hex << address;
    }
    EXPECT_EQ(b.now(), 14U);  // an error costs its bus access
  });
}

TEST(Interconnect, TheMapHoldsTheLargestDram) {
  MachineConfig m = machine();
  m.dram.size_bytes = 16ULL << 40;  // what the configuration allows
  const AddressMap map = address_map(m);
  EXPECT_EQ(map.find(hal::kDramBase), map.find(hal::kDramBase + m.dram.size_bytes - 1));
  EXPECT_LT(hal::kDramBase + m.dram.size_bytes, hal::l1_base(0));
}

TEST(Interconnect, TheMapHoldsEveryTarget) {
  MachineConfig m = machine();
  m.clusters = 2;
  m.cores = 3;
  const AddressMap map = address_map(m);
  for (std::uint32_t c = 0; c < 2; ++c) {
    for (const std::uint64_t base : {hal::events_base(c), hal::dma_base(c), hal::l1_control_base(c),
                                     hal::mac_base(c, 2), hal::l1_base(c), hal::kDramBase}) {
      EXPECT_GE(map.find(base), 0) << std::hex << base;
    }
  }
  EXPECT_GE(map.find(hal::vec_base(1, 2)), 0);
  EXPECT_EQ(map.find(hal::vec_base(1, 3)), -1);
  EXPECT_GE(map.find(hal::l1_base(1) + m.l1.size_bytes - 1), 0);
  EXPECT_EQ(map.find(hal::l1_base(1) + m.l1.size_bytes), -1);
  EXPECT_THROW(AddressMap(map).add({hal::l1_base(0) + 4, 4, "intruder"}), std::invalid_argument);
  std::uint64_t end = 0;
  for (const AddressRange& range : map.sorted()) {
    EXPECT_GE(range.base, end);
    end = range.end();
  }
}

TEST(ControlProcessor, AnAccessCostsItsBeats) {
  MachineConfig m = machine();
  m.control.access_cycles = 3;
  m.control.bus_bytes = 16;
  Bench bench(m);
  bench.run([](Bench& b) {
    b.push(kMac, nop());
    EXPECT_EQ(b.now(), 3U * 8 + 3);
  });
  EXPECT_EQ(bench.cluster().cpu->value("accesses"), 2U);
  EXPECT_EQ(bench.cluster().cpu->value("busy_cycles"), 27U);
}

TEST(ControlProcessor, ReadsAndWritesDram) {
  // A write of 8 B: 1 on the bus, 1 in DRAM. A read: 1, 100 of latency, 1.
  Bench bench;
  bench.run([](Bench& b) {
    std::uint64_t value = 0x0123'4567'89AB'CDEF, back = 0;
    EXPECT_TRUE(hal::write(b.cpu(), kDram, &value, 8));
    EXPECT_EQ(b.now(), 2U);
    EXPECT_TRUE(hal::read(b.cpu(), kDram, &back, 8));
    EXPECT_EQ(b.now(), 2U + 102);
    EXPECT_EQ(back, value);
  });
}

// One DRAM access at this moment: the delay it annotates.
std::uint64_t dram_delay(Bench& b, tlm::tlm_command command, unsigned bytes, tlm::tlm_response_status* status = nullptr,
                         std::uint64_t address = kDram) {
  static std::vector<unsigned char> data(1 << 16);
  tlm::tlm_generic_payload payload;
  fill_payload(payload, command, address, data.data(), bytes);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  b.cluster().dma->bus()->b_transport(payload, delay);
  if (status != nullptr) *status = payload.get_response_status();
  return b.platform().context().clock.ceil_cycles(delay);
}

TEST(Dram, LatencyOnceBandwidthAlways) {
  Bench bench;
  bench.run([](Bench& b) {
    EXPECT_EQ(dram_delay(b, tlm::TLM_READ_COMMAND, 64), 108U);    // data in 100 .. 108
    EXPECT_EQ(dram_delay(b, tlm::TLM_READ_COMMAND, 64), 116U);    // behind it
    EXPECT_EQ(dram_delay(b, tlm::TLM_WRITE_COMMAND, 800), 216U);  // in the order of arrival
    EXPECT_EQ(dram_delay(b, tlm::TLM_READ_COMMAND, 8), 217U);     // its latency is long over
    sc_core::wait(b.platform().context().clock.cycles(1000));
    EXPECT_EQ(dram_delay(b, tlm::TLM_WRITE_COMMAND, 12), 2U);  // no latency; 1.5 cycles
    EXPECT_EQ(dram_delay(b, tlm::TLM_WRITE_COMMAND, 12), 3U);  // fractions add up
  });
  EXPECT_EQ(bench.platform().dram->value("busy_cycles"), 8U + 8 + 100 + 1 + 3);
  EXPECT_EQ(bench.platform().dram->value("read_words"), (64U + 64 + 8) / 2);
  EXPECT_EQ(bench.platform().dram->value("write_words"), (800U + 24) / 2);
}

TEST(Dram, RefusesWhatIsOutside) {
  Bench bench;
  bench.run([](Bench& b) {
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    const std::uint64_t end = hal::kDramBase + machine().dram.size_bytes;
    dram_delay(b, tlm::TLM_READ_COMMAND, 64, &status, end - 32);
    EXPECT_EQ(status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    dram_delay(b, tlm::TLM_READ_COMMAND, 32, &status, end - 32);
    EXPECT_EQ(status, tlm::TLM_OK_RESPONSE);
    dram_delay(b, tlm::TLM_READ_COMMAND, 0, &status, kDram);
    EXPECT_EQ(status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
}

TEST(Dram, FractionalBandwidth) {
  // 3 GB/s at 1 GHz: 3 B/cycle; 100 reads of 64 B are 6400 / 3 = 2133.3 cycles after the latency.
  MachineConfig m = machine();
  m.dram.bytes_per_second = 3e9;
  Bench bench(m);
  bench.run([](Bench& b) {
    std::uint64_t last = 0;
    for (int i = 0; i < 100; ++i) last = dram_delay(b, tlm::TLM_READ_COMMAND, 64);
    EXPECT_EQ(last, 100U + 2134);
  });
}

TEST(Dram, DelaysDoNotDependOnHowLateItIs) {
  // 64 B at 30 B/cycle are 2.133 cycles: sums of a hundred thousand of them are the same at cycle 0 and much
  // later, so that a job run again takes the same cycles.
  MachineConfig m = machine();
  m.dram.bytes_per_second = 30e9;
  Bench bench(m);
  bench.run([](Bench& b) {
    std::vector<std::uint64_t> first;
    for (int round = 0; round < 6; ++round) {  // the later, the coarser a floating-point time; it may err either way
      const std::uint64_t begin = round == 0 ? 0 : std::uint64_t{1} << (24 + round);
      sc_core::wait(b.platform().context().clock.cycles(begin - b.now()));
      std::vector<std::uint64_t> delays(100000);
      for (std::uint64_t& delay : delays) delay = dram_delay(b, tlm::TLM_READ_COMMAND, 64);
      if (round == 0) first = delays;
      EXPECT_TRUE(delays == first) << "round " << round;
      EXPECT_EQ(delays.back(), 100U + 213334);  // 6400000 / 30 = 213333.3
    }
  });
}

}  // namespace
}  // namespace attnvp::bench
