#include "platform/config/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "models/engine/descriptor_check.h"
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

// "type=int8" behind a comma.
hal::ElementType type_in(const std::string& text, std::size_t comma, const std::string& words) {
  std::vector<std::string> names;
  for (const hal::ElementTypeInfo& info : hal::kElementTypes) {
    if (!info.is_tensor) continue;
    names.push_back(std::string("type=") + info.name);
    if (words.substr(comma + 1) == names.back()) return info.type;
  }
  fail(option_origin("--net", text),
       fmt::format("found {} behind a step; allowed: {}", in_quotes(words.substr(comma + 1)), fmt::join(names, ", ")));
}

Network rows_of(Step step, std::uint32_t rows, std::uint32_t columns) {
  Network n;
  n.heads = 1;
  n.seq_q = rows;
  n.seq_kv = columns;
  n.emb = 1;
  n.step = step;
  return n;
}

Network named(Network n) {
  n.name = fmt::format("{}:{}x{}", step_word(n), n.seq_q, n.seq_kv);
  return n;
}

// By function, without a gate and with one.
constexpr const char* kActivations[][2] = {
    {"relu", "reglu"}, {"silu", "swiglu"}, {"gelu", "geglu"}, {"gelu_tanh", "geglu_tanh"}};

}  // namespace

std::string step_word(const Network& n) {
  switch (n.step) {
    case Step::kAttention:
      break;
    case Step::kGemm:
      return "gemm";
    case Step::kSoftmax:
      return "softmax";
    case Step::kNorm:
      return n.norm == Norm::kLayerNorm ? "layernorm" : "rmsnorm";
    case Step::kElementwise:
      return hal::find(n.elementwise)->name;
    case Step::kActivate:
      return kActivations[static_cast<std::size_t>(n.activation)][n.gated ? 1 : 0];
    case Step::kRotate:
      return "rope";
  }
  return {};
}

Network gemm(std::uint32_t rows, std::uint32_t columns, std::uint32_t depth, hal::ElementType type) {
  Network n = rows_of(Step::kGemm, rows, columns);
  n.name = fmt::format("gemm:{}x{}x{}", rows, columns, depth);
  if (type != hal::ElementType::kFp16) n.name += ",type=" + attnvp::name_of(type);
  n.emb = depth;
  n.type = type;
  n.out = type_of_output(type);
  n.softmax = false;
  return n;
}

Network softmax_rows(std::uint32_t rows, std::uint32_t columns) {
  return named(rows_of(Step::kSoftmax, rows, columns));
}

Network norm_rows(Norm norm, std::uint32_t rows, std::uint32_t columns) {
  Network n = rows_of(Step::kNorm, rows, columns);
  n.norm = norm;
  return named(n);
}

Network elementwise_rows(hal::Opcode operation, std::uint32_t rows, std::uint32_t columns) {
  Network n = rows_of(Step::kElementwise, rows, columns);
  n.elementwise = operation;
  return named(n);
}

Network activate_rows(hal::Activation function, bool gated, std::uint32_t rows, std::uint32_t columns) {
  Network n = rows_of(Step::kActivate, rows, columns);
  n.activation = function;
  n.gated = gated;
  return named(n);
}

Network rotate_rows(std::uint32_t rows, std::uint32_t columns, std::uint32_t head) {
  Network n = rows_of(Step::kRotate, rows, columns);
  n.emb = head;
  n.name = fmt::format("rope:{}x{}x{}", rows, columns, head);
  return n;
}

std::optional<Network> parse_step(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string kind = text.substr(0, colon), numbers = text.substr(colon + 1);
  const std::pair<const char*, double> rows{"rows", kLongestSequence}, columns{"columns", kLongestSequence};
  if (kind == "gemm") {
    const std::size_t comma = numbers.find(',');
    const auto e = extents(text, numbers.substr(0, comma), {rows, columns, {"depth", kDeepest}});
    return gemm(e[0], e[1], e[2], comma == std::string::npos ? hal::ElementType::kFp16 : type_in(text, comma, numbers));
  }
  if (kind == "rope") {
    const auto e = extents(text, numbers, {rows, columns, {"elements of a head", kDeepest}});
    if (e[2] % 2 != 0 || e[1] % e[2] != 0) {
      fail(option_origin("--net", text),
           fmt::format("found heads of {} elements; allowed is an even number of which columns, {}, are a multiple",
                       e[2], e[1]));
    }
    return rotate_rows(e[0], e[1], e[2]);
  }
  const auto two = [&] { return extents(text, numbers, {rows, columns}); };
  const auto norm = [&](Norm which) {
    const auto e = two();
    return norm_rows(which, e[0], e[1]);
  };
  if (kind == "softmax") {
    const auto e = two();
    return softmax_rows(e[0], e[1]);
  }
  if (kind == "layernorm") return norm(Norm::kLayerNorm);
  if (kind == "rmsnorm") return norm(Norm::kRmsNorm);
  for (const hal::OperationInfo& info : hal::kOperations) {
    if (!hal::is_elementwise(info) || kind != info.name) continue;
    const auto e = two();
    return elementwise_rows(info.opcode, e[0], e[1]);
  }
  for (std::size_t f = 0; f < std::size(kActivations); ++f) {
    for (const bool gated : {false, true}) {
      if (kind != kActivations[f][gated ? 1 : 0]) continue;
      const auto e = two();
      return activate_rows(static_cast<hal::Activation>(f), gated, e[0], e[1]);
    }
  }
  return std::nullopt;
}

}  // namespace attnvp::config
