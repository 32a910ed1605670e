// Events of the queue against a plain sorted list, and beside SystemC processes.
#include "models/sim/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "models/sim/process.h"

namespace attnvp {
namespace {

using Times = std::vector<std::pair<std::string, std::uint64_t>>;

// A step that does what it is told.
struct Told {
  Told(sim::EventQueue& event_queue, std::function<void()> what)
      : does(std::move(what)), step(event_queue), process(run()) {}
  sim::Process run() {
    for (;;) {
      co_await step;
      does();
    }
  }
  std::function<void()> does;
  sim::Event step;
  sim::Process process;
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

class EventQueueTest : public testing::Test {
 protected:
  EventQueueTest() {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    event_queue_ = std::make_unique<sim::EventQueue>("event_queue");
  }
  ~EventQueueTest() override {
    processes_.clear();
    steps_.clear();
    event_queue_.reset();
    sc_core::sc_get_curr_simcontext()->reset();
  }
  sim::Event& step(std::function<void()> what) { return steps_.emplace_back(*event_queue_, std::move(what)).step; }
  sim::Event& step(const std::string& name) {
    return step([this, name] { note(name); });
  }
  void process(std::function<void()> what) {
    const std::string name = "process" + std::to_string(processes_.size());
    processes_.push_back(std::make_unique<Process>(name.c_str(), std::move(what)));
  }
  void note(const std::string& name) { done_.emplace_back(name, event_queue_->now_fs()); }
  static std::uint64_t kernel_fs() { return sc_core::sc_time_stamp().value(); }

  std::unique_ptr<sim::EventQueue> event_queue_;
  std::deque<Told> steps_;
  std::vector<std::unique_ptr<Process>> processes_;
  Times done_;
};

TEST_F(EventQueueTest, EventsOfOneTimeRunInTheOrderOfScheduling) {
  sim::Event &a = step("a"), &b = step("b"), &c = step("c"), &late = step("late");
  late.notify_at(9);
  c.notify_at(5);
  a.notify_at(5);
  b.notify_at(5);
  a.notify_at(5);  // planned anew: behind b
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"c", 5}, {"b", 5}, {"a", 5}, {"late", 9}}));
  EXPECT_EQ(event_queue_->events_done(), 4U);
}

TEST_F(EventQueueTest, DeltaNotificationRunsAfterAllOfThatTime) {
  sim::Event& soon = step("soon");
  step([&] {
    note("first");
    soon.notify_delta();
    soon.notify_delta();  // once is enough
    soon.notify_at(5);    // which is soon, too
  }).notify_at(5);
  step("second").notify_at(5);
  step("later").notify_at(6);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"first", 5}, {"second", 5}, {"soon", 5}, {"later", 6}}));
}

TEST_F(EventQueueTest, CancelledEventsDoNotRun) {
  sim::Event &a = step("a"), &b = step("b"), &never = step("never");
  never.notify_at(UINT64_MAX);
  EXPECT_FALSE(never.is_pending());
  a.notify_at(7);
  b.notify_at(8);
  step([&] {
    b.cancel();
    a.notify_delta();  // before its time
    EXPECT_TRUE(a.is_pending());
  }).notify_at(3);
  step([&] { a.cancel(); }).notify_at(3);
  step([&] { b.notify_at(4); }).notify_at(3);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"b", 4}}));
}

// Steps that plan and cancel each other at random, against a list that is searched for the first at every turn.
TEST_F(EventQueueTest, RandomSchedulesAgainstASortedList) {
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
  std::vector<sim::Event*> steps;
  for (int i = 0; i < kSteps; ++i) {
    steps.push_back(&step([&, i] {
      const auto [when, first] = *model.list.begin();
      ASSERT_EQ(first, i);
      ASSERT_EQ(when.first, event_queue_->now_fs());
      model.list.erase(model.list.begin());
      for (int n = static_cast<int>(random() % 4); n > 0 && left > 0; --n, --left) {
        const int other = static_cast<int>(random() % kSteps);
        const std::uint64_t now = event_queue_->now_fs(), time = now + random() % 6;
        if (random() % 8 == 0) {
          model.cancel(other);
          steps[static_cast<std::size_t>(other)]->cancel();
        } else if (time > now || !model.has_at(other, now)) {  // what is to happen now keeps its place
          model.at(other, time);
          steps[static_cast<std::size_t>(other)]->notify_at(time);
        }
      }
      if (left > 0 && model.list.empty()) {
        model.at(i, event_queue_->now_fs() + 1);
        steps[static_cast<std::size_t>(i)]->notify_at(event_queue_->now_fs() + 1);
      }
    }));
  }
  model.at(0, 1);
  steps[0]->notify_at(1);
  sc_core::sc_start();
  EXPECT_LE(left, 0);
  EXPECT_TRUE(model.list.empty());
}

// One process, which drives: the kernel has nothing to do until somebody has to know the time from it.
TEST_F(EventQueueTest, AThreadThatRunsAheadRunsTheQueue) {
  step("step").notify_at(10);
  process([&] {
    const sim::EventQueue::RunAheadGuard ahead(*event_queue_);
    event_queue_->wait_until(10);  // steps of a time come before processes
    note("process");
    step("planned by it").notify_at(15);
    event_queue_->wait_until(20);
    note("process");
    EXPECT_EQ(kernel_fs(), 0U);
    EXPECT_EQ(event_queue_->now_fs(), 20U);
    {
      const sim::EventQueue::KernelTimeGuard halt(*event_queue_);
      EXPECT_EQ(kernel_fs(), 20U);
      sc_core::wait(3, sc_core::SC_FS);
      EXPECT_EQ(event_queue_->now_fs(), 23U);
      event_queue_->wait_until(26);
      EXPECT_EQ(kernel_fs(), 26U);
    }
    event_queue_->wait_until(30);
    EXPECT_EQ(kernel_fs(), 26U);
    note("process");
  });
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"step", 10}, {"process", 10}, {"planned by it", 15}, {"process", 20}, {"process", 30}}));
}

TEST_F(EventQueueTest, ThreadsOfOneQueueTakeTurns) {
  for (const bool drive : {false, true}) {
    for (const std::uint64_t every : {2, 5}) {
      process([&, drive, every] {
        std::optional<sim::EventQueue::RunAheadGuard> ahead;
        if (drive) ahead.emplace(*event_queue_);
        for (int i = 0; i < 3; ++i) {
          event_queue_->wait_until(event_queue_->now_fs() + every + (drive ? 100 : 0));
          note("every " + std::to_string(every));
        }
      });
    }
  }
  step("step").notify_at(5);
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

// A process that does not drive finds the event_queue as far as its own time, and the kernel as well, beside one that
// does.
TEST_F(EventQueueTest, TheQueueDoesNotRunAheadOfOtherProcesses) {
  std::uint64_t seen = 0;
  for (std::uint64_t t = 1; t <= 30; ++t) step([&seen, t] { seen = t; }).notify_at(t);
  process([&] {
    for (const int wait : {5, 10, 3}) {
      sc_core::wait(wait, sc_core::SC_FS);
      EXPECT_EQ(event_queue_->now_fs(), kernel_fs());
      EXPECT_GE(seen, kernel_fs() - 1);
      EXPECT_LE(seen, kernel_fs());
    }
    step("planned by it").notify_at(25);
    event_queue_->wait_until(22);
    EXPECT_EQ(kernel_fs(), 22U);
  });
  process([&] {
    const sim::EventQueue::RunAheadGuard ahead(*event_queue_);
    for (const std::uint64_t time : {4, 12, 40}) {
      event_queue_->wait_until(time);
      EXPECT_EQ(seen, std::min<std::uint64_t>(time, 30));
      note("driver");
    }
  });
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"driver", 4}, {"driver", 12}, {"planned by it", 25}, {"driver", 40}}));
  EXPECT_EQ(seen, 30U);
}

// Threads that are ready at one time: those that wait for it, in the order of their waits, then those whose condition
// was notified. Events that one of them schedules come before the next.
class OrderOfThreads : public EventQueueTest, public testing::WithParamInterface<bool> {};

TEST_P(OrderOfThreads, IsThatOfTheirWaitsWithAndWithoutRunAhead) {
  event_queue_->set_run_ahead(GetParam());
  sim::Condition changed(*event_queue_);
  sim::Event& soon = step("planned by it");
  const auto waits = [&](const std::string& name, std::uint64_t begin) {
    process([&, name, begin] {
      const sim::EventQueue::RunAheadGuard ahead(*event_queue_);
      event_queue_->wait_until(begin);
      event_queue_->wait_until(20);
      if (name == "b") soon.notify_delta();
      note(name);
    });
  };
  for (const char* name : {"told first", "told last"}) {
    process([&, name] {
      const sim::EventQueue::RunAheadGuard ahead(*event_queue_);
      if (name == std::string("told last")) event_queue_->wait_until(2);
      changed.wait();
      note(name);
    });
  }
  waits("c", 7);
  waits("a", 3);
  waits("b", 5);
  step([&] { changed.notify(); }).notify_at(20);
  step("step").notify_at(20);
  std::vector<std::uint64_t> kernel_times;
  step([&] { kernel_times.push_back(kernel_fs()); }).notify_at(10);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"step", 20},
                          {"a", 20},
                          {"b", 20},
                          {"planned by it", 20},
                          {"c", 20},
                          {"told first", 20},
                          {"told last", 20}}));
  EXPECT_EQ(kernel_times.front() == 10, !GetParam());
}

INSTANTIATE_TEST_SUITE_P(EventQueue, OrderOfThreads, testing::Bool());

// A thread that ends leaves the queue to the kernel.
TEST_F(EventQueueTest, EventsRunAfterTheThreadThatRanTheQueueHasEnded) {
  process([&] {
    const sim::EventQueue::RunAheadGuard ahead(*event_queue_);
    event_queue_->wait_until(4);
  });
  process([&] {
    const sim::EventQueue::RunAheadGuard ahead(*event_queue_);
    event_queue_->wait_until(9);
    note("other");
  });
  step("step").notify_at(6);
  step("last").notify_at(12);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"step", 6}, {"other", 9}, {"last", 12}}));
}

TEST_F(EventQueueTest, AConditionWakesWaitingThreads) {
  sim::Condition wake(*event_queue_);
  bool open = false;
  const auto waiter = [&](const std::string& name) {
    return [&, name] {
      std::optional<sim::EventQueue::RunAheadGuard> ahead;
      if (name == "one") ahead.emplace(*event_queue_);
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
  step([&] { wake.notify(); }).notify_at(8);  // and the condition does not hold
  step([&] {
    open = true;
    wake.notify();
  }).notify_at(9);
  sc_core::sc_start();
  ASSERT_EQ(done_.size(), 4U);
  EXPECT_EQ(done_[0], (std::pair<std::string, std::uint64_t>{"in vain", 4}));
  EXPECT_EQ(done_[1], (std::pair<std::string, std::uint64_t>{"told", 8}));
  EXPECT_EQ(done_[2].second, 9U);
  EXPECT_EQ(done_[3].second, 9U);
}

TEST_F(EventQueueTest, EarlierNotificationsAreNotRemembered) {
  sim::Condition wake(*event_queue_);
  wake.notify();
  process([&] {
    wake.notify();
    wake.wait_until(6);
    note("waited");
  });
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"waited", 6}}));
}

TEST_F(EventQueueTest, SystemCEventsAreNotifiedAtThePlatformsTime) {
  sc_core::sc_event event;
  process([&] {
    sc_core::wait(event);
    EXPECT_EQ(kernel_fs(), 11U);
    note("now");
    sc_core::wait(event);
    EXPECT_EQ(kernel_fs(), 16U);
    note("after");
  });
  step([&] { event_queue_->notify(event); }).notify_at(11);
  step([&] { event_queue_->notify(event, 4); }).notify_at(12);
  step("between").notify_at(14);
  step("later").notify_at(18);
  sc_core::sc_start();
  EXPECT_EQ(done_, (Times{{"now", 11}, {"between", 14}, {"after", 16}, {"later", 18}}));
}

}  // namespace
}  // namespace attnvp
