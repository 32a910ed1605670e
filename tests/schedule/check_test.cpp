// The checker on schedules written by hand: what is in order passes, and every kind of mistake is found, with both
// commands and the event that would order them.
#include <gtest/gtest.h>

#include <string>

#include "firmware/hal/registers.h"
#include "firmware/runtime/runtime.h"
#include "platform/machine/hardware.h"
#include "platform/schedule/check/checker.h"
#include "platform/schedule/check/recorder.h"

namespace attnvp {
namespace {

using firmware::Command;
using firmware::Events;
using firmware::Matrix;
using schedule::Queue;
using schedule::Unit;
using schedule::check::Finding;
using schedule::check::FindingKind;
using schedule::check::Report;

constexpr std::uint32_t kRows = 16, kEmb = 16, kKeys = 32;
constexpr std::uint64_t kL1 = hal::kL1Base, kQ = hal::kDramBase, kK = kQ + 0x1000, kV = kK + 0x1000, kO = kV + 0x1000;
constexpr Events kQReady{0, 1}, kKReady{1, 1}, kC{2, 1}, kP{3, 1}, kOReady{4, 1}, kStored{5, 1}, kVReady{6, 1};

// One head's attention, from loads to the store; tests leave out or change what they are about.
struct Script {
  Script()
      : trace(machine), accesses(machine), recorder(trace, accesses, 0, schedule::check::TraceRecorder::Levels::kFast) {
    job.block.layer.q = kQ;
    job.block.layer.k = kK;
    job.block.layer.v = kV;
    job.block.layer.o = kO;
  }
  static Matrix at(std::uint64_t address, std::uint32_t rows, std::uint32_t columns) {
    return {address, rows, columns, columns * 2};
  }
  void hold(std::uint64_t bytes) { recorder.allocated(bytes); }
  void mac(const Command& it) { recorder.command({Unit::kMac, 0}, it.raw()); }
  void vec(const Command& it) { recorder.command({Unit::kVec, 0}, it.raw()); }
  void dma(std::uint32_t channel, const Command& it) { recorder.command({Unit::kDma, channel}, it.raw()); }
  Report end(std::uint64_t output_bytes = 0) {
    recorder.end();
    return examine(job, trace, {output_bytes});
  }

  void buffers() {
    for (const std::uint64_t bytes : {512, 1536, 2560, 3584, 4096}) hold(bytes);
  }
  const Matrix q = at(kL1, kRows, kEmb), k = at(kL1 + 512, kKeys, kEmb), v = at(kL1 + 1536, kKeys, kEmb),
               c = at(kL1 + 2560, kRows, kKeys), o = at(kL1 + 3584, kRows, kEmb);
  const firmware::L0Tile l0{16, 16, 16};
  Command load_q = copy(at(kQ, kRows, kEmb), q).then(kQReady);
  Command load_k = copy(at(kK, kKeys, kEmb), k).then(kKReady);
  Command load_v = copy(at(kV, kKeys, kEmb), v).then(kVReady);
  Command scores = matmul_abt(q, k, c, l0).after(kQReady).after(kKReady).then(kC);
  Command probabilities = softmax(c, c).after(kC).then(kP);
  Command multiply = matmul_ab(c, v, o, l0).after(kP).after(kVReady).then(kOReady);
  Command store = copy(o, at(kO, kRows, kEmb)).after(kOReady).then(kStored);
  bool wait = true;

  Report attention() {
    buffers();
    dma(0, load_q);
    dma(0, load_k);
    dma(0, load_v);
    mac(scores);
    vec(probabilities);
    mac(multiply);
    dma(1, store);
    if (wait) recorder.take(kStored.first, 1);
    return end(kRows * kEmb * 2);
  }

  MachineConfig machine;
  schedule::Job job;
  schedule::check::Trace trace;
  schedule::check::Accesses accesses;
  schedule::check::TraceRecorder recorder;
};

const Finding* find(const Report& r, FindingKind kind) {
  for (const Finding& f : r.findings) {
    if (f.kind == kind) return &f;
  }
  return nullptr;
}

std::string all(const Report& r) {
  std::string text;
  for (const Finding& f : r.findings) text += to_text(f) + "\n";
  return text;
}

TEST(Checker, PassesWhatIsInOrder) {
  Script s;
  EXPECT_EQ(all(s.attention()), "");
}

TEST(Checker, FindsTheRaceOfALostWait) {
  Script s;
  s.probabilities = softmax(s.c, s.c).then(kP);
  const Report r = s.attention();
  const Finding* race = find(r, FindingKind::kRace);
  ASSERT_NE(race, nullptr) << all(r);
  ASSERT_EQ(race->parties.size(), 2U);
  EXPECT_EQ(race->parties[0].queue, "core0.mac");
  EXPECT_EQ(race->parties[0].number, 1U);
  EXPECT_EQ(race->parties[0].access, "writes");
  EXPECT_EQ(race->parties[1].queue, "core0.vec");
  EXPECT_EQ(race->parties[1].operation, "softmax");
}

// Scores that leave past L1 have a place there, which others may not take too soon.
TEST(Checker, FindsTheRaceOfWhatPassesL1By) {
  for (const bool waits : {true, false}) {
    Script s;
    s.buffers();
    s.dma(0, s.load_q);
    s.dma(0, s.load_k);
    s.mac(s.scores.forwarded());
    Command spill = copy(s.c, Script::at(kO + 0x1000, kRows, kKeys)).forwarded().then(kStored);
    if (waits) spill.after(kC);
    s.dma(1, spill);
    s.recorder.take(waits ? kStored.first : kC.first, 1);
    const Report r = s.end();
    EXPECT_EQ(find(r, FindingKind::kRace) == nullptr, waits) << all(r);
  }
}

TEST(Checker, FindsTokensThatNobodyTakes) {
  for (const std::uint32_t tokens : {1U, 2U}) {  // nobody needs to wait for the last
    Script s;
    s.buffers();
    s.dma(0, s.load_q);
    s.dma(0, s.load_q);
    s.mac(firmware::fence().after(kQReady, 3 - tokens));
    EXPECT_EQ(find(s.end(), FindingKind::kLeftOver) != nullptr, false) << tokens;
    Script lost;
    lost.buffers();
    lost.dma(0, lost.load_q);
    lost.dma(0, lost.load_q);
    EXPECT_NE(find(lost.end(), FindingKind::kLeftOver), nullptr);
  }
}

TEST(Checker, NamesTheEventThatWouldOrder) {
  Script s;  // the token is given, and taken by somebody else of that queue, too late
  s.probabilities = softmax(s.c, s.c).then(kP);
  s.buffers();
  s.dma(0, s.load_q);
  s.dma(0, s.load_k);
  s.mac(s.scores);
  s.vec(s.probabilities);
  s.vec(firmware::fence().after(kC));
  const Report r = s.end();
  const Finding* race = find(r, FindingKind::kRace);
  ASSERT_NE(race, nullptr) << all(r);
  EXPECT_EQ(race->event, "e2");
}

TEST(Checker, FindsTheWaitWithoutEndOfALostSignal) {
  Script s;
  s.scores = matmul_abt(s.q, s.k, s.c, s.l0).after(kQReady).after(kKReady);
  const Report r = s.attention();
  const Finding* stuck = find(r, FindingKind::kDeadlock);
  ASSERT_NE(stuck, nullptr) << all(r);
  EXPECT_EQ(stuck->event, "e2");
}

TEST(Checker, FindsACommandThatWaitsOnWhenFirmwareHasEnded) {
  Script s;
  s.dma(2, firmware::fence().after({9, 1}));
  const Report r = s.attention();  // all of it is done
  const Finding* stuck = find(r, FindingKind::kDeadlock);
  ASSERT_NE(stuck, nullptr) << all(r);
  EXPECT_EQ(stuck->event, "e9");
  EXPECT_EQ(stuck->parties[0].queue, "dma2");
  EXPECT_EQ(stuck->parties[0].number, 1U);
}

TEST(Checker, FindsAnEngineThatOvertakesItself) {
  Script s;  // the second product reads what the first may still be storing
  s.buffers();
  s.dma(0, s.load_q);
  s.dma(0, s.load_k);
  s.dma(0, s.load_v);
  s.mac(s.scores);
  s.mac(matmul_ab(s.c, s.v, s.o, s.l0).after(kVReady));
  s.vec(firmware::fence().after(kC));
  const Report r = s.end();
  EXPECT_NE(find(r, FindingKind::kRace), nullptr) << all(r);

  Script in_order;
  in_order.buffers();
  in_order.dma(0, in_order.load_q);
  in_order.dma(0, in_order.load_k);
  in_order.dma(0, in_order.load_v);
  in_order.mac(in_order.scores);
  Command second = matmul_ab(in_order.c, in_order.v, in_order.o, in_order.l0).after(kVReady);
  second.raw().flags |= hal::kInOrder;
  in_order.mac(second);
  in_order.vec(firmware::fence().after(kC));
  EXPECT_EQ(all(in_order.end()), "");
}

TEST(Checker, FindsReadsOfNothing) {
  Script s;
  s.load_v = firmware::fence().then(kVReady);
  const Report r = s.attention();
  const Finding* hole = find(r, FindingKind::kUnwritten);
  ASSERT_NE(hole, nullptr) << all(r);
  EXPECT_EQ(hole->low, s.v.address);
  EXPECT_EQ(hole->parties[0].queue, "core0.mac");
  EXPECT_EQ(hole->parties[0].number, 2U);
}

TEST(Checker, FindsAPartThatIsNotLoaded) {
  Script s;  // all rows but one
  s.load_k = copy(Script::at(kK, kKeys - 1, kEmb), Script::at(s.k.address, kKeys - 1, kEmb)).then(kKReady);
  const Report r = s.attention();
  const Finding* hole = find(r, FindingKind::kUnwritten);
  ASSERT_NE(hole, nullptr) << all(r);
  EXPECT_EQ(hole->low, s.k.address + (kKeys - 1) * kEmb * 2);
}

TEST(Checker, FollowsRowsThatNothingHasWritten) {
  for (const std::uint32_t stored : {kRows - 1, kRows}) {  // the last row of Q is not there
    Script s;
    s.load_q = copy(Script::at(kQ, kRows - 1, kEmb), Script::at(s.q.address, kRows - 1, kEmb)).then(kQReady);
    s.store = copy(Script::at(s.o.address, stored, kEmb), Script::at(kO, stored, kEmb)).after(kOReady).then(kStored);
    const Report r = s.attention();
    const Finding* blank = find(r, FindingKind::kUnwritten);
    ASSERT_EQ(blank != nullptr, stored == kRows) << all(r);
    if (blank == nullptr) continue;
    ASSERT_EQ(blank->parties.size(), 2U);  // who has read nothing, and who stores what has become of it
    EXPECT_EQ(blank->parties[0].queue + blank->parties[1].queue, "core0.macdma1");
    EXPECT_EQ(blank->parties[0].number, 1U);
  }
}

TEST(Checker, LooksForNoRowsThatAreAbsent) {
  Script s;
  s.load_k = copy(Script::at(kK, kKeys - 3, kEmb), Script::at(s.k.address, kKeys - 3, kEmb)).then(kKReady);
  s.load_v = copy(Script::at(kV, kKeys - 3, kEmb), Script::at(s.v.address, kKeys - 3, kEmb)).then(kVReady);
  s.scores.raw().tail.matmul.absent = 3;
  s.multiply.raw().tail.matmul.absent = 2;
  const Report r = s.attention();
  const Finding* hole = find(r, FindingKind::kUnwritten);
  ASSERT_NE(hole, nullptr) << all(r);
  EXPECT_EQ(r.findings.size(), 1U) << all(r);
  EXPECT_EQ(hole->low, s.v.address + (kKeys - 3) * kEmb * 2);
}

TEST(Checker, SaysThatThereIsNoSuchEvent) {
  Script s;
  s.recorder.take(5000, 1);
  const Report r = s.end();
  EXPECT_NE(find(r, FindingKind::kRefused), nullptr) << all(r);
}

TEST(Checker, FindsRowsThatAreLeftOver) {
  for (const std::uint32_t missed : {0U, 1U}) {  // rows that the second tile does not write
    Script s;
    s.buffers();
    s.dma(0, s.load_q);
    s.dma(0, s.load_k);
    s.mac(matmul_abt(s.q, s.k, s.c, s.l0).after(kQReady).after(kKReady).then(kVReady));
    const std::uint64_t offset = missed * kEmb * 2;
    const std::uint32_t rows = kKeys - missed;
    s.dma(0, copy(Script::at(kK + 0x400 + offset, rows, kEmb), Script::at(s.k.address + offset, rows, kEmb))
                 .after(kVReady)
                 .then(kKReady));
    s.mac(matmul_abt(s.q, s.k, s.c, s.l0).after(kKReady));
    const Report r = s.end();
    const Finding* torn = find(r, FindingKind::kTorn);
    ASSERT_EQ(torn != nullptr, missed > 0) << all(r);
    if (torn != nullptr) {
      EXPECT_EQ(torn->low, s.k.address + offset);
    }
  }
}

TEST(Checker, FindsRowsOfVOfOtherKeys) {
  Script s;
  s.load_v = copy(Script::at(kV + kEmb * 2, kKeys, kEmb), s.v).then(kVReady);
  const Report r = s.attention();
  const Finding* other = find(r, FindingKind::kKeys);
  ASSERT_NE(other, nullptr) << all(r);
  EXPECT_EQ(other->parties[0].number, 2U);
}

TEST(Checker, FindsWritesToInputs) {
  Script s;
  s.store = copy(s.o, Script::at(kV, kRows, kEmb)).after(kOReady).then(kStored);
  const Report r = s.attention();
  EXPECT_NE(find(r, FindingKind::kInput), nullptr) << all(r);
}

TEST(Checker, FindsAResultThatNobodyWaitsFor) {
  Script s;
  s.wait = false;
  s.store = copy(s.o, Script::at(kO, kRows, kEmb)).after(kOReady);
  const Report r = s.attention();
  EXPECT_NE(find(r, FindingKind::kUnfinished), nullptr) << all(r);
}

TEST(Checker, FindsAResultThatIsNotWhole) {
  Script s;
  s.store =
      copy(Script::at(s.o.address, kRows / 2, kEmb), Script::at(kO, kRows / 2, kEmb)).after(kOReady).then(kStored);
  const Report r = s.attention();
  const Finding* hole = find(r, FindingKind::kMissing);
  ASSERT_NE(hole, nullptr) << all(r);
  EXPECT_EQ(hole->low, kO + kRows / 2 * kEmb * 2);
}

TEST(Checker, FindsSpaceThatIsNotHeld) {
  Script s;
  s.hold(256);  // of the 512 that Q takes
  s.dma(0, s.load_q);
  EXPECT_NE(find(s.end(), FindingKind::kFreed), nullptr);

  Script crossing;
  crossing.hold(256);
  crossing.hold(1024);
  crossing.dma(0, crossing.load_q);
  EXPECT_NE(find(crossing.end(), FindingKind::kCrossing), nullptr);
}

TEST(Checker, FindsSpaceGivenBackTooEarly) {
  for (const bool waits : {false, true}) {
    Script s;
    s.hold(512);
    s.dma(0, s.load_q);
    if (waits) s.recorder.take(kQReady.first, 1);
    s.recorder.tagged(0);
    s.hold(0);
    const Report r = s.end();
    EXPECT_EQ(find(r, FindingKind::kFreed) == nullptr, waits) << all(r);
  }
}

TEST(Checker, FindsTwoQueuesAtOneEvent) {
  Script s;
  s.buffers();
  s.dma(0, copy(Script::at(kQ, kRows, kEmb), s.q).then(kQReady, 2));
  s.mac(firmware::fence().after(kQReady));
  s.vec(firmware::fence().after(kQReady));
  EXPECT_NE(find(s.end(), FindingKind::kContended), nullptr);
}

TEST(Checker, FindsCountersThatRunOver) {
  Script s;
  for (int i = 0; i < 2; ++i) s.recorder.give(7, 0x8000'0000);
  EXPECT_NE(find(s.end(), FindingKind::kOverflow), nullptr);
}

TEST(Checker, FindsQueuesThatFillUp) {
  // VEC waits for what is pushed behind its own commands: enough of those, and the processor never comes to it.
  for (const std::uint32_t commands : {15U, 16U, 17U}) {
    Script s;
    s.machine.vec.queue_depth = 16;
    for (auto& line : s.trace.lines) line.depth = line.queue.unit == Unit::kVec ? 16 : line.depth;
    for (std::uint32_t i = 0; i < commands; ++i) s.vec(firmware::fence().after(kC));
    s.mac(firmware::fence().then(kC, commands));
    const Report r = s.end();
    EXPECT_EQ(find(r, FindingKind::kDeadlock) != nullptr, commands > 16) << commands << "\n" << all(r);
  }
}

TEST(Checker, SaysWhatAnEngineWouldRefuse) {
  Script s;
  Command bad = s.load_q;
  bad.raw().operand[0].address = 0x1234;
  s.buffers();
  s.dma(0, bad);
  const Report r = s.end();
  ASSERT_NE(find(r, FindingKind::kRefused), nullptr) << all(r);
}

// Barriers: every engine gives every engine a token a round, so that one may be a round ahead of another, but not two.
TEST(Checker, FollowsBarriers) {
  for (const std::uint32_t tokens : {2U, 1U}) {
    Script s;
    s.buffers();
    s.recorder.give(10, 2);
    s.recorder.give(11, 2);
    s.dma(0, s.load_q);
    s.dma(0, s.load_k);
    s.mac(firmware::fence().after(kQReady).after(kKReady));
    for (std::uint32_t round = 0; round < 4; ++round) {
      s.mac(firmware::fence().after({10, 1}, 2));
      s.vec(firmware::fence().after({11, 1}, round == 0 ? 2 : tokens));
      if (round % 2 == 0) s.mac(matmul_abt(s.q, s.k, s.c, s.l0));
      if (round % 2 == 1) s.vec(softmax(s.c, s.c));
      s.mac(firmware::fence().then({10, 2}));
      s.vec(firmware::fence().then({10, 2}));
    }
    const Report r = s.end();
    EXPECT_EQ(find(r, FindingKind::kRace) == nullptr, tokens == 2) << all(r);
  }
}

}  // namespace
}  // namespace attnvp
