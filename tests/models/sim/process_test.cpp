// Processes (coroutines) on the event queue: when they run, and what a notification without a waiter does.
#include "models/sim/process.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace attnvp::sim {
namespace {

using Log = std::vector<std::pair<std::string, std::uint64_t>>;

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    queue_ = std::make_unique<EventQueue>("event_queue");
  }
  ~ProcessTest() override {
    queue_.reset();
    sc_core::sc_get_curr_simcontext()->reset();
  }
  void note(const std::string& what) { log_.emplace_back(what, queue_->now_fs()); }

  std::unique_ptr<EventQueue> queue_;
  Log log_;
};

TEST_F(ProcessTest, WaitsForTimesAndEvents) {
  Event timer(*queue_), go(*queue_);
  const auto run = [&]() -> Process {
    note("begin");
    co_await timer.at(5);
    note("timer");
    co_await go;
    note("go");
    co_await timer.at(3);  // is over: at this time
    note("past");
  };
  const Process process = run();
  EXPECT_EQ(log_, (Log{{"begin", 0}}));
  EXPECT_FALSE(go.has_waiter());
  go.notify();  // no process waits: lost
  go.notify_at(9);
  sc_core::sc_start();
  EXPECT_EQ(log_, (Log{{"begin", 0}, {"timer", 5}, {"go", 9}, {"past", 9}}));
}

TEST_F(ProcessTest, ImmediateNotificationRunsWithinTheCall) {
  Event event(*queue_);
  const auto run = [&]() -> Process {
    co_await event;
    note("first");
    co_await event;
    note("second");
  };
  const Process process = run();
  event.notify();
  note("after the call");
  event.notify_delta();
  note("before the delta");
  sc_core::sc_start();
  EXPECT_EQ(log_, (Log{{"first", 0}, {"after the call", 0}, {"before the delta", 0}, {"second", 0}}));
}

TEST_F(ProcessTest, SemaphoreCountsReleases) {
  Semaphore semaphore;
  int taken = 0;
  const auto run = [&]() -> Process {
    for (;;) {
      co_await semaphore;
      ++taken;
      if (taken == 2) semaphore.release();  // by itself, while it runs
    }
  };
  const Process process = run();
  EXPECT_EQ(taken, 0);
  semaphore.release();
  EXPECT_EQ(taken, 1);
  semaphore.release();
  EXPECT_EQ(taken, 3);
}

TEST_F(ProcessTest, CompletionMayComeBeforeTheWaitOrAfter) {
  Completion done;
  int ended = 0;
  const auto run = [&]() -> Process {
    done.begin();
    done.complete();
    co_await done.end();
    ended = 1;
    done.begin();
    co_await done.end();
    ended = 2;
  };
  const Process process = run();
  EXPECT_EQ(ended, 1);
  done.complete();
  EXPECT_EQ(ended, 2);
}

// Two stages with a place between them, against the times worked out by hand: the first takes 4, the second 7.
TEST_F(ProcessTest, StagesOverlap) {
  Event first_timer(*queue_), second_timer(*queue_), full(*queue_), empty(*queue_);
  bool is_full = false;
  const auto first = [&]() -> Process {
    for (int i = 0; i < 3; ++i) {
      co_await first_timer.at(queue_->now_fs() + 4);
      while (is_full) co_await empty;
      is_full = true;
      full.notify_delta();
    }
  };
  const auto second = [&]() -> Process {
    for (;;) {
      while (!is_full) co_await full;
      is_full = false;
      empty.notify_delta();
      co_await second_timer.at(queue_->now_fs() + 7);
      note("done");
    }
  };
  const Process one = first(), two = second();
  sc_core::sc_start();
  EXPECT_EQ(log_, (Log{{"done", 11}, {"done", 18}, {"done", 25}}));
}

TEST_F(ProcessTest, ExceptionsReachTheNotifier) {
  Event event(*queue_);
  const auto run = [&]() -> Process {
    co_await event;
    throw std::runtime_error("no");
  };
  const Process process = run();
  EXPECT_THROW(event.notify(), std::runtime_error);
  event.notify();  // it has ended
}

TEST_F(ProcessTest, DestroyedWhileItWaits) {
  struct Guard {
    explicit Guard(bool& gone) : is_gone(gone) {}
    ~Guard() { is_gone = true; }
    bool& is_gone;
  };
  bool gone = false;
  Event event(*queue_);
  const auto run = [&]() -> Process {
    const Guard guard(gone);
    co_await event;
  };
  {
    const Process process = run();
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace attnvp::sim
