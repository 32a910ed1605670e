// Sequential process of a module: a C++20 coroutine that runs until it waits for an event or a time.
//
//   sim::Process Stage::run() {
//     for (;;) {
//       while (queue_.empty()) co_await pushed_;   // sim::Event
//       co_await timer_.at(clock.after(latency));
//       ...
//     }
//   }
//
// A process starts when its function is called and ends with the Process object. Architectural state is in members of
// the module; the coroutine frame holds no state beyond the current wait.
#pragma once

#include <coroutine>
#include <utility>

#include "models/sim/event_queue.h"

namespace attnvp::sim {

class Process {
 public:
  struct promise_type {
    Process get_return_object() { return Process(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }  // to the caller of notify()
  };

  Process() = default;
  Process(Process&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Process& operator=(Process&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Process() {
    if (handle_ != nullptr) handle_.destroy();
  }
  explicit operator bool() const { return handle_ != nullptr; }  // it was started

 private:
  explicit Process(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_ = nullptr;
};

// Counting semaphore: `co_await semaphore` takes one count, after a release if there is none. At most one process
// waits.
class Semaphore {
 public:
  void release() {
    ++count_;
    if (waiter_ != nullptr) std::exchange(waiter_, nullptr).resume();
  }
  struct Awaiter {
    Semaphore& semaphore;
    bool await_ready() const noexcept { return semaphore.count_ > 0; }
    void await_suspend(std::coroutine_handle<> process) noexcept { semaphore.waiter_ = process; }
    void await_resume() noexcept { --semaphore.count_; }
  };
  Awaiter operator co_await() { return {*this}; }
  unsigned count() const { return count_; }
  bool has_waiter() const { return waiter_ != nullptr; }

 private:
  unsigned count_ = 0;
  std::coroutine_handle<> waiter_ = nullptr;
};

// End of an operation that a process starts and another component completes, immediately or later:
//   done.begin(); start(); co_await done.end();
class Completion {
 public:
  void begin() { is_done_ = false; }
  void complete() {
    is_done_ = true;
    if (waiter_ != nullptr) std::exchange(waiter_, nullptr).resume();
  }
  // By value: GCC 12 copies an awaitable that a function returns by reference.
  struct Awaiter {
    Completion& completion;
    bool await_ready() const noexcept { return completion.is_done_; }
    void await_suspend(std::coroutine_handle<> process) noexcept { completion.waiter_ = process; }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] Awaiter end() { return {*this}; }
  bool is_done() const { return is_done_; }
  bool has_waiter() const { return waiter_ != nullptr; }

 private:
  bool is_done_ = false;
  std::coroutine_handle<> waiter_ = nullptr;
};

}  // namespace attnvp::sim
