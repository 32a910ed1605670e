#include "platform/run/results/imbalance.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>

namespace attnvp::job {

namespace {

// The number behind `part` in a module's name: 3 for "attnvp.cluster3.core1.mac" and ".cluster"; -1: none.
int number_in(const std::string& name, const std::string& part) {
  const std::size_t at = name.find(part);
  return at == std::string::npos ? -1 : std::atoi(name.c_str() + at + part.size());
}

void add(std::vector<std::uint64_t>& each, int index, std::uint64_t value) {
  const auto i = static_cast<std::size_t>(index);
  if (each.size() <= i) each.resize(i + 1, 0);
  each[i] += value;
}

}  // namespace

std::uint64_t Dealt::total() const { return std::accumulate(each.begin(), each.end(), std::uint64_t{0}); }
std::uint64_t Dealt::most() const { return each.empty() ? 0 : *std::max_element(each.begin(), each.end()); }
double Dealt::mean() const {
  return each.empty() ? 0 : static_cast<double>(total()) / static_cast<double>(each.size());
}
double Dealt::ratio() const { return total() == 0 ? 1 : static_cast<double>(most()) / mean(); }

std::size_t Imbalance::first() const {
  return static_cast<std::size_t>(std::min_element(end.begin(), end.end()) - end.begin());
}
std::size_t Imbalance::last() const {
  return static_cast<std::size_t>(std::max_element(end.begin(), end.end()) - end.begin());
}

Imbalance imbalance_of(const RunResult& r) {
  Imbalance all;
  int cores = 0;  // of a cluster
  for (const CounterValue& c : r.counters) cores = std::max(cores, number_in(c.module, ".core") + 1);
  for (const CounterValue& c : r.counters) {
    const int cluster = number_in(c.module, ".cluster"), core = number_in(c.module, ".core");
    if (cluster < 0) continue;
    const std::string kind = c.module.substr(c.module.rfind('.') + 1);
    const int worker = cluster * cores + core;
    if (kind == "mac" && c.name == "macs") {
      add(all.macs.each, cluster, c.value);
      add(all.core_macs.each, worker, c.value);
    } else if (kind == "vec" && (c.name == "busy_cycles" || c.name == "stall_cycles")) {
      const std::uint64_t worked = c.name == "busy_cycles" ? c.value : -c.value;
      add(all.vec_cycles.each, cluster, worked);
      add(all.core_vec_cycles.each, worker, worked);
    } else if (kind == "dma" && (c.name == "read_bytes" || c.name == "write_bytes")) {
      add(all.dma_bytes.each, cluster, c.value);
    }
  }
  for (const UnitTime& unit : r.unit_times) {
    const int cluster = number_in(unit.unit, ".cluster");
    if (cluster < 0) continue;
    std::uint64_t idle = 0;  // idle cycles at the end
    for (const auto& [reason, n] : unit.cycles) idle += reason == "end" ? n : 0;
    add(all.end, cluster, 0);
    std::uint64_t& end = all.end[static_cast<std::size_t>(cluster)];
    end = std::max(end, r.cycles - std::min(r.cycles, idle));
  }
  return all;
}

}  // namespace attnvp::job
