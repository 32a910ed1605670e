// Processes of the server. The launcher is a process with one thread that forks the workers. The server has threads,
// and a fork of a process with threads is unsafe. Workers end when the launcher or the server ends.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace attnvp::explore {

class Launcher {
 public:
  enum class WorkerRole : char { kSimulator = 's', kSweep = 'w' };
  using WorkerBody =
      std::function<void(WorkerRole role, int socket)>;  // body of a worker; the process ends when it returns

  struct Child {
    pid_t pid = -1;
    int socket = -1;  // stream to the worker; the caller closes it
  };

  // Forks the launcher; call before the first thread. Throws job::RunError.
  explicit Launcher(const WorkerBody& work);
  ~Launcher();  // ends all workers
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Both may be called by several threads.
  Child start(WorkerRole role);  // throws job::RunError
  void kill(pid_t pid);

 private:
  std::mutex mutex_;
  pid_t pid_ = -1;
  int control_ = -1;
};

// Messages on a worker's socket: a length and so many bytes. Both return false if the other side has closed.
bool send_message(int socket, const std::string& text);
bool receive_message(int socket, std::string& text);

// Pool of simulator processes. Each answers one request at a time and keeps running. A process that crashes, exceeds
// its time, or works for a client that has left is ended and replaced.

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
