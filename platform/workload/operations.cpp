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

// A tensor's type by its name; none: there is no such type, and `allowed` gets the names.
std::optional<hal::ElementType> tensor_type(const std::string& name, std::string& allowed) {
  std::vector<std::string> names;
  for (const hal::ElementTypeInfo& info : hal::kElementTypes) {
    if (!info.is_tensor) continue;
    names.emplace_back(info.name);
    if (name == info.name) return info.type;
  }
  allowed = fmt::format("type={}", fmt::join(names, "|"));
  return std::nullopt;
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
constexpr const char* kNorms[] = {"layernorm", "rmsnorm"};  // as Norm

// Settings of a product behind its extents.
class ProductSettings {
 public:
  ProductSettings(const std::string& text, Gemm& product) : text_(text), g_(product) {}

  void read(const std::string& words) {
    std::vector<std::string> seen;
    for (std::size_t start = 0; start <= words.size();) {
      const std::size_t end = std::min(words.find(',', start), words.size());
      const std::string word = words.substr(start, end - start), key = word.substr(0, word.find('='));
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) refuse(word, "each setting once");
      seen.push_back(key);
      set(word, key, word.size() > key.size() ? word.substr(key.size() + 1) : "");
      start = end + 1;
    }
    if (!weights_.empty()) {
      g_.weights = weights_of(weights_, group_, [&](const char* setting, const std::string& allowed) {
        refuse(std::string(setting) == "group" ? fmt::format("group={}", *group_) : "weights=" + weights_, allowed);
      });
    } else if (group_) {
      refuse(fmt::format("group={}", *group_), "a group of weights=TYPE");
    }
    if (const std::string wrong = refusal_of(g_); !wrong.empty()) fail(option_origin("--net", text_), wrong);
  }

 private:
  void set(const std::string& word, const std::string& key, const std::string& value) {
    Fusion& f = g_.fusion;
    if (key == "type") {
      g_.type = type(word, value);
    } else if (key == "weights") {
      weights_ = weight_names().at(index(word, key, value, weight_names()));
    } else if (key == "group") {
      const std::vector<std::string> groups{"0", "32", "64", "128"};
      group_ = static_cast<std::uint32_t>(std::stoul(groups.at(index(word, key, value, groups))));
    } else if (key == "norm") {
      f.norm = static_cast<Norm>(index(word, key, value, {kNorms[0], kNorms[1]}));
    } else if (key == "activation") {
      std::vector<std::string> names;
      for (const auto& of : kActivations) names.emplace_back(of[0]);
      f.activation = static_cast<hal::Activation>(index(word, key, value, names));
    } else if (key == "bias") {
      f.has_bias = index(word, key, value, {"0", "1"}) == 1;
    } else if (key == "gated") {
      f.is_gated = index(word, key, value, {"0", "1"}) == 1;
    } else if (key == "residual") {
      f.has_residual = index(word, key, value, {"0", "1"}) == 1;
    } else if (key == "down") {
      f.down = extents(text_, value, {{"columns of the second product", kLongestSequence}})[0];
    } else if (key == "rope") {
      const auto e = extents(text_, value, {{"elements of a head", kDeepest}, {"rotated columns", kLongestSequence}});
      f.head = e[0];
      f.rotated = e[1];
    } else if (key == "out") {
      f.out = out(word, value);
    } else if (key == "append") {
      const auto e = extents(text_, value,
                             {{"sequences", kLongestSequence},
                              {"heads", kDeepest},
                              {"elements of a head", kDeepest},
                              {"tokens of a context", kLongestSequence}});
      f.append = {e[0], e[1], e[2], e[3]};
    } else {
      refuse(word, "type, weights, group, norm, bias, rope, activation, gated, down, residual, out, append");
    }
  }
  std::size_t index(const std::string& word, const std::string& key, const std::string& value,
                    const std::vector<std::string>& names) const {
    const auto at = std::find(names.begin(), names.end(), value);
    if (at == names.end()) refuse(word, fmt::format("{}={}", key, fmt::join(names, "|")));
    return static_cast<std::size_t>(at - names.begin());
  }
  hal::ElementType type(const std::string& word, const std::string& value) const {
    std::string allowed;
    if (const auto type = tensor_type(value, allowed)) return *type;
    refuse(word, allowed);
  }
  hal::ElementType out(const std::string& word, const std::string& value) const {
    std::vector<std::string> names;
    for (const hal::ElementTypeInfo& info : hal::kElementTypes) {
      if (!is_result_type(info.type)) continue;
      names.emplace_back(info.name);
      if (value == info.name) return info.type;
    }
    refuse(word, fmt::format("out={}", fmt::join(names, "|")));
  }
  [[noreturn]] void refuse(const std::string& word, const std::string& allowed) const {
    fail(option_origin("--net", text_),
         fmt::format("found {} behind a product; allowed: {}", in_quotes(word), allowed));
  }

  const std::string& text_;
  Gemm& g_;
  std::string weights_;
  std::optional<std::uint32_t> group_;
};

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
  if (r.opcode == hal::Opcode::kConvert) r.name += ",type=" + attnvp::name_of(r.type);
  return r;
}

}  // namespace

std::string RowOperation::word() const {
  switch (opcode) {
    case hal::Opcode::kNorm:
      return kNorms[static_cast<std::size_t>(norm)];
    case hal::Opcode::kActivate:
      return kActivations[static_cast<std::size_t>(function)][is_gated ? 1 : 0];
    case hal::Opcode::kRotate:
      return "rope";
    default:
      return hal::find(opcode)->name;
  }
}

std::string Fusion::text() const {
  std::string text;
  if (norm != Norm::kNone) text += fmt::format(",norm={}", kNorms[static_cast<std::size_t>(norm)]);
  if (has_bias) text += ",bias=1";
  if (rotated > 0) text += fmt::format(",rope={}x{}", head, rotated);
  if (activation) text += fmt::format(",activation={}", kActivations[static_cast<std::size_t>(*activation)][0]);
  if (is_gated) text += ",gated=1";
  if (down > 0) text += fmt::format(",down={}", down);
  if (has_residual) text += ",residual=1";
  if (out) text += ",out=" + attnvp::name_of(*out);
  if (append.any()) {
    text += fmt::format(",append={}x{}x{}x{}", append.sequences, append.heads, append.elements, append.context);
  }
  return text;
}

Gemm gemm(std::uint32_t rows, std::uint32_t columns, std::uint32_t depth, hal::ElementType type, const Fusion& fusion,
          const WeightType& weights) {
  Gemm g{fmt::format("gemm:{}x{}x{}", rows, columns, depth), rows, columns, depth, type, fusion, weights};
  if (type != hal::ElementType::kFp16) g.name += ",type=" + attnvp::name_of(type);
  g.name += weights.text() + fusion.text();
  return g;
}

std::uint64_t Gemm::second_weights_at() const {
  constexpr std::uint64_t kGrain = 64 / hal::element_bytes(hal::ElementType::kFp16);
  return (std::uint64_t{columns} * depth + kGrain - 1) / kGrain * kGrain;
}

std::uint64_t Gemm::weight_elements() const {
  if (fusion.down == 0) return std::uint64_t{columns} * depth;
  return second_weights_at() + std::uint64_t{fusion.down} * first_columns();
}

std::uint64_t Gemm::second_weights_at_byte() const {
  constexpr std::uint64_t kBurst = 64;
  if (!weights.any()) return second_weights_at() * hal::element_bytes(type);
  return (weights.bytes(columns, depth) + kBurst - 1) / kBurst * kBurst;
}

std::uint64_t Gemm::weight_bytes() const {
  if (!weights.any()) return weight_elements() * hal::element_bytes(type);
  if (fusion.down == 0) return weights.bytes(columns, depth);
  return second_weights_at_byte() + weights.bytes(fusion.down, first_columns());
}

namespace {

constexpr std::uint64_t kMostStride = 0xFFFF'FFFF;  // of a copy, in bytes

std::string refusal_of(const Gemm& g, const CacheAppend& c) {
  if (!c.any()) return "";
  const std::uint64_t of_sequence = c.cache_elements() / c.sequences * hal::element_bytes(g.out());
  if (g.fusion.activation || g.fusion.has_residual || g.fusion.down > 0 || g.fusion.out) {
    return "activation, residual, down or out of a product that appends to a cache; allowed are norm, bias, rope";
  }
  if (c.columns() > g.columns || g.columns % c.elements != 0) {
    return fmt::format("{} heads of K and V of {} elements in {} columns; allowed are whole heads, at most {} columns",
                       2 * c.heads, c.elements, g.columns, g.columns);
  }
  if (g.rows % c.sequences != 0 || g.rows / c.sequences > c.context) {
    return fmt::format("{} rows of {} sequences; allowed is an equal number for each, at most {}", g.rows, c.sequences,
                       c.context);
  }
  if (of_sequence > kMostStride) {
    return fmt::format("a cache of {} bytes for each sequence; allowed are {}", of_sequence, kMostStride);
  }
  return "";
}

}  // namespace

std::string refusal_of(const Gemm& g) {
  const Fusion& f = g.fusion;
  if (g.weights.any() && !takes_weights(g.type)) {
    return fmt::format("weights of {} beside operands of {}; allowed are operands of fp16, bf16",
                       g.weights.format->name, attnvp::name_of(g.type));
  }
  if (f.norm != Norm::kNone && g.type != hal::ElementType::kFp16) {
    return fmt::format("a norm of rows of {} before a product; allowed is fp16", attnvp::name_of(g.type));
  }
  if (f.has_epilogue() && g.product_type() != hal::ElementType::kFp16) {
    return fmt::format("operations on a product of {}; allowed are types whose result is fp16",
                       attnvp::name_of(g.type));
  }
  if (f.is_gated && (!f.activation || g.columns % 2 != 0)) {
    return fmt::format("a gated product of {} columns; allowed is an even number, with an activation", g.columns);
  }
  if (f.down > 0 && g.type != hal::ElementType::kFp16) {
    return fmt::format("a second product behind one of {}; allowed is fp16", attnvp::name_of(g.type));
  }
  if (f.down > 0 && f.rotated > 0) return "a second product behind a rotary embedding; allowed is one of them";
  if (const std::string wrong = refusal_of(g, f.append); !wrong.empty()) return wrong;
  if (f.rotated == 0) return "";
  if (f.head % 2 != 0 || f.rotated % f.head != 0 || f.rotated > g.columns) {
    return fmt::format("rotated heads of {} elements in {} columns; allowed are even heads, at most {} columns", f.head,
                       f.rotated, g.columns);
  }
  return f.activation ? "a rotary embedding and an activation of one product; allowed is one of them" : "";
}

RowOperation softmax_rows(std::uint32_t rows, std::uint32_t columns) { return sized({}, rows, columns); }

RowOperation norm_rows(Norm norm, std::uint32_t rows, std::uint32_t columns, bool has_residual) {
  return sized({.opcode = hal::Opcode::kNorm, .norm = norm, .has_residual = has_residual}, rows, columns);
}

RowOperation elementwise_rows(hal::Opcode opcode, std::uint32_t rows, std::uint32_t columns) {
  return sized({.opcode = opcode}, rows, columns);
}

RowOperation activate_rows(hal::Activation function, bool is_gated, std::uint32_t rows, std::uint32_t columns) {
  return sized({.opcode = hal::Opcode::kActivate, .function = function, .is_gated = is_gated}, rows, columns);
}

RowOperation convert_rows(hal::ElementType type, std::uint32_t rows, std::uint32_t columns) {
  return sized({.opcode = hal::Opcode::kConvert, .type = type}, rows, columns);
}

RowOperation copy_rows(std::uint32_t rows, std::uint32_t columns) {
  return elementwise_rows(hal::Opcode::kCopy, rows, columns);
}

RowOperation rotate_rows(std::uint32_t rows, std::uint32_t columns, std::uint32_t head) {
  RowOperation r = sized({.opcode = hal::Opcode::kRotate, .head = head}, rows, columns);
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
    Gemm g = gemm(e[0], e[1], e[2]);
    if (comma != std::string::npos) ProductSettings(text, g).read(numbers.substr(comma + 1));
    return gemm(g.rows, g.columns, g.depth, g.type, g.fusion, g.weights);
  }
  if (kind == "convert") {
    const std::string words = numbers.substr(std::min(numbers.find(','), numbers.size()));
    const auto e = extents(text, numbers.substr(0, numbers.find(',')), {rows, columns});
    std::string allowed = "type=TYPE";
    const auto type = words.rfind(",type=", 0) == 0 ? tensor_type(words.substr(6), allowed) : std::nullopt;
    if (!type) {
      fail(option_origin("--net", text), fmt::format("found {} behind a conversion; allowed: {}",
                                                     in_quotes(words.substr(words.empty() ? 0 : 1)), allowed));
    }
    return convert_rows(*type, e[0], e[1]);
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
