#include "explore/processes/processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <thread>

#include "platform/run/schedule.h"

namespace attnvp::explore {

namespace {

[[noreturn]] void fail(const char* what) {
  throw job::RunError(fmt::format("work cannot be done by processes of its own: {} failed", what));
}

// Counter that all processes share: the first item that is not taken.
class NextItem {
 public:
  NextItem() {
    void* const page = ::mmap(nullptr, sizeof *next_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) fail("mmap");
    next_ = new (page) std::atomic<std::size_t>(0);
  }
  ~NextItem() { ::munmap(next_, sizeof *next_); }
  NextItem(const NextItem&) = delete;
  NextItem& operator=(const NextItem&) = delete;
  std::size_t take() { return next_->fetch_add(1); }

 private:
  static_assert(std::atomic<std::size_t>::is_always_lock_free, "processes share the counter");
  std::atomic<std::size_t>* next_;
};

struct ForkedChild {
  pid_t pid = -1;
  int from = -1;       // pipe of lines "ITEM RESULT"
  std::string text{};  // the beginning of the next line
};

// Children that are ended, at the latest, with this object.
class Children {
 public:
  Children() = default;
  ~Children() {
    for (const ForkedChild& child : all_) {
      if (child.from < 0) continue;
      ::kill(child.pid, SIGTERM);
      ::close(child.from);
      ::waitpid(child.pid, nullptr, 0);
    }
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  void add(ForkedChild child) { all_.push_back(std::move(child)); }
  // Reads the lines of all children until all have ended.
  void read(std::vector<std::string>& lines, const ItemDone& item_done) {
    std::vector<pollfd> wanted;
    for (const ForkedChild& child : all_) wanted.push_back({child.from, POLLIN, 0});
    std::size_t done = 0;
    for (std::size_t open = all_.size(); open > 0;) {
      if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) fail("poll");
      for (std::size_t k = 0; k < all_.size(); ++k) {
        ForkedChild& child = all_[k];
        if (wanted[k].fd < 0 || wanted[k].revents == 0) continue;
        char buffer[4096];
        const ssize_t n = ::read(child.from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
          ::close(child.from);
          wanted[k].fd = child.from = -1;
          ::waitpid(child.pid, nullptr, 0);
          --open;
          continue;
        }
        child.text.append(buffer, static_cast<std::size_t>(n));
        for (std::size_t end = 0; (end = child.text.find('\n')) != std::string::npos; child.text.erase(0, end + 1)) {
          std::size_t digits = 0;
          const std::size_t item = std::stoul(child.text, &digits);
          lines[item] = child.text.substr(digits + 1, end - digits - 1);
          if (item_done) item_done(++done, item, lines[item]);
        }
      }
    }
  }

 private:
  std::vector<ForkedChild> all_;
};

}  // namespace

std::vector<std::string> in_processes(std::size_t count, unsigned jobs,
                                      const std::function<std::string(std::size_t)>& work, const ItemDone& item_done) {
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t n = std::min<std::size_t>(jobs, count);
  std::fflush(nullptr);  // otherwise every child writes it again
  NextItem next;
  Children children;
  for (std::size_t k = 0; k < n; ++k) {
    int ends[2];
    if (::pipe(ends) != 0) fail("pipe");
    const pid_t pid = ::fork();
    if (pid < 0) fail("fork");
    if (pid > 0) {
      ::close(ends[1]);
      children.add({pid, ends[0]});
      continue;
    }
    ::close(ends[0]);
    std::FILE* const to = ::fdopen(ends[1], "w");
    for (std::size_t i = next.take(); i < count; i = next.take()) {
      std::fputs(fmt::format("{} {}\n", i, work(i)).c_str(), to);
      std::fflush(to);
    }
    std::fclose(to);
    ::_exit(0);  // skips the parent's atexit handlers
  }
  std::vector<std::string> lines(count);
  children.read(lines, item_done);
  return lines;
}

}  // namespace attnvp::explore
