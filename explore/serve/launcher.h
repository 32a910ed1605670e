// Launcher: a process with one thread that forks the server's workers. The server has threads, and a fork of a process
// with threads is unsafe. Workers end when the launcher or the server ends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <string>

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

}  // namespace attnvp::explore
