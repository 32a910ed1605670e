#include "platform/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace attnvp {

std::size_t usable_processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
}

void run_in_parallel(std::size_t parts, const std::function<void(std::size_t)>& part) {
  std::vector<std::exception_ptr> failures(parts);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < parts; i = next++) {
      try {
        part(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (std::size_t i = 1; i < std::min(parts, usable_processors()); ++i) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // this thread does what is left
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace attnvp
