// What crosses a memory's ports: what the arbiter never hears of ends as if it had.
#include "models/memory/scratchpad/crossings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "models/memory/scratchpad/fair_share.h"

namespace attnvp {
namespace {

struct Given {  // at a cycle
  std::uint64_t at, delay, bytes, pace;
  std::uint32_t port;
  int lane;                               // < 0: beside all others
  std::uint64_t taken_back = UINT64_MAX;  // at that cycle
};
struct Ended {
  std::uint64_t cycle = 0;
  double share = 0;
  bool operator==(const Ended& o) const { return cycle == o.cycle && share == o.share; }
};
std::ostream& operator<<(std::ostream& out, const Ended& e) { return out << e.share << " until " << e.cycle; }

// Lets them all cross; one that watches is told of every change.
class Crowd : public Crossings::CrossingOwner {
 public:
  Crowd(const std::vector<Given>& given, std::uint32_t ports, double port_rate, double total_rate, bool watches)
      : watches_(watches), lanes_(4), given_(given), ended_(given.size()) {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    context_ = std::make_unique<Context>(1e9, false);
    crossings_ =
        std::make_unique<Crossings>(*this, *context_, ports, std::make_unique<FairShare>(ports, port_rate, total_rate));
    for (std::size_t i = 0; i < given.size(); ++i) {
      enters_.push_back(std::make_unique<One>(*this, i));
      enters_.back()->enter.notify_at(context_->clock.after(given[i].at));
    }
    sc_core::sc_start();
  }
  virtual ~Crowd() {
    enters_.clear();
    crossings_.reset();
    context_.reset();
    sc_core::sc_get_curr_simcontext()->reset();
  }
  const std::vector<Ended>& ended() const { return ended_; }
  std::uint64_t left() const { return crossings_->begun(); }
  std::uint64_t told() const { return told_; }

 private:
  struct One {
    One(Crowd& all, std::size_t which)
        : crowd(all),
          i(which),
          enter(all.context_->event_queue),
          back(all.context_->event_queue),
          enters(go()),
          takes_back(take_back()) {}
    sim::Process go() {
      co_await enter;
      crowd.enter(*this);
    }
    sim::Process take_back() {
      co_await back;
      withdrawal.request();
    }
    Crowd& crowd;
    std::size_t i;
    sim::Event enter, back;
    Stream stream;
    StreamTransaction transaction;
    Withdrawal withdrawal;
    sim::Process enters, takes_back;
  };
  void enter(One& one) {
    const Given& given = given_[one.i];
    one.stream.pace_cycles = given.pace;
    one.transaction.stream = &one.stream;
    Crossings::Crossing& crossing = crossings_->make();
    crossing.start = context_->clock.now() + given.delay;
    crossing.port = given.port;
    crossing.bytes = given.bytes;
    crossing.pace_cycles = given.pace;
    crossing.stream = &one.transaction;
    crossing.lane = given.lane < 0 ? nullptr : &lanes_[static_cast<std::size_t>(given.lane)];
    crossing.response = Response(
        [](void* to, void* of, const sc_core::sc_time& delay) {
          static_cast<Crowd*>(to)->responded(static_cast<One*>(of)->i, delay);
        },
        this, &one);
    if (given.taken_back != UINT64_MAX) {
      one.transaction.withdrawal = &one.withdrawal;
      one.back.notify_at(context_->clock.begin_of(given.taken_back));
    }
    crossings_->enter(crossing);
  }
  void crossed(const Crossings::Crossing& crossing, double share) override {
    for (const auto& one : enters_) {
      if (crossing.stream == &one->transaction) ended_[one->i].share = share;
    }
  }
  void shares_changed(std::uint64_t /*cycle*/) override { ++told_; }
  bool watches() const override { return watches_; }
  void responded(std::size_t i, const sc_core::sc_time& delay) {
    EXPECT_EQ(ended_[i].cycle, 0U) << "ended twice";
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    ended_[i].cycle = context_->clock.now();
    if (given_[i].taken_back != UINT64_MAX) enters_[i]->back.cancel();
  }

  bool watches_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Crossings> crossings_;
  std::vector<Crossings::PortQueue> lanes_;
  std::vector<Given> given_;
  std::vector<Ended> ended_;
  std::vector<std::unique_ptr<One>> enters_;
  std::uint64_t told_ = 0;
};

TEST(Crossings, OneAloneTakesItsTime) {
  // 640 bytes at 64 a cycle from cycle 3 + 4 on, at its pace of 25 cycles from 100 on; the arbiter hears of neither.
  const Crowd crowd({{3, 4, 640, 0, 0, -1}, {100, 0, 640, 25, 0, -1}}, 2, 64, 128, false);
  EXPECT_EQ(crowd.ended(), (std::vector<Ended>{{17, 1}, {125, 1}}));
  EXPECT_EQ(crowd.told(), 0U);
}

TEST(Crossings, OneThatComesSharesWithTheOneThatWasAlone) {
  // From cycle 5 on 32 a cycle each: 640 - 5 * 64 = 320 are left, which end at 15; the other has 320 of 640 then.
  const Crowd crowd({{0, 0, 640, 0, 0, -1}, {5, 0, 640, 0, 0, -1}}, 2, 64, 128, false);
  EXPECT_EQ(crowd.ended(), (std::vector<Ended>{{15, 1}, {20, 1}}));
}

TEST(Crossings, OfALaneOneGoesAfterTheOther) {
  const Crowd crowd({{0, 0, 640, 0, 0, 1}, {0, 0, 64, 0, 0, 1}, {0, 30, 64, 0, 0, 1}}, 2, 64, 128, false);
  EXPECT_EQ(crowd.ended(), (std::vector<Ended>{{10, 1}, {11, 1}, {31, 1}}));
}

TEST(Crossings, WhatIsTakenBackHasMovedItsShare) {
  // Alone, taken back after a quarter; before it has begun; and beside another, which is alone from there on.
  EXPECT_EQ(Crowd({{0, 0, 640, 40, 0, -1, 10}}, 1, 64, 64, false).ended(), (std::vector<Ended>{{10, 0.25}}));
  EXPECT_EQ(Crowd({{0, 20, 640, 0, 0, -1, 10}}, 1, 64, 64, false).ended(), (std::vector<Ended>{{10, 0}}));
  EXPECT_EQ(Crowd({{0, 0, 640, 0, 0, -1, 10}, {0, 0, 640, 0, 0, -1}}, 1, 64, 64, false).ended(),
            (std::vector<Ended>{{10, 0.5}, {15, 1}}));
}

TEST(Crossings, UnheardOfTheyEndAsIfTheArbiterKnew) {
  std::mt19937 random(11);
  const auto below = [&random](std::uint64_t n) { return static_cast<std::uint64_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    const auto ports = static_cast<std::uint32_t>(1 + below(4));
    const double port_rate = below(2) == 0 ? 64 : 7;
    const double total_rate = below(2) == 0 ? port_rate * ports : port_rate * (1 + static_cast<double>(below(ports)));
    const std::uint64_t spread = 20 + below(4000);  // from crowded to nearly always alone
    std::vector<Given> given;
    for (std::uint64_t i = 5 + below(40); i > 0; --i) {
      Given g{below(spread),
              below(3) == 0 ? below(30) : 0,
              below(2000),
              below(3) == 0 ? 1 + below(100) : 0,
              static_cast<std::uint32_t>(below(ports)),
              static_cast<int>(below(6)) - 2};
      if (g.bytes == 0 && g.pace == 0) g.pace = 1;
      if (g.lane < 0 && below(5) == 0) g.taken_back = g.at + below(60);
      given.push_back(g);
    }
    std::vector<Ended> ended[2];
    for (const bool heard : {false, true}) {
      const Crowd crowd(given, ports, port_rate, total_rate, heard);
      EXPECT_EQ(crowd.left(), 0U);
      ended[heard ? 1 : 0] = crowd.ended();
    }
    ASSERT_EQ(ended[0], ended[1]) << "round " << round;
  }
}

}  // namespace
}  // namespace attnvp
