// What happens when: steps among themselves against a plain sorted list, and beside processes of SystemC's.
#include "models/agenda/agenda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace attnvp {
namespace {

using Times = std::vector<std::pair<std::string, std::uint64_t>>;

// A step that does what it is told.
struct Told {
  Told(Agenda& agenda, std::function<void()> what) : does(std::move(what)), step(agenda, Call::of<&Told::go>(this)) {}
  void go() { does(); }
  std::function<void()> does;
  Step step;
};

class Process : public sc_core::sc_module {
 public:
  Process(sc_core::sc_module_name name, std::function<void()> does) : sc_module(name), does_(std::move(does)) {
    SC_HAS_PROCESS(Process);
    SC_THREAD(run);
  }

 private:
  void run() { does_(); }
  std::function<void()> does_;
};

class AgendaTest : public testing::Test {
 protected:
  AgendaTest() {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    agenda_ = std::make_unique<Agenda>("agenda");
  }
  ~AgendaTest() override {
    processes_.clear();
    steps_.clear();
    agenda_.reset();
    sc_core::sc_get_curr_simcontext()->reset();
  }
  Step& step(std::function<void()> what) { return steps_.emplace_back(*agenda_, std::move(what)).step; }
  Step& step(const std::string& name) {
    return step([this, name] { note(name); });
  }
  void process(std::function<void()> what) {
    const std::string name = "process" + std::to_string(processes_.size());
    processes_.push_back(std::make_unique<Process>(name.c_str(), std::move(what)));
  }
  void note(const std::string& name) { done_.emplace_back(name, agenda_->now_fs()); }
  static std::uint64_t kernel_fs() { return sc_core::sc_time_stamp().value(); }

  std::unique_ptr<Agenda> agenda_;
  std::deque<Told> steps_;
  std::vector<std::unique_ptr<Process>> processes_;
  Times done_;
};

TEST_F(AgendaTest, OfOneTimeThePlannedFirstIsFirst) {
  Step &a = step("a"), &b = step("b"), &c = step("c"), &late = step("late");
  late.at(9);
  c.at(5);
  a.at(5);
  b.at(5);
  a.at(5);  // planned anew: behind b
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"c", 5}, {"b", 5}, {"a", 5}, {"late", 9}}));
  EXPECT_EQ(agenda_->steps_done(), 4U);
}

TEST_F(AgendaTest, SoonIsAfterAllOfThatTime) {
  Step& soon = step("soon");
  step([&] {
    note("first");
    soon.soon();
    soon.soon();  // once is enough
    soon.at(5);   // which is soon, too
  }).at(5);
  step("second").at(5);
  step("later").at(6);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"first", 5}, {"second", 5}, {"soon", 5}, {"later", 6}}));
}

TEST_F(AgendaTest, WhatIsCancelledDoesNotHappen) {
  Step &a = step("a"), &b = step("b"), &never = step("never");
  never.at(UINT64_MAX);
  EXPECT_FALSE(never.planned());
  a.at(7);
  b.at(8);
  step([&] {
    b.cancel();
    a.soon();  // before its time
    EXPECT_TRUE(a.planned());
  }).at(3);
  step([&] { a.cancel(); }).at(3);
  step([&] { b.at(4); }).at(3);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"b", 4}}));
}

// Steps that plan and cancel each other at random, against a list that is searched for the first at every turn.
TEST_F(AgendaTest, RandomPlansAgainstASortedList) {
  struct Model {
    std::multimap<std::pair<std::uint64_t, std::uint64_t>, int> list;  // time, order
    std::uint64_t planned = 0;
    void cancel(int i) {
      for (auto at = list.begin(); at != list.end(); ++at) {
        if (at->second == i) return void(list.erase(at));
      }
    }
    bool has_at(int i, std::uint64_t time) const {
      for (const auto& [when, step] : list) {
        if (step == i && when.first == time) return true;
      }
      return false;
    }
    void at(int i, std::uint64_t time) {
      cancel(i);
      list.insert({{time, planned++}, i});
    }
  };
  constexpr int kSteps = 40;
  std::mt19937 random(7);
  Model model;
  int left = 20000;
  std::vector<Step*> steps;
  for (int i = 0; i < kSteps; ++i) {
    steps.push_back(&step([&, i] {
      const auto [when, first] = *model.list.begin();
      ASSERT_EQ(first, i);
      ASSERT_EQ(when.first, agenda_->now_fs());
      model.list.erase(model.list.begin());
      for (int n = static_cast<int>(random() % 4); n > 0 && left > 0; --n, --left) {
        const int other = static_cast<int>(random() % kSteps);
        const std::uint64_t now = agenda_->now_fs(), time = now + random() % 6;
        if (random() % 8 == 0) {
          model.cancel(other);
          steps[static_cast<std::size_t>(other)]->cancel();
        } else if (time > now || !model.has_at(other, now)) {  // what is to happen now keeps its place
          model.at(other, time);
          steps[static_cast<std::size_t>(other)]->at(time);
        }
      }
      if (left > 0 && model.list.empty()) {
        model.at(i, agenda_->now_fs() + 1);
        steps[static_cast<std::size_t>(i)]->at(agenda_->now_fs() + 1);
      }
    }));
  }
  model.at(0, 1);
  steps[0]->at(1);
  sc_core::sc_start();
  EXPECT_LE(left, 0);
  EXPECT_TRUE(model.list.empty());
}

// One process, which drives: the kernel has nothing to do until somebody has to know the time from it.
TEST_F(AgendaTest, AProcessThatDrivesGoesOnWithTheAgenda) {
  step("step").at(10);
  process([&] {
    agenda_->let_drive();
    agenda_->wait_until(10);  // steps of a time come before processes
    note("process");
    step("planned by it").at(15);
    agenda_->wait_until(20);
    note("process");
    EXPECT_EQ(kernel_fs(), 0U);
    EXPECT_EQ(agenda_->now_fs(), 20U);
    {
      const Agenda::Halt halt(*agenda_);
      EXPECT_EQ(kernel_fs(), 20U);
      sc_core::wait(3, sc_core::SC_FS);
      EXPECT_EQ(agenda_->now_fs(), 23U);
      agenda_->wait_until(26);
      EXPECT_EQ(kernel_fs(), 26U);
    }
    agenda_->wait_until(30);
    EXPECT_EQ(kernel_fs(), 26U);
    note("process");
  });
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"step", 10}, {"process", 10}, {"planned by it", 15}, {"process", 20}, {"process", 30}}));
}

TEST_F(AgendaTest, ProcessesOfOneAgendaTakeTurns) {
  for (const bool drive : {false, true}) {
    for (const std::uint64_t every : {2, 5}) {
      process([&, drive, every] {
        if (drive) agenda_->let_drive();
        for (int i = 0; i < 3; ++i) {
          agenda_->wait_until(agenda_->now_fs() + every + (drive ? 100 : 0));
          note("every " + std::to_string(every));
        }
      });
    }
  }
  step("step").at(5);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"every 2", 2},
                          {"every 2", 4},
                          {"step", 5},
                          {"every 5", 5},
                          {"every 2", 6},
                          {"every 5", 10},
                          {"every 5", 15},
                          {"every 2", 102},
                          {"every 5", 105},
                          {"every 2", 204},
                          {"every 5", 210},
                          {"every 2", 306},
                          {"every 5", 315}}));
}

// A process that does not drive finds the agenda as far as its own time, and the kernel as well, beside one that does.
TEST_F(AgendaTest, TheAgendaDoesNotRunAheadOfOtherProcesses) {
  std::uint64_t seen = 0;
  for (std::uint64_t t = 1; t <= 30; ++t) step([&seen, t] { seen = t; }).at(t);
  process([&] {
    for (const int wait : {5, 10, 3}) {
      sc_core::wait(wait, sc_core::SC_FS);
      EXPECT_EQ(agenda_->now_fs(), kernel_fs());
      EXPECT_GE(seen, kernel_fs() - 1);
      EXPECT_LE(seen, kernel_fs());
    }
    step("planned by it").at(25);
    agenda_->wait_until(22);
    EXPECT_EQ(kernel_fs(), 22U);
  });
  process([&] {
    agenda_->let_drive();
    for (const std::uint64_t time : {4, 12, 40}) {
      agenda_->wait_until(time);
      EXPECT_EQ(seen, std::min<std::uint64_t>(time, 30));
      note("driver");
    }
  });
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"driver", 4}, {"driver", 12}, {"planned by it", 25}, {"driver", 40}}));
  EXPECT_EQ(seen, 30U);
}

TEST_F(AgendaTest, AWakeIsHeardByWhoWaits) {
  Wake wake(*agenda_);
  bool open = false;
  const auto waiter = [&](const std::string& name) {
    return [&, name] {
      if (name == "one") agenda_->let_drive();
      while (!open) wake.wait();
      note(name);
    };
  };
  process(waiter("one"));
  process(waiter("two"));
  process([&] {
    wake.wait_until(4);  // nobody tells it by then
    note("in vain");
    wake.wait_until(100);
    note("told");
  });
  step([&] { wake.notify(); }).at(8);  // and the condition does not hold
  step([&] {
    open = true;
    wake.notify();
  }).at(9);
  sc_core::sc_start();
  ASSERT_EQ(done_.size(), 4U);
  EXPECT_EQ(done_[0], (std::pair<std::string, std::uint64_t>{"in vain", 4}));
  EXPECT_EQ(done_[1], (std::pair<std::string, std::uint64_t>{"told", 8}));
  EXPECT_EQ(done_[2].second, 9U);
  EXPECT_EQ(done_[3].second, 9U);
}

TEST_F(AgendaTest, WhatWasToldBeforeIsNotRemembered) {
  Wake wake(*agenda_);
  wake.notify();
  process([&] {
    wake.notify();
    wake.wait_until(6);
    note("waited");
  });
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"waited", 6}}));
}

TEST_F(AgendaTest, AnEventIsNotifiedAtThePlatformsTime) {
  sc_core::sc_event event;
  process([&] {
    sc_core::wait(event);
    EXPECT_EQ(kernel_fs(), 11U);
    note("now");
    sc_core::wait(event);
    EXPECT_EQ(kernel_fs(), 16U);
    note("after");
  });
  step([&] { agenda_->notify(event); }).at(11);
  step([&] { agenda_->notify(event, 4); }).at(12);
  step("between").at(14);
  step("later").at(18);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"now", 11}, {"between", 14}, {"after", 16}, {"later", 18}}));
}

}  // namespace
}  // namespace attnvp
