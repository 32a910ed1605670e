// Every instruction, on its own.
#include "tests/models/riscv/hart_bench.h"

namespace attnvp::riscv::bench {
namespace {

struct Case {
  const char* name;
  std::uint32_t word, first, second, expected;  // a1, a2, a0
};

TEST(Instructions, ComputeWhatTheManualSays) {
  constexpr std::uint32_t kMin = 0x8000'0000, kMax = 0x7FFF'FFFF, kMinusOne = 0xFFFF'FFFF;
  const std::vector<Case> cases = {
      {"add", r(0, 0, a0, a1, a2), kMax, 1, kMin},
      {"sub", r(0x20, 0, a0, a1, a2), 1, 2, kMinusOne},
      {"sll", r(0, 1, a0, a1, a2), 1, 0xFFFF'FFE3, 8},
      {"slt", r(0, 2, a0, a1, a2), kMinusOne, 0, 1},
      {"sltu", r(0, 3, a0, a1, a2), kMinusOne, 0, 0},
      {"xor", r(0, 4, a0, a1, a2), 0xF0F0, 0xFF00, 0x0FF0},
      {"srl", r(0, 5, a0, a1, a2), kMin, 31, 1},
      {"sra", r(0x20, 5, a0, a1, a2), kMin, 31, kMinusOne},
      {"or", r(0, 6, a0, a1, a2), 0xF0, 0x0F, 0xFF},
      {"and", r(0, 7, a0, a1, a2), 0xF3, 0x3F, 0x33},
      {"mul", r(1, 0, a0, a1, a2), 0x12345, 0xFFFF'FFFE, 0xFFFD'B976},
      {"mulh", r(1, 1, a0, a1, a2), kMin, kMin, 0x4000'0000},
      {"mulh of -1", r(1, 1, a0, a1, a2), kMinusOne, kMinusOne, 0},
      {"mulhsu", r(1, 2, a0, a1, a2), kMinusOne, kMinusOne, kMinusOne},
      {"mulhsu of least", r(1, 2, a0, a1, a2), kMin, kMinusOne, kMin},
      {"mulhu", r(1, 3, a0, a1, a2), kMinusOne, kMinusOne, 0xFFFF'FFFE},
      {"div", r(1, 4, a0, a1, a2), 0xFFFF'FFF9, 2, 0xFFFF'FFFD},
      {"div by 0", r(1, 4, a0, a1, a2), 7, 0, kMinusOne},
      {"div overflows", r(1, 4, a0, a1, a2), kMin, kMinusOne, kMin},
      {"divu", r(1, 5, a0, a1, a2), kMinusOne, 16, 0x0FFF'FFFF},
      {"divu by 0", r(1, 5, a0, a1, a2), 7, 0, kMinusOne},
      {"rem", r(1, 6, a0, a1, a2), 0xFFFF'FFF9, 2, kMinusOne},
      {"rem by 0", r(1, 6, a0, a1, a2), 7, 0, 7},
      {"rem overflows", r(1, 6, a0, a1, a2), kMin, kMinusOne, 0},
      {"remu", r(1, 7, a0, a1, a2), kMinusOne, 16, 15},
      {"remu by 0", r(1, 7, a0, a1, a2), 9, 0, 9},
      {"addi", addi(a0, a1, -2048), 2048, 0, 0},
      {"slti", i(0x13, 2, a0, a1, -1), kMin, 0, 1},
      {"sltiu", i(0x13, 3, a0, a1, -1), 5, 0, 1},
      {"xori", i(0x13, 4, a0, a1, -1), 5, 0, 0xFFFF'FFFA},
      {"ori", i(0x13, 6, a0, a1, 0x700), 5, 0, 0x705},
      {"andi", i(0x13, 7, a0, a1, -16), 0xFF, 0, 0xF0},
      {"slli", i(0x13, 1, a0, a1, 31), 3, 0, kMin},
      {"srli", i(0x13, 5, a0, a1, 4), kMin, 0, 0x0800'0000},
      {"srai", i(0x13, 5, a0, a1, 0x404), kMin, 0, 0xF800'0000},
      {"lui", lui(a0, 0xFFFF'F000), 0, 0, 0xFFFF'F000},
      {"auipc", 0x17 | a0 << 7 | 0x1000, 0, 0, kBase + 0x1000},
      {"fence", 0x0FF0'000F, 0, 0, 0x5A},
      {"fence.i", 0x0000'100F, 0, 0, 0x5A},
      {"to x0", addi(zero, a1, 1), 7, 0, 0x5A},
  };
  for (const Case& c : cases) {
    Machine m;
    m.load({c.word});
    m.hart.set_reg(a0, 0x5A);
    m.hart.set_reg(a1, c.first);
    m.hart.set_reg(a2, c.second);
    m.run(1);
    EXPECT_EQ(m.hart.reg(a0), c.expected) << c.name;
    EXPECT_EQ(m.hart.reg(zero), 0U) << c.name;
    EXPECT_EQ(m.hart.pc(), kBase + 4) << c.name;
    EXPECT_EQ(m.hart.retired(), 1U) << c.name;
  }
}

TEST(Instructions, BranchAndJump) {
  struct Branch {
    const char* name;
    std::uint32_t f3, first, second;
    bool taken;
  };
  const std::vector<Branch> cases = {
      {"beq", 0, 5, 5, true},         {"beq not", 0, 5, 6, false},   {"bne", 1, 5, 6, true},
      {"bne not", 1, 5, 5, false},    {"blt", 4, ~0U, 1, true},      {"blt not", 4, 1, 1, false},
      {"bge", 5, 1, ~0U, true},       {"bge not", 5, ~0U, 1, false}, {"bltu", 6, 1, ~0U, true},
      {"bltu not", 6, ~0U, 1, false}, {"bgeu", 7, ~0U, 1, true},     {"bgeu not", 7, 1, ~0U, false},
  };
  for (const Branch& c : cases) {
    for (const std::int32_t offset : {64, 2046, 4094}) {  // within a page, and behind it
      Machine m;
      m.load({branch(c.f3, a1, a2, offset)});
      m.hart.set_reg(a1, c.first);
      m.hart.set_reg(a2, c.second);
      m.run(1);
      EXPECT_EQ(m.hart.pc(), kBase + (c.taken ? static_cast<std::uint32_t>(offset) : 4)) << c.name;
      EXPECT_EQ(m.hart.cycle(), c.taken ? 3U : 1U) << c.name;
    }
  }
  Machine m;
  m.load({jal(ra, 8), 0, i(0x67, 0, s0, ra, 0x101)});
  m.run(1);
  EXPECT_EQ(m.hart.pc(), kBase + 8);
  EXPECT_EQ(m.hart.reg(ra), kBase + 4);
  m.run(1);
  EXPECT_EQ(m.hart.pc(), kBase + 0x104) << "without its lowest bit";
  EXPECT_EQ(m.hart.reg(s0), kBase + 12);
}

TEST(Instructions, LoadAndStore) {
  struct Access {
    const char* name;
    std::uint32_t word, expected;
  };
  const std::vector<Access> loads = {
      {"lb", load(0, a0, a1, 1), 0xFFFF'FF99},       {"lbu", load(4, a0, a1, 1), 0x99},
      {"lh", load(1, a0, a1, 0), 0xFFFF'99AA},       {"lhu", load(5, a0, a1, 0), 0x99AA},
      {"lw", load(2, a0, a1, 0), 0x7788'99AA},       {"lw misaligned", load(2, a0, a1, 1), 0x6677'8899},
      {"lh misaligned", load(1, a0, a1, 3), 0x6677}, {"lw before", load(2, a0, a1, -4), 0x1122'3344},
  };
  for (const Access& c : loads) {
    Machine m;
    m.load({c.word});
    const std::uint32_t words[] = {0x1122'3344, 0x7788'99AA, 0x3344'5566};
    m.memory.poke(kData - 4, words, sizeof words);
    m.hart.set_reg(a1, kData);
    m.run(1);
    EXPECT_EQ(m.hart.reg(a0), c.expected) << c.name;
  }
  const std::vector<Access> stores = {
      {"sb", store(0, a0, a1, 2), 0x00DD'0000},
      {"sh", store(1, a0, a1, 2), 0xCCDD'0000},
      {"sw", store(2, a0, a1, 0), 0xAABB'CCDD},
      {"sw misaligned", store(2, a0, a1, 2), 0xCCDD'0000},
  };
  for (const Access& c : stores) {
    Machine m;
    m.load({c.word});
    m.hart.set_reg(a0, 0xAABB'CCDD);
    m.hart.set_reg(a1, kData);
    m.run(1);
    EXPECT_EQ(m.word(kData), c.expected) << c.name;
  }
}

TEST(Instructions, CompressedOnesMeanWhatTheyExpandTo) {
  struct Pair {
    std::uint16_t compressed;
    std::uint32_t word;
    const char* name;
  };
  const std::vector<Pair> pairs = {
      {0x1FE8, 0x3FC10513, "c.addi4spn a0, sp, 1020"},
      {0x0044, 0x00410493, "c.addi4spn s1, sp, 4"},
      {0x5EF0, 0x07C6A603, "c.lw a2, 124(a3)"},
      {0x43C0, 0x0047A403, "c.lw s0, 4(a5)"},
      {0xC2B0, 0x04C6A023, "c.sw a2, 64(a3)"},
      {0xDC98, 0x02E4AC23, "c.sw a4, 56(s1)"},
      {0x0001, 0x00000013, "c.nop"},
      {0x1501, 0xFE050513, "c.addi a0, -32"},
      {0x0FFD, 0x01FF8F93, "c.addi t6, 31"},
      {0x3001, 0x801FF0EF, "c.jal .-2048"},
      {0x2FFD, 0x7FE000EF, "c.jal .+2046"},
      {0x58FD, 0xFFF00893, "c.li a7, -1"},
      {0x40FD, 0x01F00093, "c.li ra, 31"},
      {0x7101, 0xE0010113, "c.addi16sp sp, -512"},
      {0x617D, 0x1F010113, "c.addi16sp sp, 496"},
      {0x6141, 0x01010113, "c.addi16sp sp, 16"},
      {0x7581, 0xFFFE05B7, "c.lui a1, 0xfffe0"},
      {0x62FD, 0x0001F2B7, "c.lui t0, 31"},
      {0x807D, 0x01F45413, "c.srli s0, 31"},
      {0x8785, 0x4017D793, "c.srai a5, 1"},
      {0x9AE5, 0xFF96F693, "c.andi a3, -7"},
      {0x8D0D, 0x40B50533, "c.sub a0, a1"},
      {0x8E35, 0x00D64633, "c.xor a2, a3"},
      {0x8F5D, 0x00F76733, "c.or a4, a5"},
      {0x8C65, 0x00947433, "c.and s0, s1"},
      {0xA46D, 0x2AA0006F, "c.j .+682"},
      {0xB46D, 0xAABFF06F, "c.j .-1366"},
      {0xD101, 0xF00500E3, "c.beqz a0, .-256"},
      {0xC4CD, 0x0A048563, "c.beqz s1, .+170"},
      {0xEFFD, 0x0E079F63, "c.bnez a5, .+254"},
      {0x0E36, 0x00DE1E13, "c.slli t3, 13"},
      {0x557E, 0x0FC12503, "c.lwsp a0, 252(sp)"},
      {0x5092, 0x02412083, "c.lwsp ra, 36(sp)"},
      {0x8082, 0x00008067, "c.jr ra"},
      {0x8782, 0x00078067, "c.jr a5"},
      {0x857E, 0x01F00533, "c.mv a0, t6"},
      {0x9002, 0x00100073, "c.ebreak"},
      {0x9702, 0x000700E7, "c.jalr a4"},
      {0x9DAA, 0x00AD8DB3, "c.add s11, a0"},
      {0xDF86, 0x0E112E23, "c.swsp ra, 252(sp)"},
      {0xC422, 0x00812423, "c.swsp s0, 8(sp)"},
  };
  for (const Pair& p : pairs) EXPECT_EQ(expand(p.compressed), p.word) << p.name;
}

TEST(Instructions, ReservedOnesAreIllegal) {
  for (const int bits : {0x0000, 0x0004, 0x2000, 0x6101, 0x6581, 0x9C01, 0x1002, 0x8002, 0x4002, 0xA000, 0xE000, 0x6000,
                         0x2002, 0xA002, 0x6002, 0xE002}) {
    EXPECT_EQ(expand(static_cast<std::uint16_t>(bits)), 0U) << std::hex << bits;
  }
  for (const std::uint32_t word :
       {0U, ~0U, r(2, 0, a0, a1, a2), r(0x20, 1, a0, a1, a2), i(0x13, 1, a0, a1, 0x20), i(0x13, 5, a0, a1, 0x20),
        load(3, a0, a1, 0), load(6, a0, a1, 0), store(3, a0, a1, 0), branch(2, a0, a1, 8), i(0x67, 1, a0, a1, 0),
        0x0000'200FU, 0x0000'4073U, 0x1020'0073U, 0x0000'0053U, 0x0000'002FU}) {
    Machine m;
    m.load({word});
    m.run(1);
    EXPECT_EQ(m.hart.pc(), kHandler) << std::hex << word;
    EXPECT_EQ(m.csr_value(CsrNumber::kMcause), TrapCause::kIllegalInstruction) << std::hex << word;
    EXPECT_EQ(m.csr_value(CsrNumber::kMtval), (word & 3) == 3 ? word : word & 0xFFFF) << std::hex << word;
    EXPECT_EQ(m.csr_value(CsrNumber::kMepc), kBase);
    EXPECT_EQ(m.hart.retired(), 0U);
  }
}

TEST(Instructions, AWordMayLieAcrossPages) {
  Machine m;
  const std::uint32_t edge = kBase + 0xFFE;
  const std::uint32_t word = addi(a0, a0, 7), after = addi(a0, a0, 1);
  m.memory.poke(edge, &word, 4);
  m.memory.poke(edge + 4, &after, 4);
  m.hart.set_pc(edge);
  m.run(2);
  EXPECT_EQ(m.hart.reg(a0), 8U);
  EXPECT_EQ(m.hart.pc(), edge + 8);
}

TEST(Instructions, AreAsMemoryHasThem) {
  Machine m;  // the loop's body is written anew, without fence.i
  m.load({addi(a0, a0, 1), store(2, a1, a2, 0), jal(zero, -8)});
  m.hart.set_reg(a1, addi(a0, a0, 100));
  m.hart.set_reg(a2, kBase);
  m.run(4);
  EXPECT_EQ(m.hart.reg(a0), 101U);
}

}  // namespace
}  // namespace attnvp::riscv::bench
