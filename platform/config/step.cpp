#include "platform/config/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "platform/config/words.h"

namespace attnvp::config {

namespace {

constexpr double kDeepest = 65536;

// "512x2304x768": as many numbers as there are names for.
std::vector<std::uint32_t> extents(const std::string& text, const std::string& numbers,
                                   const std::vector<std::pair<const char*, double>>& names) {
  std::vector<std::uint32_t> all;
  for (std::size_t start = 0; start <= numbers.size();) {
    const std::size_t end = std::min(numbers.find('x', start), numbers.size());
    std::uint32_t value = 0;
    const auto [rest, error] = std::from_chars(numbers.data() + start, numbers.data() + end, value);
    const double most = all.size() < names.size() ? names[all.size()].second : 0;
    if (error != std::errc{} || rest != numbers.data() + end || value < 1 || value > most) break;
    all.push_back(value);
    start = end + 1;
  }
  const bool whole = all.size() == names.size() &&
                     std::count(numbers.begin(), numbers.end(), 'x') == static_cast<std::ptrdiff_t>(names.size()) - 1;
  if (!whole) {
    std::vector<std::string> allowed;
    for (const auto& [name, most] : names) allowed.push_back(fmt::format("{} of 1 to {:.0f}", name, most));
    fail(option_origin("--net", text),
         fmt::format("found {}; allowed are {}, with 'x' between them", in_quotes(numbers), fmt::join(allowed, ", ")));
  }
  return all;
}

}  // namespace

Network gemm(std::uint32_t rows, std::uint32_t columns, std::uint32_t depth) {
  Network n;
  n.name = fmt::format("gemm:{}x{}x{}", rows, columns, depth);
  n.heads = 1;
  n.seq_q = rows;
  n.seq_kv = columns;
  n.emb = depth;
  n.softmax = false;
  n.step = Step::kGemm;
  return n;
}

Network softmax_rows(std::uint32_t rows, std::uint32_t columns) {
  Network n;
  n.name = fmt::format("softmax:{}x{}", rows, columns);
  n.heads = 1;
  n.seq_q = rows;
  n.seq_kv = columns;
  n.emb = 1;
  n.step = Step::kSoftmax;
  return n;
}

std::optional<Network> parse_step(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "gemm" && kind != "softmax")) return std::nullopt;
  const std::string numbers = text.substr(colon + 1);
  if (kind == "softmax") {
    const auto e = extents(text, numbers, {{"rows", kLongestSequence}, {"columns", kLongestSequence}});
    return softmax_rows(e[0], e[1]);
  }
  const auto e =
      extents(text, numbers, {{"rows", kLongestSequence}, {"columns", kLongestSequence}, {"depth", kDeepest}});
  return gemm(e[0], e[1], e[2]);
}

}  // namespace attnvp::config
