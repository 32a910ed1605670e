// Checks of options that complain as the configuration does: what was found, what is allowed.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "platform/config/words.h"

namespace attnvp::cli {

inline CLI::Validator one_of(std::vector<std::string> names) {
  const std::string shown = fmt::format("{}", fmt::join(names, ", "));
  const auto check = [names = std::move(names), shown](std::string& text) {
    const bool known = std::find(names.begin(), names.end(), text) != names.end();
    return known ? std::string() : fmt::format("found {}; allowed: {}", config::in_quotes(text), shown);
  };
  return {check, fmt::format("({})", shown), "one_of"};
}

inline CLI::Validator not_empty() {
  const auto check = [](std::string& text) { return text.empty() ? std::string("found ''") : std::string(); };
  return {check, "", "not_empty"};
}

inline CLI::Validator within(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](std::string& text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return std::string();
    return fmt::format("found {}; allowed is {} to {}", config::in_quotes(text), least, most);
  };
  return {check, "", "within"};
}

// "5%"; 0 to 100.
inline CLI::Validator share() {
  const auto check = [](std::string& text) {
    double value = -1;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop + 1 == end && *stop == '%' && value >= 0 && value <= 100) return std::string();
    return fmt::format("found {}; allowed is a share such as 5%", config::in_quotes(text));
  };
  return {check, "", "share"};
}

inline CLI::Validator whole_number() { return within(0, std::numeric_limits<std::uint64_t>::max()); }

}  // namespace attnvp::cli
