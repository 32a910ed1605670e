#include "platform/workload/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "models/engine/descriptor_check.h"
#include "platform/machine/words.h"

namespace attnvp::workload {

using namespace config;

namespace {

constexpr double kDeepest = 65536;

// Parses "512x2304x768": one number for each name.
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

// Parses "type=int8" behind a comma.
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

// Parses "residual=1".
bool flag_in(const std::string& text, const std::string& key, const std::string& words) {
  for (const char* value : {"0", "1"}) {
    if (words == fmt::format("{}={}", key, value)) return *value == '1';
  }
  fail(option_origin("--net", text),
       fmt::format("found {} behind a norm; allowed: {}=0, {}=1", in_quotes(words), key, key));
}

// Names of activations: not gated, gated.
constexpr const char* kActivations[][2] = {
    {"relu", "reglu"}, {"silu", "swiglu"}, {"gelu", "geglu"}, {"gelu_tanh", "geglu_tanh"}};

// Operations written as WORD:ROWSxCOLUMNS.
std::vector<RowOperation> row_operations() {
  std::vector<RowOperation> all(4);
  all[1].opcode = all[2].opcode = hal::Opcode::kNorm;
  all[2].norm = Norm::kRmsNorm;
  all[3].opcode = hal::Opcode::kCopy;
  for (const hal::OperationInfo& info : hal::kOperations) {
    if (!hal::is_elementwise(info)) continue;
    all.emplace_back().opcode = info.opcode;
  }
  for (std::size_t f = 0; f < std::size(kActivations); ++f) {
    for (const bool is_gated : {false, true}) {
      RowOperation& r = all.emplace_back();
      r.opcode = hal::Opcode::kActivate;
      r.function = static_cast<hal::Activation>(f);
      r.is_gated = is_gated;
    }
  }
  return all;
}

RowOperation sized(RowOperation r, std::uint32_t rows, std::uint32_t columns) {
  r.rows = rows;
  r.columns = columns;
  r.name = fmt::format("{}:{}x{}{}", r.word(), rows, columns, r.has_residual ? ",residual=1" : "");
  return r;
}

}  // namespace

std::string RowOperation::word() const {
  switch (opcode) {
    case hal::Opcode::kNorm:
      return norm == Norm::kLayerNorm ? "layernorm" : "rmsnorm";
    case hal::Opcode::kActivate:
      return kActivations[static_cast<std::size_t>(function)][is_gated ? 1 : 0];
    case hal::Opcode::kRotate:
      return "rope";
    default:
      return hal::find(opcode)->name;
  }
}

Gemm gemm(std::uint32_t rows, std::uint32_t columns, std::uint32_t depth, hal::ElementType type) {
  Gemm g{fmt::format("gemm:{}x{}x{}", rows, columns, depth), rows, columns, depth, type};
  if (type != hal::ElementType::kFp16) g.name += ",type=" + attnvp::name_of(type);
  return g;
}

RowOperation softmax_rows(std::uint32_t rows, std::uint32_t columns) { return sized({}, rows, columns); }

RowOperation norm_rows(Norm norm, std::uint32_t rows, std::uint32_t columns, bool has_residual) {
  RowOperation r;
  r.opcode = hal::Opcode::kNorm;
  r.norm = norm;
  r.has_residual = has_residual;
  return sized(std::move(r), rows, columns);
}

RowOperation elementwise_rows(hal::Opcode opcode, std::uint32_t rows, std::uint32_t columns) {
  RowOperation r;
  r.opcode = opcode;
  return sized(std::move(r), rows, columns);
}

RowOperation activate_rows(hal::Activation function, bool is_gated, std::uint32_t rows, std::uint32_t columns) {
  RowOperation r;
  r.opcode = hal::Opcode::kActivate;
  r.function = function;
  r.is_gated = is_gated;
  return sized(std::move(r), rows, columns);
}

RowOperation copy_rows(std::uint32_t rows, std::uint32_t columns) {
  return elementwise_rows(hal::Opcode::kCopy, rows, columns);
}

RowOperation rotate_rows(std::uint32_t rows, std::uint32_t columns, std::uint32_t head) {
  RowOperation r;
  r.opcode = hal::Opcode::kRotate;
  r.head = head;
  r = sized(std::move(r), rows, columns);
  r.name += fmt::format("x{}", head);
  return r;
}

std::optional<std::variant<Gemm, RowOperation>> parse_operation(const std::string& text) {
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
  for (RowOperation& r : row_operations()) {
    if (kind != r.word()) continue;
    const std::size_t comma = r.opcode == hal::Opcode::kNorm ? numbers.find(',') : std::string::npos;
    const auto e = extents(text, numbers.substr(0, comma), {rows, columns});
    if (comma != std::string::npos) r.has_residual = flag_in(text, "residual", numbers.substr(comma + 1));
    return sized(std::move(r), e[0], e[1]);
  }
  return std::nullopt;
}

}  // namespace attnvp::workload
