#include "models/memory/storage/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace attnvp::host_memory {

namespace {

constexpr std::uint64_t kNoLimit = UINT64_MAX;

std::uint64_t limit_bytes = 0;  // 0: not determined
std::uint64_t taken_bytes = 0;

// Reads a file with one number; "max" and missing files mean no limit.
std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : otherwise;
}

// Bytes left in a control group: files of cgroup v2, then v1.
std::uint64_t left_of_group(const std::string& folder) {
  std::uint64_t limit = number_in(folder + "/memory.max", kNoLimit);
  std::uint64_t used = number_in(folder + "/memory.current", 0);
  if (limit == kNoLimit) {
    limit = number_in(folder + "/memory.limit_in_bytes", kNoLimit);
    used = number_in(folder + "/memory.usage_in_bytes", 0);
  }
  return limit == kNoLimit ? kNoLimit : limit - std::min(limit, used);
}

// Minimum over all groups of this process, up to the root.
std::uint64_t left_of_groups() {
  std::uint64_t left = std::min(left_of_group("/sys/fs/cgroup"), left_of_group("/sys/fs/cgroup/memory"));
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t start = line.find(":/");
    if (start == std::string::npos) continue;
    const bool version_2 = line.compare(0, 3, "0::") == 0;
    if (!version_2 && line.find(":memory:") == std::string::npos) continue;
    for (std::string path = line.substr(start + 1); path.size() > 1; path.erase(path.rfind('/'))) {
      left = std::min(left, left_of_group((version_2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory") + path));
      if (path.rfind('/') == 0) break;
    }
  }
  return left;
}

std::string shown(std::uint64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", b * 1e-9);
  return bytes >= 1'000'000 ? fmt::format("{:.0f} MB", b * 1e-6) : fmt::format("{:.0f} kB", b * 1e-3);
}

}  // namespace

std::uint64_t available_bytes() {
  std::uint64_t available = kNoLimit;
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    if (line.compare(0, 13, "MemAvailable:") != 0) continue;
    std::uint64_t kib = 0;
    if (std::istringstream(line.substr(13)) >> kib) available = kib * 1024;
  }
  return std::min(available, left_of_groups());
}

void set_limit(std::uint64_t bytes) { limit_bytes = std::max<std::uint64_t>(bytes, 1); }

std::uint64_t limit() {
  if (limit_bytes == 0) set_limit(available_bytes() / 10 * 9);
  return limit_bytes;
}

bool take(std::uint64_t bytes) {
  if (bytes > limit() - std::min(limit(), taken_bytes)) return false;
  taken_bytes += bytes;
  return true;
}

void give_back(std::uint64_t bytes) { taken_bytes -= std::min(bytes, taken_bytes); }

std::string refusal(const std::string& part, std::uint64_t bytes) {
  const std::string others = taken_bytes == 0 ? "" : fmt::format(", {} are taken", shown(taken_bytes));
  return fmt::format("{} would need {} of the host's memory{}; allowed are {} together (--memory-limit)", part,
                     shown(bytes), others, shown(limit()));
}

}  // namespace attnvp::host_memory
