#include "explore/serve/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>

#include "platform/run/schedule.h"

namespace attnvp::explore {

namespace {

constexpr int kReapMilliseconds = 200;

struct LaunchOrder {
  char kind = 0;  // a role: start; 'k': kill
  pid_t pid = -1;
};
constexpr char kKill = 'k';

[[noreturn]] void fail(const char* what) {
  throw job::RunError(fmt::format("a process of the server cannot be started: {}: {}", what, std::strerror(errno)));
}

void die_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
}

bool send_order(int control, const LaunchOrder& order, int socket) {
  iovec bytes{const_cast<LaunchOrder*>(&order), sizeof order};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (socket >= 0) {
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &socket, sizeof socket);
  }
  return ::sendmsg(control, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof order);
}

bool receive_order(int control, LaunchOrder& order, int& socket) {
  iovec bytes{&order, sizeof order};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  socket = -1;
  if (::recvmsg(control, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof order)) return false;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) std::memcpy(&socket, CMSG_DATA(header), sizeof socket);
  return true;
}

// Main loop of the launcher. A process id is valid until this thread has waited for it, so that kill() cannot reach
// another process.
[[noreturn]] void launch(int control, const Launcher::WorkerBody& work) {
  std::set<pid_t> children;
  const pid_t self = ::getpid();
  for (;;) {
    pollfd wanted{control, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, kReapMilliseconds);
    for (pid_t ended = 0; (ended = ::waitpid(-1, nullptr, WNOHANG)) > 0;) children.erase(ended);
    if (ready <= 0) continue;
    LaunchOrder order;
    int socket = -1;
    if (!receive_order(control, order, socket)) break;
    if (order.kind == kKill) {
      if (children.count(order.pid) != 0) ::kill(order.pid, SIGKILL);
      continue;
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
      die_with_parent(self);
      ::close(control);
      std::signal(SIGTERM, SIG_DFL);
      std::signal(SIGHUP, SIG_DFL);
      work(static_cast<Launcher::WorkerRole>(order.kind), socket);
      ::_exit(0);  // skips cleanup of the server's objects
    }
    if (socket >= 0) ::close(socket);
    if (pid > 0) children.insert(pid);
    if (::send(control, &pid, sizeof pid, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof pid)) break;
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  ::_exit(0);
}

bool transfer(int socket, char* at, std::size_t bytes, bool is_sent) {
  while (bytes > 0) {
    const ssize_t n = is_sent ? ::send(socket, at, bytes, MSG_NOSIGNAL) : ::recv(socket, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

Launcher::Launcher(const WorkerBody& work) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  std::fflush(nullptr);  // otherwise every child writes it again
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    die_with_parent(parent);
    ::close(ends[0]);
    std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches the whole process group; the server ends this process
    std::signal(SIGPIPE, SIG_IGN);
    launch(ends[1], work);
  }
  ::close(ends[1]);
  control_ = ends[0];
}

Launcher::~Launcher() {
  ::close(control_);
  ::waitpid(pid_, nullptr, 0);
}

Launcher::Child Launcher::start(WorkerRole role) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  Child child{-1, ends[0]};
  {
    const std::lock_guard lock(mutex_);
    const bool sent = send_order(control_, {static_cast<char>(role), -1}, ends[1]);
    if (!sent || ::recv(control_, &child.pid, sizeof child.pid, 0) != static_cast<ssize_t>(sizeof child.pid)) {
      child.pid = -1;
    }
  }
  ::close(ends[1]);
  if (child.pid < 0) {
    ::close(ends[0]);
    fail("fork");
  }
  return child;
}

void Launcher::kill(pid_t pid) {
  const std::lock_guard lock(mutex_);
  send_order(control_, {kKill, pid}, -1);
}

bool send_message(int socket, const std::string& text) {
  std::uint64_t bytes = text.size();
  std::string message(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  message += text;
  return transfer(socket, message.data(), message.size(), true);
}

bool receive_message(int socket, std::string& text) {
  constexpr std::uint64_t kMostBytes = 256U << 20U;
  std::uint64_t bytes = 0;
  if (!transfer(socket, reinterpret_cast<char*>(&bytes), sizeof bytes, false) || bytes > kMostBytes) return false;
  text.resize(bytes);
  return transfer(socket, text.data(), bytes, false);
}

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
