// Every fault a wrong descriptor can raise: which registers show it, what the log says, and that nobody
// hangs.
#include "models/sim/fault.h"

#include <fmt/format.h>

#include "tests/models/bench.h"

namespace attnvp::bench {
namespace {

constexpr std::uint64_t kA = kL1, kB = kL1 + 0x10000, kC = kL1 + 0x20000;
const std::uint64_t kL1End = kL1 + machine().l1.size_bytes;
const std::uint64_t kDramEnd = hal::kDramBase + machine().dram.size_bytes;

struct Case {
  const char* name;
  std::uint64_t queue;
  FaultCode code;
  std::uint64_t address;  // in the fault register and the sentence
  hal::Descriptor descriptor;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

hal::Descriptor good_matmul() { return matmul(16, 16, 16, {16, 16, 16}, kA, kB, kC); }

template <typename F>
hal::Descriptor changed(hal::Descriptor d, F change) {
  change(d);
  return d;
}
hal::Descriptor matmul_at(int operand, std::uint64_t address) {
  return changed(good_matmul(), [&](hal::Descriptor& d) { d.operand[operand].address = address; });
}
hal::Descriptor with_stride(hal::Descriptor d, int operand, std::uint32_t stride) {
  return changed(d, [&](hal::Descriptor& x) { x.operand[operand].row_stride = stride; });
}
hal::Descriptor product(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return matmul(m, n, k, {16, 16, 16}, kA, kB, kC);
}
hal::Descriptor moved(std::uint32_t row_bytes, std::uint32_t rows, std::uint32_t planes) {
  return copy(row_bytes, rows, planes, {kDram, 64, 256}, {kA, 64, 256});
}
// Of 16-bit elements, half as many.
hal::Descriptor in_halves(hal::Descriptor d) {
  for (int i = 0; i < 2; ++i) {
    d.type[i] = hal::ElementType::kFp16;
    d.operand[i].columns /= 2;
  }
  return d;
}

hal::Descriptor with_type(hal::Descriptor d, int operand, hal::ElementType type) {
  return changed(d, [&](hal::Descriptor& x) { x.type[operand] = type; });
}
hal::Descriptor with_columns(hal::Descriptor d, int operand, std::uint32_t columns) {
  return changed(d, [&](hal::Descriptor& x) { x.operand[operand].columns = columns; });
}
hal::Descriptor with_version(hal::Descriptor d, std::uint8_t version) {
  return changed(d, [&](hal::Descriptor& x) { x.version = version; });
}
hal::Descriptor with_length(hal::Descriptor d, std::uint16_t bytes) {
  return changed(d, [&](hal::Descriptor& x) { x.length = bytes; });
}
hal::Descriptor with_opcode(hal::Descriptor d, int opcode) {
  return changed(d, [&](hal::Descriptor& x) { x.opcode = static_cast<hal::Opcode>(opcode); });
}
hal::Descriptor kept(hal::Descriptor d) {
  d.flags |= hal::kKept;
  return d;
}
hal::Descriptor forwarded(hal::Descriptor d) {
  d.flags |= hal::kForwarded;
  return d;
}
hal::Descriptor with_partials(std::uint64_t address, std::uint32_t stride) {
  return accumulating(good_matmul(), address, stride);
}
hal::Descriptor with_addends(std::uint64_t address) {
  return changed(good_matmul(), [&](hal::Descriptor& d) {
    d.flags |= hal::kTransposeB;
    d.operand[3] = {address, 32, 16};
    d.type[3] = hal::ElementType::kFp16;
  });
}

std::vector<Case> cases() {
  using F = FaultCode;
  const hal::Descriptor soft = softmax(8, 32, kA, kC);
  const hal::Descriptor move = moved(64, 4, 2);
  return {
      {"MacReadsOutsideTheMap", kMac, F::kUnmapped, 0x4000, matmul_at(0, 0x4000)},
      {"MacReadsDram", kMac, F::kUnmapped, kDram, matmul_at(1, kDram)},
      {"MacWritesBehindL1", kMac, F::kUnmapped, kL1End, matmul_at(2, kL1End)},
      {"MacReadsPastL1", kMac, F::kOutOfRange, kL1End - 510, matmul_at(0, kL1End - 510)},
      {"MacWritesPastL1", kMac, F::kOutOfRange, kL1End - 2, matmul_at(2, kL1End - 2)},
      {"MacPartialsPastL1", kMac, F::kOutOfRange, kL1End - 512, with_partials(kL1End - 512, 64)},
      {"MacOddAddress", kMac, F::kMisaligned, kB + 1, matmul_at(1, kB + 1)},
      {"MacOddStride", kMac, F::kMisaligned, kA, with_stride(good_matmul(), 0, 33)},
      {"MacPartialsAtHalfAWord", kMac, F::kMisaligned, kC + 2, with_partials(kC + 2, 64)},  // FP32: 4 bytes
      {"MacPartialsStrideOfHalfWords", kMac, F::kMisaligned, kA + 4096, with_partials(kA + 4096, 66)},
      {"MacStrideShorterThanARow", kMac, F::kBadOperand, kB, with_stride(good_matmul(), 1, 30)},
      {"MacStrideZero", kMac, F::kBadOperand, kA, with_stride(good_matmul(), 0, 0)},
      {"MacNoRows", kMac, F::kZeroSize, kC, product(0, 16, 16)},
      {"MacNoColumns", kMac, F::kZeroSize, kC, product(16, 0, 16)},
      {"MacNoDepth", kMac, F::kZeroSize, kC, product(16, 16, 0)},
      {"MacNoTile", kMac, F::kZeroSize, kC, matmul(16, 16, 16, {16, 0, 16}, kA, kB, kC)},
      {"MacResultOverA", kMac, F::kOverlap, kA + 510, matmul_at(2, kA + 510)},
      {"MacResultOverB", kMac, F::kOverlap, kB, matmul_at(2, kB)},
      {"MacSoftmax", kMac, F::kBadOpcode, 0, soft},
      {"MacUnknownOpcode", kMac, F::kBadOpcode, 0, with_opcode(good_matmul(), 200)},
      {"MacNoSuchWait", kMac, F::kBadEvent, 0, after(good_matmul(), 256)},
      {"MacNoSuchSignal", kMac, F::kBadEvent, 0, then(good_matmul(), 250, 1, 7)},
      {"MacNopWithNoSuchEvent", kMac, F::kBadEvent, 0, then(nop(), 4095)},
      // 2 x (128 + 128) x 64 x 2 + 128 x 128 x 4 bytes; the engine has 32 KiB.
      {"MacTileTooLarge", kMac, F::kL0TooSmall, 65536 + 65536, matmul(128, 128, 64, {128, 128, 64}, kA, kB, kC)},
      {"MacOldVersion", kMac, F::kBadVersion, 0, with_version(good_matmul(), 1)},
      {"MacNewVersion", kMac, F::kBadVersion, 0, with_version(after(good_matmul(), 256), 3)},
      {"MacNopOfNoVersion", kMac, F::kBadVersion, 0, with_version(nop(), 0)},
      {"MacBf16", kMac, F::kBadType, kB, with_type(good_matmul(), 1, hal::ElementType::kBf16)},
      {"MacNoType", kMac, F::kBadType, kA, with_type(good_matmul(), 0, hal::ElementType::kNone)},
      {"MacInt32Result", kMac, F::kBadType, kC, with_type(good_matmul(), 2, hal::ElementType::kInt32)},
      {"MacFp16Partials", kMac, F::kBadType, kC, with_type(with_partials(kC, 64), 3, hal::ElementType::kFp16)},
      {"MacShortRowsOfB", kMac, F::kBadOperand, kB, with_columns(good_matmul(), 1, 15)},
      {"MacKeptByNobody", kMac, F::kBadOperand, kC + 0x4000, kept(with_partials(kC + 0x4000, 64))},
      {"MacKeptPassesL1By", kMac, F::kBadOperand, kC, forwarded(kept(leaving_partials(good_matmul())))},
      {"MacNopPassesL1By", kMac, F::kBadOperand, 0, forwarded(nop())},
      {"MacLongPartials", kMac, F::kBadOperand, kC, with_columns(with_partials(kC, 64), 3, 17)},
      {"MacAddendsPastL1", kMac, F::kOutOfRange, kL1End - 510, with_addends(kL1End - 510)},
      {"MacAddendsAtAnOddAddress", kMac, F::kMisaligned, kC + 0x4001, with_addends(kC + 0x4001)},
      {"MacFp32Addends", kMac, F::kBadType, kC + 0x4000,
       with_type(with_addends(kC + 0x4000), 3, hal::ElementType::kFp32)},
      {"MacShortAddends", kMac, F::kBadOperand, kC + 0x4000, with_columns(with_addends(kC + 0x4000), 3, 15)},
      {"MacAddendsOfNoScores", kMac, F::kBadOperand, kC + 0x4000,
       changed(with_addends(kC + 0x4000), [](hal::Descriptor& d) { d.flags = 0; })},
      {"MacAddendsToPartials", kMac, F::kBadType, kC, with_type(with_addends(kC + 0x4000), 2, hal::ElementType::kFp32)},
      {"MacResultOverAddends", kMac, F::kOverlap, kC, with_addends(kC)},
      {"MacOddLength", kMac, F::kBadLength, 0, with_length(good_matmul(), 132)},
      {"VecReadsOutsideTheMap", kVec, F::kUnmapped, 0, softmax(8, 32, 0, kC)},
      {"VecReadsPastL1", kVec, F::kOutOfRange, kL1End - 64, softmax(8, 32, kL1End - 64, kC)},
      {"VecWritesPastL1", kVec, F::kOutOfRange, kL1End - 64, softmax(8, 32, kA, kL1End - 64)},
      {"VecOddAddress", kVec, F::kMisaligned, kC + 1, softmax(8, 32, kA, kC + 1)},
      {"VecStrideShorterThanARow", kVec, F::kBadOperand, kA, with_stride(soft, 0, 62)},
      {"VecRowTooLong", kVec, F::kBadOperand, kA, softmax(1, (1U << 23) + 1, kA, kC)},
      {"VecNoRows", kVec, F::kZeroSize, kA, softmax(0, 32, kA, kC)},
      {"VecNoColumns", kVec, F::kZeroSize, kA, softmax(8, 0, kA, kC)},
      {"VecShifted", kVec, F::kOverlap, kA + 64, softmax(8, 32, kA, kA + 64)},
      {"VecInPlaceWithAnotherStride", kVec, F::kOverlap, kA, with_stride(softmax(8, 32, kA, kA), 1, 128)},
      {"VecMatmul", kVec, F::kBadOpcode, 0, good_matmul()},
      {"VecNoSuchWait", kVec, F::kBadEvent, 0, after(soft, 255, 1, 2)},
      {"VecMaximaPassL1By", kVec, F::kBadOperand, kA,
       forwarded(with_opcode(soft, static_cast<int>(hal::Opcode::kOnlineMax)))},
      {"VecUnknownType", kVec, F::kBadType, kA, with_type(soft, 0, static_cast<hal::ElementType>(99))},
      {"VecInt32Result", kVec, F::kBadType, kC, with_type(soft, 1, hal::ElementType::kInt32)},
      {"VecLongResult", kVec, F::kBadOperand, kC, with_columns(soft, 1, 33)},
      {"VecNewVersion", kVec, F::kBadVersion, 0, with_version(soft, 200)},
      {"VecTooShort", kVec, F::kBadLength, 0, with_length(soft, 120)},
      {"DmaOldVersion", channel(2), F::kBadVersion, 0, with_version(move, 1)},
      {"DmaConverts", channel(2), F::kBadType, kDram, with_type(copy(64, kDram, kA), 1, hal::ElementType::kFp16)},
      {"DmaUnknownType", channel(2), F::kBadType, kDram,
       with_type(with_type(move, 0, static_cast<hal::ElementType>(98)), 1, static_cast<hal::ElementType>(98))},
      {"DmaAnotherLength", channel(2), F::kBadOperand, kA, with_columns(copy(64, kDram, kA), 1, 62)},
      {"DmaPlanesTooShort", channel(2), F::kBadLength, 0, with_length(move, 128)},
      {"DmaSourceUnmapped", channel(2), F::kUnmapped, 0x4000, copy(64, 0x4000, kA)},
      {"DmaDestinationUnmapped", channel(2), F::kUnmapped, hal::l1_base(1), copy(64, kDram, hal::l1_base(1))},
      {"DmaRegisters", channel(2), F::kUnmapped, kMac, copy(64, kMac, kA)},
      {"DmaPastDram", channel(2), F::kOutOfRange, kDramEnd - 62, copy(64, kDramEnd - 62, kA)},
      {"DmaPastL1", channel(2), F::kOutOfRange, kL1End - 62, copy(64, kDram, kL1End - 62)},
      {"DmaPlanesPastL1", channel(2), F::kOutOfRange, kL1End - 1024,
       copy(64, 4, 3, {kDram, 64, 256}, {kL1End - 1024, 64, 512})},
      {"DmaOddAddress", channel(2), F::kMisaligned, kDram + 1, in_halves(copy(64, kDram + 1, kA))},
      {"DmaOddStride", channel(2), F::kMisaligned, kA,
       with_stride(in_halves(copy(64, 4, 1, {kDram, 128, 0}, {kA, 128, 0})), 1, 129)},
      {"DmaNoBytes", channel(2), F::kZeroSize, kDram, moved(0, 4, 2)},
      {"DmaNoRows", channel(2), F::kZeroSize, kDram, moved(64, 0, 2)},
      {"DmaNoPlanes", channel(2), F::kZeroSize, kDram, moved(64, 4, 0)},
      {"DmaMailbox", channel(2), F::kUnmapped, hal::kMailboxBase, copy(64, kDram, hal::kMailboxBase)},
      {"DmaOntoItself", channel(2), F::kOverlap, kA + 32, copy(64, kA, kA + 32)},
      {"DmaStrideShorterThanARow", channel(2), F::kBadOperand, kDram, with_stride(move, 0, 62)},
      {"DmaStrideShorterThanAPlane", channel(2), F::kBadOperand, kA, copy(64, 4, 2, {kDram, 64, 256}, {kA, 64, 254})},
      {"DmaLoadPassesL1By", channel(2), F::kBadOperand, kDram, forwarded(move)},
      {"DmaWithinL1PassesItBy", channel(2), F::kBadOperand, kA, forwarded(copy(64, kA, kC))},
      {"DmaSoftmax", channel(2), F::kBadOpcode, 0, soft},
      {"DmaNoSuchSignal", channel(2), F::kBadEvent, 0, then(move, 256)},
  };
}

class DescriptorFault : public testing::TestWithParam<Case> {};

TEST_P(DescriptorFault, IsReportedAndNobodyHangs) {
  const Case& c = GetParam();
  MachineConfig m = machine();
  m.cores = 2;
  m.vec.queue_depth = 2;
  Bench bench(m);
  const std::uint64_t other = hal::vec_base(0, 1);
  std::uint64_t doorbell = 0;
  bench.run([&](Bench& b) {
    // Others wait meanwhile: an engine and a DMA channel for events that nobody gives, then the processor
    // too.
    EXPECT_TRUE(b.push(other, after(nop(), 100)));
    EXPECT_TRUE(b.push(channel(0), after(nop(), 101)));
    EXPECT_TRUE(b.push(c.queue, c.descriptor));
    doorbell = b.now();
    EXPECT_FALSE(b.take(102));
    // What was asked for is in the queue's own registers.
    EXPECT_EQ(static_cast<FaultCode>(b.read<std::uint32_t>(c.queue + hal::kQueueFault)), c.code);
    EXPECT_EQ(b.read<std::uint64_t>(c.queue + hal::kQueueFaultAddress), c.address);
    EXPECT_EQ(b.read<std::uint32_t>(other + hal::kQueueFault), 0U);
    EXPECT_EQ(b.read<std::uint32_t>(hal::events_base(0) + hal::kEventsFault), 1U);
    // From now on blocking accesses answer with an error at once.
    const std::uint64_t before = b.now();
    EXPECT_FALSE(b.take(0));
    EXPECT_FALSE(b.push(other, nop()));
    EXPECT_FALSE(b.push(c.queue, nop()));
    EXPECT_EQ(b.now(), before + 1 + 2 * kPush);
  });
  ASSERT_EQ(bench.faults().faults().size(), 1U);
  const Fault& fault = bench.faults().faults().front();
  EXPECT_EQ(fault.code, c.code);
  EXPECT_EQ(fault.address, c.address);
  EXPECT_EQ(fault.module, c.queue == kMac   ? "attnvp.cluster0.core0.mac"
                          : c.queue == kVec ? "attnvp.cluster0.core0.vec"
                                            : "attnvp.cluster0.dma");
  EXPECT_GE(fault.cycle, doorbell);
  EXPECT_LE(fault.cycle, doorbell + 1000);
  EXPECT_FALSE(fault.detail.empty());
  const std::string sentence = to_sentence(fault);
  EXPECT_EQ(sentence, fmt::format("{}: {}: {} (address {:#x}, cycle {})", fault.module, to_string(c.code), fault.detail,
                                  c.address, fault.cycle));
}

INSTANTIATE_TEST_SUITE_P(Cases, DescriptorFault, testing::ValuesIn(cases()),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(Fault, AStalledDoorbellEndsWithAnError) {
  // The queue is full for good; the fault of another engine ends the wait. The faulty matmul's fill is
  // refused after the event that a copy gives.
  MachineConfig m = machine();
  m.vec.queue_depth = 2;
  Bench bench(m);
  bench.run([](Bench& b) {
    b.push(channel(0), then(copy(64, kDram, kL1), 0));
    b.push(kMac, after(matmul_at(0, 0x4000), 0));
    b.push(kVec, after(nop(), 1));
    b.push(kVec, nop());
    EXPECT_FALSE(b.push(kVec, nop()));
    EXPECT_EQ(b.now(), kPush + 109);
  });
  EXPECT_EQ(bench.faults().faults().size(), 1U);
}

TEST(Fault, OtherClustersAreToldToo) {
  MachineConfig m = machine();
  m.clusters = 2;
  bool answered = true;
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  {
    Platform platform("attnvp", m, true, [&](hal::Cpu& cpu, std::uint32_t cluster) {
      if (cluster == 1) {
        answered = hal::write32(cpu, hal::events_base(1) + hal::kEventTake, 1);
      } else {
        const hal::Descriptor d = matmul_at(0, hal::l1_base(1));  // another cluster's L1
        hal::write(cpu, kMac, &d, d.length);
        hal::write32(cpu, kMac + hal::kQueueDoorbell, 1);
      }
    });
    platform.run();
    EXPECT_TRUE(platform.all_finished());
    EXPECT_FALSE(answered);
    ASSERT_EQ(platform.context().faults.faults().size(), 1U);
    EXPECT_EQ(platform.context().faults.faults().front().code, FaultCode::kUnmapped);
  }
  sc_core::sc_get_curr_simcontext()->reset();
}

TEST(Fault, EveryCodeHasAName) {
  for (std::uint32_t code = 0; code <= 13; ++code) {
    EXPECT_STRNE(to_string(static_cast<FaultCode>(code)), "unknown") << code;
  }
}

TEST(Fault, OverlapKnowsInterleavedRows) {
  // Two matrices side by side in rows of 128 bytes share no byte; one column further they do.
  EXPECT_FALSE(overlap({0, 8, 64, 128, 0, false}, {64, 8, 64, 128, 0, false}));
  EXPECT_TRUE(overlap({0, 8, 64, 128, 0, false}, {62, 8, 64, 128, 0, false}));
  EXPECT_FALSE(overlap({0, 8, 64, 128, 0, false}, {960, 8, 64, 128, 0, false}));  // right behind
  EXPECT_TRUE(overlap({0, 8, 64, 128, 0, false}, {958, 8, 64, 128, 0, false}));
  EXPECT_TRUE(overlap({0, 1, 64, 0, 0, false}, {62, 1, 64, 0, 0, false}));
}

}  // namespace
}  // namespace attnvp::bench
