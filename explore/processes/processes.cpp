#include "explore/processes/processes.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "platform/job/schedule.h"

namespace attnvp::explore {

namespace {

struct Child {
  pid_t pid = -1;
  int from = -1;  // a pipe with a line a piece of work
};

[[noreturn]] void fail(const char* what) {
  throw job::RunError(fmt::format("work cannot be done by processes of its own: {} failed", what));
}

std::string all_of(int from) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(from);
  return text;
}

}  // namespace

std::vector<std::string> in_processes(std::size_t count, unsigned jobs,
                                      const std::function<std::string(std::size_t)>& work) {
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t n = std::min<std::size_t>(jobs, count);
  std::fflush(nullptr);  // or every child writes it again
  std::vector<Child> children;
  for (std::size_t k = 0; k < n; ++k) {
    int ends[2];
    if (::pipe(ends) != 0) fail("pipe");
    const pid_t pid = ::fork();
    if (pid < 0) fail("fork");
    if (pid > 0) {
      ::close(ends[1]);
      children.push_back({pid, ends[0]});
      continue;
    }
    ::close(ends[0]);
    std::FILE* const to = ::fdopen(ends[1], "w");
    for (std::size_t i = k; i < count; i += n) std::fputs((work(i) + "\n").c_str(), to);
    std::fclose(to);
    ::_exit(0);  // what the parent registered for its end is not the child's to do
  }
  std::vector<std::string> lines(count);
  for (std::size_t k = 0; k < n; ++k) {
    const std::string text = all_of(children[k].from);
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
