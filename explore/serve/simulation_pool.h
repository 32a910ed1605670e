// Pool of simulator processes. Each answers one request at a time and keeps running. A process that crashes, exceeds
// its time, or works for a client that has left is ended and replaced.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "explore/serve/launcher.h"

namespace attnvp::explore {

struct CallError : std::runtime_error {
  CallError(int status_of_http, const std::string& what) : std::runtime_error(what), status(status_of_http) {}
  int status;  // of HTTP
};

class SimulationPool {
 public:
  struct SimulationCall {
    std::string request;
    bool is_quick = false;  // one process is reserved for quick calls
    int seconds = 60;       // time limit, from the start of the work
    std::function<bool()> is_abandoned;
  };

  SimulationPool(Launcher& launcher, unsigned processes);
  ~SimulationPool();
  SimulationPool(const SimulationPool&) = delete;
  SimulationPool& operator=(const SimulationPool&) = delete;

  // Returns the answer. Throws CallError: too many calls are waiting, time limit, crash, or abandoned.
  std::string call(const SimulationCall& call);

 private:
  struct PoolProcess {
    Launcher::Child child;
    bool is_busy = false;
  };
  std::size_t acquire(const SimulationCall& call);
  std::string exchange(PoolProcess& process, const SimulationCall& call);
  void end(PoolProcess& process);

  Launcher& launcher_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PoolProcess> processes_;
  std::size_t busy_slow_ = 0, waiting_ = 0;
};

}  // namespace attnvp::explore
