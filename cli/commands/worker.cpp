// `attnvp worker`: runs command lines received over a socket, each in a forked process.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/shared/progress.h"
#include "platform/machine/error.h"

namespace attnvp::cli {

namespace {

constexpr std::size_t kLongestRequest = 1U << 20;
constexpr std::size_t kMostFiles = 16;
constexpr int kAboveFiles = 64;  // above the file descriptors of a request

struct WorkerRequest {
  std::string text;
  std::vector<int> files;
};

// False if the peer has closed the connection.
bool receive(WorkerRequest& request) {
  request.text.resize(kLongestRequest);
  request.files.clear();
  iovec bytes{request.text.data(), request.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFiles)> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t n = ::recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC);
  if (n <= 0) return false;
  request.text.resize(static_cast<std::size_t>(n));
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    request.files.resize(count);
    std::memcpy(request.files.data(), CMSG_DATA(c), count * sizeof(int));
  }
  return true;
}

void say(int reply, const std::string& line) {
  if (::write(reply, line.data(), line.size()) < 0) return;  // the client has closed the pipe
}

// Moves the request's files to descriptors 0, 1, 2, ...; returns the reply's descriptor.
int place(const std::vector<int>& files) {
  std::vector<int> high;
  for (const int file : files) high.push_back(::fcntl(file, F_DUPFD_CLOEXEC, kAboveFiles));
  for (const int file : files) ::close(file);
  for (std::size_t i = 0; i + 1 < high.size(); ++i) {
    ::dup2(high[i], static_cast<int>(i));
    ::close(high[i]);
  }
  return high.back();
}

// Runs a request in the child process.
[[noreturn]] void serve(WorkerRequest& request) {
  std::vector<char*> fields;
  for (char* at = request.text.data(); at < request.text.data() + request.text.size(); at += std::strlen(at) + 1) {
    fields.push_back(at);
  }
  const int reply = place(request.files);
  ProgressBar::report_to(reply);
  if (::chdir(fields.front()) != 0) {
    std::fputs("attnvp: the working folder is no longer there\n", stderr);
    std::fflush(stderr);
    ::_exit(2);
  }
  std::size_t at = 1;
  ::clearenv();
  for (; at < fields.size() && *fields[at] != '\0'; ++at) ::putenv(fields[at]);
  static char program[] = "attnvp";
  if (at < fields.size()) fields[at] = program;  // replaces the empty field
  const auto count = static_cast<int>(fields.size() - at);
  fields.push_back(nullptr);
  const int status = main_again(count, fields.data() + at);
  std::fflush(nullptr);
  ::_exit(status);  // skips cleanup of the parent's objects
}

class Server {
 public:
  Server() {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, &before_);
    ::signal(SIGCHLD, [](int) {});  // lets the signal interrupt the wait
    ::signal(SIGPIPE, SIG_IGN);
  }

  void run() {
    WorkerRequest request;
    for (;;) {
      pollfd wanted{STDIN_FILENO, POLLIN, 0};
      const int ready = ::ppoll(&wanted, 1, nullptr, &before_);
      reap();
      if (ready <= 0) continue;
      if (!receive(request)) break;
      start(request);
    }
    for (const auto& [pid, reply] : replies_) ::kill(-pid, SIGKILL);
  }

 private:
  void start(WorkerRequest& request) {
    if (request.files.size() < 4 || request.text.empty() || request.text.back() != '\0') {
      for (const int file : request.files) ::close(file);
      return;  // the client sees end of file
    }
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(0);
      ::signal(SIGCHLD, SIG_DFL);
      ::signal(SIGPIPE, SIG_DFL);
      ::sigprocmask(SIG_SETMASK, &before_, nullptr);
      for (const auto& other : replies_) ::close(other.second);
      serve(request);
    }
    const int reply = request.files.back();
    request.files.pop_back();
    for (const int file : request.files) ::close(file);
    if (pid < 0) {
      ::close(reply);
      return;
    }
    ::setpgid(pid, pid);  // called in both processes, as either may run first
    replies_[pid] = reply;
    say(reply, fmt::format("pid {}\n", pid));
  }

  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto known = replies_.find(pid);
      if (known == replies_.end()) continue;
      say(known->second, WIFSIGNALED(status) ? fmt::format("signal {}\n", WTERMSIG(status))
                                             : fmt::format("exit {}\n", WEXITSTATUS(status)));
      ::close(known->second);
      replies_.erase(known);
    }
  }

  sigset_t before_{};
  std::map<pid_t, int> replies_;  // of running processes
};

// Serves requests on stdin, a Unix socket of type SOCK_SEQPACKET, until the peer closes it; then ends running
// processes.
//
// A request is one packet of fields, each terminated by a zero byte: working folder, environment (NAME=value), an empty
// field, and the arguments after the program's name. Its file descriptors become 0, 1, 2, 3, ... of the process; the
// last one is a pipe for reply lines: "pid N" (of the process and its group), "progress DONE TOTAL", and finally "exit
// STATUS" or "signal NUMBER".
int worker() {
  int kind = 0;
  socklen_t bytes = sizeof kind;
  if (::getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &kind, &bytes) != 0 || kind != SOCK_SEQPACKET) {
    throw config::ConfigError(
        "worker: stdin must be a socket of kind SOCK_SEQPACKET; the Python package starts workers");
  }
  Server().run();
  return 0;
}

}  // namespace

void add_worker(CLI::App& app, int& status) {
  app.add_subcommand("worker", "commands that come over stdin, a socket, each in a process of its own; for programs")
      ->callback([&status] { status = worker(); });
}

}  // namespace attnvp::cli
