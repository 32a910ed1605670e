#include "explore/serve/simulation_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace attnvp::explore {

namespace {
constexpr std::size_t kMostWaiting = 32;
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr int kServiceUnavailable = 503, kGatewayTimeout = 504, kInternalError = 500, kClientLeft = 499;
}  // namespace

SimulationPool::SimulationPool(Launcher& launcher, unsigned processes) : launcher_(launcher), processes_(processes) {}

SimulationPool::~SimulationPool() {
  for (PoolProcess& process : processes_) end(process);
}

void SimulationPool::end(PoolProcess& process) {
  if (process.child.pid < 0) return;
  launcher_.kill(process.child.pid);
  ::close(process.child.socket);
  process.child = {};
}

std::size_t SimulationPool::acquire(const SimulationCall& call) {
  std::unique_lock lock(mutex_);
  if (waiting_ >= kMostWaiting) {
    throw CallError(kServiceUnavailable, fmt::format("{} simulations are waiting already; try again later", waiting_));
  }
  ++waiting_;
  const auto leave = [&] { --waiting_; };
  for (;;) {
    const bool is_allowed = call.is_quick || busy_slow_ + 1 < processes_.size() || processes_.size() == 1;
    for (std::size_t i = 0; is_allowed && i < processes_.size(); ++i) {
      // Slow calls take the last free process, so that quick ones find the same process warm.
      const std::size_t at = call.is_quick ? i : processes_.size() - 1 - i;
      if (processes_[at].is_busy) continue;
      processes_[at].is_busy = true;
      if (!call.is_quick) ++busy_slow_;
      leave();
      return at;
    }
    changed_.wait_for(lock, kLook);
    if (call.is_abandoned && call.is_abandoned()) {
      leave();
      throw CallError(kClientLeft, "the client has left");
    }
  }
}

std::string SimulationPool::exchange(PoolProcess& process, const SimulationCall& call) {
  char byte = 0;
  const bool has_died = process.child.pid >= 0 && ::recv(process.child.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  if (has_died) end(process);
  if (process.child.pid < 0) process.child = launcher_.start(Launcher::WorkerRole::kSimulator);
  const auto died = [&] {
    end(process);
    throw CallError(kInternalError, "the simulator ended before its answer; the next request starts another one");
  };
  if (!send_message(process.child.socket, call.request)) died();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(call.seconds);
  for (;;) {
    pollfd wanted{process.child.socket, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(kLook.count())) > 0) break;
    if (call.is_abandoned && call.is_abandoned()) {
      end(process);
      throw CallError(kClientLeft, "the client has left");
    }
    if (std::chrono::steady_clock::now() < limit) continue;
    end(process);
    throw CallError(kGatewayTimeout, fmt::format("the simulation takes more than {} s; allowed is a smaller job, or "
                                                 "`attnvp serve --limit`",
                                                 call.seconds));
  }
  std::string answer;
  if (!receive_message(process.child.socket, answer)) died();
  return answer;
}

std::string SimulationPool::call(const SimulationCall& call) {
  const std::size_t at = acquire(call);
  const auto release = [&] {
    const std::lock_guard lock(mutex_);
    processes_[at].is_busy = false;
    if (!call.is_quick) --busy_slow_;
    changed_.notify_all();
  };
  try {
    std::string answer = exchange(processes_[at], call);
    release();
    return answer;
  } catch (...) {
    release();
    throw;
  }
}

}  // namespace attnvp::explore
