// Control and status registers, traps and interrupts.
#include "models/control/riscv/csr.h"

#include "tests/models/riscv/hart_bench.h"

namespace attnvp::riscv::bench {
namespace {

struct Register {
  const char* name;
  std::uint32_t number, written, read;
};

TEST(Csrs, KeepWhatTheyMay) {
  const std::vector<Register> registers = {
      {"mstatus", CsrNumber::kMstatus, ~0U, 0x1888},
      {"mstatus, 0", CsrNumber::kMstatus, 0, 0x1800},
      {"misa", CsrNumber::kMisa, 0, kMisaValue},
      {"mie", CsrNumber::kMie, ~0U, 0x888},
      {"mtvec", CsrNumber::kMtvec, ~0U, 0xFFFF'FFFD},
      {"mstatush", CsrNumber::kMstatush, ~0U, 0},
      {"mcountinhibit", CsrNumber::kMcountinhibit, ~0U, 5},
      {"mscratch", CsrNumber::kMscratch, 0x1234'5678, 0x1234'5678},
      {"mepc", CsrNumber::kMepc, ~0U, 0xFFFF'FFFE},
      {"mcause", CsrNumber::kMcause, 0x8000'000B, 0x8000'000B},
      {"mtval", CsrNumber::kMtval, ~0U, ~0U},
      {"mip", CsrNumber::kMip, ~0U, 0},
      {"tselect", CsrNumber::kTselect, ~0U, 0},
      {"tdata1", CsrNumber::kTdata1, ~0U, 0},
      {"pmpcfg0", 0x3A0, ~0U, 0x1F1F'1F1F},
      {"pmpaddr15", 0x3BF, ~0U, ~0U},
      {"mhpmcounter3", 0xB03, ~0U, 0},
      {"mhpmcounter31h", 0xB9F, ~0U, 0},
      {"mhpmevent3", 0x323, ~0U, 0},
  };
  for (const Register& c : registers) {
    Machine m;
    m.load({csr(1, a0, c.number, a1), csr(2, a2, c.number, zero)});
    m.hart.set_reg(a1, c.written);
    m.run(2);
    EXPECT_EQ(m.hart.reg(a2), c.read) << c.name;
    EXPECT_EQ(m.hart.retired(), 2U) << c.name;
  }
}

TEST(Csrs, AreReadOnlyOrAbsent) {
  for (const std::uint32_t number :
       {CsrNumber::kMvendorid, CsrNumber::kMarchid, CsrNumber::kMimpid, CsrNumber::kMhartid, CsrNumber::kMconfigptr,
        CsrNumber::kCycle, CsrNumber::kTime, CsrNumber::kInstret, CsrNumber::kCycleh, CsrNumber::kTimeh,
        CsrNumber::kInstreth}) {
    Machine reads, writes;
    reads.load({csr(2, a0, number, zero)});
    reads.run(1);
    EXPECT_EQ(reads.hart.pc(), kBase + 4) << std::hex << number;
    writes.load({csr(1, a0, number, zero)});
    writes.run(1);
    EXPECT_EQ(writes.hart.pc(), kHandler) << std::hex << number;
  }
  for (const std::uint32_t number : {0x000U, 0x100U, 0x180U, 0x302U, 0x303U, 0x306U, 0x744U, 0x7A5U, 0x7C0U, 0xFFFU}) {
    Machine m;
    m.load({csr(2, a0, number, zero)});
    m.run(1);
    EXPECT_EQ(m.csr_value(CsrNumber::kMcause), TrapCause::kIllegalInstruction) << std::hex << number;
  }
}

TEST(Csrs, AreWrittenSetAndCleared) {
  const std::uint32_t n = CsrNumber::kMscratch;
  Machine m;
  m.load({csr(5, a0, n, 0x15), csr(6, a1, n, 0x0A), csr(7, a2, n, 0x11), csr(1, a3, n, a5), csr(2, a4, n, a5),
          csr(3, a5, n, a5)});
  m.hart.set_reg(a5, 0xF0);
  m.run(6);
  EXPECT_EQ(m.hart.reg(a1), 0x15U);
  EXPECT_EQ(m.hart.reg(a2), 0x1FU);
  EXPECT_EQ(m.hart.reg(a3), 0x0EU);
  EXPECT_EQ(m.hart.reg(a4), 0xF0U);
  EXPECT_EQ(m.csr_value(n), 0U);
}

TEST(Csrs, CountersReadAsWrittenToTheNextInstruction) {
  Machine m;
  m.load({csr(5, zero, CsrNumber::kMinstret, 9), csr(2, a0, CsrNumber::kMinstret, zero),
          csr(5, zero, CsrNumber::kMcycle, 17), csr(2, a1, CsrNumber::kMcycle, zero),
          csr(5, zero, CsrNumber::kMcountinhibit, 5), csr(2, a2, CsrNumber::kMinstret, zero),
          csr(2, a3, CsrNumber::kMinstret, zero)});
  m.run(7);
  EXPECT_EQ(m.hart.reg(a0), 9U);
  EXPECT_EQ(m.hart.reg(a1), 17U);
  EXPECT_EQ(m.hart.reg(a2), m.hart.reg(a3)) << "inhibited";
}

TEST(Traps, SayWhatAndWhere) {
  struct Trap {
    const char* name;
    std::uint32_t word, cause, value;
  };
  const std::uint32_t nowhere = 0x4000'0000;
  const std::vector<Trap> traps = {
      {"ecall", kEcallWord, TrapCause::kEnvironmentCall, 0},
      {"ebreak", kEbreakWord, TrapCause::kBreakpoint, kBase},
      {"lw from nowhere", load(2, a0, a1, 0), TrapCause::kLoadFault, nowhere},
      {"sw to nowhere", store(2, a0, a1, 4), TrapCause::kStoreFault, nowhere + 4},
      {"lh misaligned at a device", load(1, a0, a2, 1), TrapCause::kLoadMisaligned, kDevice + 1},
      {"sw misaligned at a device", store(2, a0, a2, 2), TrapCause::kStoreMisaligned, kDevice + 2},
      {"lw across the end of memory", load(2, a0, a3, -2), TrapCause::kLoadMisaligned, kBase + kBytes - 2},
  };
  for (const Trap& c : traps) {
    Machine m;
    m.load({c.word});
    m.hart.set_reg(a0, 0x5A);
    m.hart.set_reg(a1, nowhere);
    m.hart.set_reg(a2, kDevice);
    m.hart.set_reg(a3, kBase + kBytes);
    m.run(1);
    EXPECT_EQ(m.hart.pc(), kHandler) << c.name;
    EXPECT_EQ(m.csr_value(CsrNumber::kMcause), c.cause) << c.name;
    EXPECT_EQ(m.csr_value(CsrNumber::kMtval), c.value) << c.name;
    EXPECT_EQ(m.csr_value(CsrNumber::kMepc), kBase) << c.name;
    EXPECT_EQ(m.hart.reg(a0), 0x5AU) << c.name;
    EXPECT_EQ(m.hart.retired(), 0U) << c.name;
  }
  Machine m;  // a wild jump
  m.load({i(0x67, 0, ra, a1, 0)});
  m.hart.set_reg(a1, nowhere);
  m.run(1);
  EXPECT_EQ(m.csr_value(CsrNumber::kMcause), TrapCause::kFetchFault);
  EXPECT_EQ(m.csr_value(CsrNumber::kMepc), nowhere);
}

TEST(Traps, WithoutAHandlerTheHartIsLost) {
  Machine m;
  m.load({kEcallWord});
  m.hart.csrs().write(CsrNumber::kMtvec, 0, {});
  EXPECT_EQ(m.hart.run(1000), Stop::kLost);
}

TEST(Traps, ReturnWithInterruptsAsBefore) {
  Machine m;
  m.load({csr(6, zero, CsrNumber::kMstatus, 8), kEcallWord, addi(a0, zero, 1)});
  const std::uint32_t handler[] = {csr(2, a1, CsrNumber::kMepc, zero), addi(a1, a1, 4),
                                   csr(1, zero, CsrNumber::kMepc, a1), kMretWord};
  m.memory.poke(kHandler, handler, sizeof handler);
  m.run(2);
  EXPECT_EQ(m.csr_value(CsrNumber::kMstatus), 0x1880U);
  m.run(5);
  EXPECT_EQ(m.csr_value(CsrNumber::kMstatus), 0x1888U);
  EXPECT_EQ(m.hart.reg(a0), 1U);
}

TEST(Interrupts, AreTakenInTheirOrderDirectlyOrByVector) {
  for (const bool vectored : {false, true}) {
    for (const std::uint32_t cause : {kSoftwareInterrupt, kTimerInterrupt, kExternalInterrupt}) {
      Machine m;
      m.load({addi(a0, zero, 1), addi(a0, zero, 2)});
      m.hart.csrs().write(CsrNumber::kMtvec, kHandler | (vectored ? 1 : 0), {});
      m.hart.csrs().write(CsrNumber::kMie, ~0U, {});
      m.hart.csrs().mip = 1U << cause;
      m.run(1);
      EXPECT_EQ(m.hart.reg(a0), 1U) << "interrupts are off";
      m.hart.csrs().write(CsrNumber::kMstatus, 8, {});
      EXPECT_TRUE(m.hart.csrs().interruptible());
      m.hart.run(m.hart.cycle() + 1);
      EXPECT_EQ(m.csr_value(CsrNumber::kMcause), 0x8000'0000U | cause);
      EXPECT_EQ(m.csr_value(CsrNumber::kMepc), kBase + 4);
      EXPECT_EQ(m.hart.reg(a0), 1U);
      EXPECT_EQ(m.hart.pc(), kHandler + (vectored ? 4 * cause : 0));
    }
  }
  Csrs csrs(0);
  csrs.write(CsrNumber::kMie, ~0U, {});
  csrs.write(CsrNumber::kMstatus, 8, {});
  csrs.mip = kAllInterrupts;
  EXPECT_EQ(csrs.interrupt(), kExternalInterrupt);
  csrs.mip = 1U << kSoftwareInterrupt | 1U << kTimerInterrupt;
  EXPECT_EQ(csrs.interrupt(), kSoftwareInterrupt);
}

TEST(Interrupts, WfiWaitsForOneThatIsEnabled) {
  Machine m;
  m.load({kWfiWord, addi(a0, zero, 1)});
  EXPECT_EQ(m.hart.run(1000), Stop::kWait);
  EXPECT_EQ(m.hart.pc(), kBase + 4);
  m.hart.csrs().write(CsrNumber::kMie, 1U << kTimerInterrupt, {});
  m.hart.csrs().mip = 1U << kTimerInterrupt;
  EXPECT_TRUE(m.hart.csrs().wakes());
  m.hart.set_pc(kBase);
  EXPECT_EQ(m.hart.run(m.hart.cycle() + 2), Stop::kLimit) << "with interrupts off it goes on behind";
}

TEST(ClintTest, TimerAndSoftwareInterrupt) {
  Clint clint;
  EXPECT_EQ(clint.lines(UINT64_MAX - 1), 0U);
  EXPECT_TRUE(clint.write(0x4000, 100));
  EXPECT_TRUE(clint.write(0x4004, 0));
  EXPECT_EQ(clint.lines(99), 0U);
  EXPECT_EQ(clint.lines(100), 1U << kTimerInterrupt);
  EXPECT_TRUE(clint.write(0, 1));
  EXPECT_EQ(clint.lines(0), 1U << kSoftwareInterrupt);
  std::uint32_t value = 0;
  EXPECT_TRUE(clint.read(0xBFF8, value, 0x1'0000'0007));
  EXPECT_EQ(value, 7U);
  EXPECT_TRUE(clint.read(0xBFFC, value, 0x1'0000'0007));
  EXPECT_EQ(value, 1U);
  EXPECT_FALSE(clint.read(0x10, value, 0));
  EXPECT_FALSE(clint.write(0xBFF8, 0));
}

TEST(TimingTest, CostsAreTheConfigurations) {
  HartTiming t;
  t.base = 2;
  t.load_use = 3;
  t.taken_branch = 5;
  t.multiply = 7;
  t.divide = 11;
  t.misaligned = 13;
  struct Cost {
    const char* name;
    std::vector<std::uint32_t> words;
    std::uint64_t cycles;
  };
  const std::vector<Cost> costs = {
      {"addi", {addi(a0, a0, 1)}, 2},
      {"mul", {r(1, 0, a0, a0, a0)}, 9},
      {"remu", {r(1, 7, a0, a0, a0)}, 13},
      {"load, used", {load(2, a1, a5, 0), addi(a1, a1, 1)}, 7},
      {"load, not used", {load(2, a1, a5, 0), addi(a2, a2, 1)}, 4},
      {"load, stored", {load(2, a1, a5, 0), store(2, a1, a5, 4)}, 7},
      {"load, misaligned", {load(2, a1, a5, 1)}, 15},
      {"jal", {jal(zero, 4)}, 7},
      {"not taken", {branch(1, zero, zero, 8)}, 2},
      {"ecall", {kEcallWord}, 7},
      {"a device", {load(2, a1, a4, 0)}, 2 + Machine::kDeviceCycles},
  };
  for (const Cost& c : costs) {
    Machine m(t);
    m.load(c.words);
    m.hart.set_reg(a5, kData);
    m.hart.set_reg(a4, kDevice);
    m.run(static_cast<std::uint32_t>(c.words.size()));
    EXPECT_EQ(m.hart.cycle(), c.cycles) << c.name;
  }
}

// What an observer sees is what happens without one.
TEST(Observers, ChangeNothing) {
  class All final : public Observer {
   public:
    bool after(Hart& /*hart*/, const Executed& e) override {
      cycles += e.end - e.cycle;
      retired += e.retired ? 1 : 0;
      stalls += e.stall;
      return true;
    }
    std::uint64_t cycles = 0, retired = 0, stalls = 0;
  } all;
  Machine plain, observed;
  observed.hart.set_observer(&all);
  for (Machine* m : {&plain, &observed}) {
    m->load({addi(a0, zero, 50), load(2, a1, a4, 0), r(1, 0, a2, a1, a0), store(2, a2, a4, 4), addi(a0, a0, -1),
             branch(1, a0, zero, -16), kEcallWord});
    m->hart.set_reg(a4, kDevice);
    const std::uint32_t loop = jal(zero, 0);
    m->memory.poke(kHandler, &loop, 4);
    m->hart.run(5000);
  }
  EXPECT_EQ(plain.hart.cycle(), observed.hart.cycle());
  EXPECT_EQ(plain.hart.retired(), observed.hart.retired());
  EXPECT_EQ(plain.hart.reg(a2), observed.hart.reg(a2));
  EXPECT_EQ(all.cycles, observed.hart.cycle());
  EXPECT_EQ(all.retired, observed.hart.retired());
  EXPECT_EQ(all.stalls, observed.hart.stalled());
}

TEST(Classes, CountWhatInstructionsMakeTheCoreDo) {
  class None final : public Observer {
    bool after(Hart& /*hart*/, const Executed& /*e*/) override { return true; }
  } none;
  for (Observer* observer : {static_cast<Observer*>(nullptr), static_cast<Observer*>(&none)}) {
    Machine m;
    m.hart.set_observer(observer);
    // Own memory and a device, three times; a CSR; then a loop of jumps at the handler.
    m.load({addi(a0, zero, 3), load(2, a1, a3, 0), load(2, a1, a4, 0), r(1, 0, a2, a1, a0), r(1, 5, a5, a2, a0),
            r(1, 7, a5, a2, a0), store(2, a2, a3, 4), store(2, a2, a4, 4), addi(a0, a0, -1), branch(1, a0, zero, -32),
            csr(2, a5, 0x340, zero), 0x0000'100FU, kEcallWord});
    m.hart.set_reg(a3, kData);
    m.hart.set_reg(a4, kDevice);
    const std::uint32_t loop = jal(zero, 0);
    m.memory.poke(kHandler, &loop, 4);
    while (m.hart.pc() != kHandler) m.hart.run(m.hart.cycle() + 1);
    const Classes& of = m.hart.classes();
    EXPECT_EQ(of.loads, 6U);
    EXPECT_EQ(of.stores, 6U);
    EXPECT_EQ(of.multiplies, 3U);
    EXPECT_EQ(of.divides, 6U);
    EXPECT_EQ(of.branches, 3U);
    EXPECT_EQ(of.system, 2U) << "the CSR and fence.i; what traps is not retired";
    EXPECT_EQ(m.hart.retired(), 6U + 6 + 3 + 6 + 3 + 2 + 4) << "four additions";
    m.hart.run(m.hart.cycle() + 10);
    EXPECT_GT(m.hart.classes().branches, 3U) << "jumps";
  }
}

}  // namespace
}  // namespace attnvp::riscv::bench
