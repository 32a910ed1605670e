#include "platform/run/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "platform/machine/error.h"
#include "platform/machine/words.h"

namespace attnvp::job {

namespace {

constexpr std::uint64_t kMostParts = (hal::kControlBase - hal::kMailboxBase) / hal::kMailboxSize;
constexpr std::uint64_t kPartAlignment = 4096;

std::uint64_t even_part(std::uint64_t bytes, std::size_t parts) {
  return bytes / parts / kPartAlignment * kPartAlignment;
}

// Parses a whole number without further characters.
bool read_number(std::string_view text, std::uint32_t& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size();
}

std::string there_are(const MachineConfig& machine) {
  return fmt::format("{} has {}", machine.name,
                     machine.clusters == 1 ? "one cluster, 0" : fmt::format("clusters 0 to {}", machine.clusters - 1));
}

}  // namespace

std::string Clusters::text() const {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, end() - 1);
}

Clusters parse_clusters(const std::string& text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  std::uint32_t first = 0, last = 0;
  const bool one = dash == text.size();
  const bool good = read_number(std::string_view(text).substr(0, dash), first) &&
                    (one || read_number(std::string_view(text).substr(dash + 1), last));
  if (!good) {
    throw config::ConfigError(fmt::format(
        "clusters: found {}; allowed is a cluster or a range of them, such as 2 or 0-1", config::in_quotes(text)));
  }
  if (one) last = first;
  if (last < first) {
    throw config::ConfigError(
        fmt::format("clusters: found {}, which are none; allowed is the lower number first", config::in_quotes(text)));
  }
  if (last - first == UINT32_MAX) last -= 1;  // exceeds any machine
  return {first, last - first + 1};
}

std::vector<Part> parts_of(const MachineConfig& machine, const std::vector<Clusters>& wanted) {
  if (wanted.size() > kMostParts) {
    throw config::ConfigError(
        fmt::format("{} jobs are to run side by side; allowed are {}", wanted.size(), kMostParts));
  }
  std::vector<const Clusters*> owner(machine.clusters, nullptr);
  for (const Clusters& c : wanted) {
    if (std::uint64_t{c.first} + c.count > machine.clusters) {
      throw config::ConfigError(fmt::format("clusters {}: {}", c.text(), there_are(machine)));
    }
    for (std::uint32_t i = c.first; i < c.end(); ++i) {
      if (owner[i] != nullptr) {
        throw config::ConfigError(fmt::format("two jobs want cluster {}: clusters {} and {}; each has its own", i,
                                              owner[i]->text(), c.text()));
      }
      owner[i] = &c;
    }
  }
  std::vector<Part> parts;
  const std::uint64_t dram =
      wanted.size() == 1 ? machine.dram.size_bytes : even_part(machine.dram.size_bytes, wanted.size());
  const std::uint64_t l2 = wanted.size() == 1 ? machine.l2.size_bytes : even_part(machine.l2.size_bytes, wanted.size());
  for (const Clusters& c : wanted) {
    const std::uint64_t i = parts.size();
    Part part{c, {c.first, i * hal::kMailboxSize, i * dram, i * l2}, machine};
    part.machine.name = fmt::format("cluster{} {} of {}", c.count == 1 ? "" : "s", c.text(), machine.name);
    part.machine.clusters = c.count;
    part.machine.dram.size_bytes = dram;
    part.machine.l2.size_bytes = l2;
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace attnvp::job
