#include "platform/workload/layer/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace attnvp::workload {

std::string WeightType::text() const {
  if (format == nullptr) return "";
  const bool is_default = group == static_cast<std::uint32_t>(format->groups[0]);
  return fmt::format(",weights={}{}", format->name, is_default ? "" : fmt::format(",group={}", group));
}

std::uint64_t WeightType::code_bytes(std::uint64_t columns, std::uint64_t depth) const {
  constexpr std::uint64_t kBurst = 64;
  return (columns * hal::bytes_of(format->code, depth) + kBurst - 1) / kBurst * kBurst;
}

std::uint64_t WeightType::bytes(std::uint64_t columns, std::uint64_t depth) const {
  return code_bytes(columns, depth) + groups(depth) * columns * hal::element_bytes(format->scale);
}

std::vector<std::string> weight_names() {
  std::vector<std::string> names;
  for (const WeightFormat& f : kWeightFormats) names.emplace_back(f.name);
  return names;
}

WeightType weights_of(const std::string& name, std::optional<std::uint32_t> group, const RefuseWeights& refuse) {
  const auto* const format = std::find_if(std::begin(kWeightFormats), std::end(kWeightFormats),
                                          [&](const WeightFormat& f) { return name == f.name; });
  if (format == std::end(kWeightFormats)) {
    refuse("weights", fmt::format("{}", fmt::join(weight_names(), "|")));
    return {};
  }
  std::vector<std::int32_t> groups(format->groups.begin(), format->groups.end());
  groups.erase(std::remove(groups.begin(), groups.end(), -1), groups.end());
  const auto wanted = static_cast<std::int32_t>(group.value_or(static_cast<std::uint32_t>(groups.front())));
  if (std::find(groups.begin(), groups.end(), wanted) == groups.end()) {
    refuse("group", fmt::format("{} of {}", fmt::join(groups, "|"), name));
  }
  return {format, static_cast<std::uint32_t>(wanted)};
}

}  // namespace attnvp::workload
