// Work in processes of its own: a process holds one simulated machine at a time, and the host has several processors.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace attnvp::explore {

// What `work(i)` returned for every i below `count`, as a line without its end; empty where the process ended before.
// `jobs` processes, 0: as many as the host has processors.
// `progress` is told whenever one more is done.
using Progress = std::function<void(std::size_t done)>;
std::vector<std::string> in_processes(std::size_t count, unsigned jobs,
                                      const std::function<std::string(std::size_t)>& work,
                                      const Progress& progress = {});

}  // namespace attnvp::explore
