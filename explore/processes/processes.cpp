#include "explore/processes/processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "platform/run/schedule.h"

namespace attnvp::explore {

namespace {

struct ForkedChild {
  pid_t pid = -1;
  int from = -1;  // pipe with one line per item
  std::string text{};
};

[[noreturn]] void fail(const char* what) {
  throw job::RunError(fmt::format("work cannot be done by processes of its own: {} failed", what));
}

// Reads the output of all children until all have ended.
void read_all(std::vector<ForkedChild>& children, const ProcessProgress& progress) {
  std::size_t done = 0, open = children.size();
  std::vector<pollfd> wanted;
  for (const ForkedChild& child : children) wanted.push_back({child.from, POLLIN, 0});
  while (open > 0) {
    if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) fail("poll");
    for (std::size_t k = 0; k < children.size(); ++k) {
      if (wanted[k].fd < 0 || wanted[k].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = ::read(wanted[k].fd, buffer, sizeof buffer);
      if (n > 0) {
        children[k].text.append(buffer, static_cast<std::size_t>(n));
        done += static_cast<std::size_t>(std::count(buffer, buffer + n, '\n'));
        if (progress) progress(done);
      } else {
        ::close(wanted[k].fd);
        wanted[k].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

std::vector<std::string> in_processes(std::size_t count, unsigned jobs,
                                      const std::function<std::string(std::size_t)>& work,
                                      const ProcessProgress& progress) {
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t n = std::min<std::size_t>(jobs, count);
  std::fflush(nullptr);  // otherwise every child writes it again
  std::vector<ForkedChild> children;
  for (std::size_t k = 0; k < n; ++k) {
    int ends[2];
    if (::pipe(ends) != 0) fail("pipe");
    const pid_t pid = ::fork();
    if (pid < 0) fail("fork");
    if (pid > 0) {
      ::close(ends[1]);
      children.push_back({pid, ends[0], {}});
      continue;
    }
    ::close(ends[0]);
    std::FILE* const to = ::fdopen(ends[1], "w");
    for (std::size_t i = k; i < count; i += n) {
      std::fputs((work(i) + "\n").c_str(), to);
      std::fflush(to);
    }
    std::fclose(to);
    ::_exit(0);  // skips the parent's atexit handlers
  }
  std::vector<std::string> lines(count);
  read_all(children, progress);
  for (std::size_t k = 0; k < n; ++k) {
    const std::string& text = children[k].text;
    ::waitpid(children[k].pid, nullptr, 0);
    std::size_t at = 0;
    for (std::size_t i = k; i < count; i += n) {
      const std::size_t end = text.find('\n', at);
      if (end == std::string::npos) break;
      lines[i] = text.substr(at, end - at);
      at = end + 1;
    }
  }
  return lines;
}

}  // namespace attnvp::explore
