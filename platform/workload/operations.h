// Operations of a layer besides attention: a matrix product, or an operation on rows. Texts of `--net`:
//   gemm:ROWSxCOLUMNSxDEPTH[,type=TYPE]   C = A B^T, A: rows x depth, B: columns x depth
//   gemm:...,weights=int4,group=64   B in a type of fewer bits, with a scale for each group (WeightType)
//   gemm:...,norm=rmsnorm,bias=1,rope=HEADxCOLUMNS,activation=silu,gated=1,residual=1   fused with row operations:
//     a norm of A's rows; on C, in this order: a bias, a rotary embedding of the first COLUMNS, an activation, the sum
//     with a residual tensor. Gated: the first half of the columns are gates, and the result has half of the columns
//   gemm:...,down=COLUMNS   a network D = C E^T, E: COLUMNS x columns of C, in one schedule. C is the result without
//     the residual tensor, which is added to D
//   gemm:...,out=fp8_e4m3   C in a type of one byte, rounded from FP16 (kConvert, after the other operations)
//   gemm:...,append=SEQUENCESxHEADSxELEMENTSxCONTEXT   the last columns are stored into a KV cache (CacheAppend)
//   softmax:ROWSxCOLUMNS, layernorm:..., rmsnorm:...
//   layernorm:...,residual=1, rmsnorm:...,residual=1   of the sum of two tensors, which is a second result
//   add:...   and the other elementwise operations (firmware/hal/operations.h)
//   relu:..., silu:..., gelu:..., gelu_tanh:...   an activation
//   reglu:..., swiglu:..., geglu:..., geglu_tanh:...   of rows of gate and factor, twice as long
//   copy:...   of rows from DRAM to DRAM, as the lookup of an embedding
//   convert:ROWSxCOLUMNS,type=TYPE   rows of FP16 in another type; INT8 with a scale that is known beforehand
//   rope:ROWSxCOLUMNSxHEAD   rotary embedding of rows of heads of HEAD elements
// Rows and columns are those of the result.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "firmware/hal/element_types.h"

namespace attnvp::workload {

// Types of the weights of a product (B) with fewer bits than its other operand: the table of their names, codes and
// scales. In DRAM a row of codes per column of the result, each of whole bytes, is followed by the scales: for every
// group of the depth a row with one scale per column, as GPTQ packs them (github.com/AutoGPTQ/AutoGPTQ).

struct WeightFormat {
  const char* name;
  hal::ElementType code, scale;
  std::array<std::int32_t, 4> groups;  // elements of the depth that share a scale, the default first; 0: all; -1: none
};
inline constexpr WeightFormat kWeightFormats[] = {
    {"int4", hal::ElementType::kInt4, hal::ElementType::kFp16, {128, 64, 32, -1}},
    {"mxfp4", hal::ElementType::kFp4E2M1, hal::ElementType::kE8M0, {32, -1, -1, -1}},
    {"int8", hal::ElementType::kInt8, hal::ElementType::kFp16, {0, 128, 64, 32}},
    {"fp8_e4m3", hal::ElementType::kFp8E4M3, hal::ElementType::kFp16, {0, 128, 64, 32}},
};

struct WeightType {
  const WeightFormat* format = nullptr;  // nullptr: weights have the type of the operands
  std::uint32_t group = 0;               // elements of the depth that share a scale; 0: all
  bool any() const { return format != nullptr; }
  std::string text() const;  // ",weights=int4,group=64"; without the default group; empty: none
  std::uint64_t groups(std::uint64_t depth) const { return group == 0 ? 1 : (depth + group - 1) / group; }
  // Bytes in DRAM of a product's weights: of the codes, to whole bursts of 64, and with the scales.
  std::uint64_t code_bytes(std::uint64_t columns, std::uint64_t depth) const;
  std::uint64_t bytes(std::uint64_t columns, std::uint64_t depth) const;
};

// By name and, if given, group. `refuse`, which throws, gets the name of the wrong setting and what is allowed.
using RefuseWeights = std::function<void(const char* setting, const std::string& allowed)>;
WeightType weights_of(const std::string& name, std::optional<std::uint32_t> group, const RefuseWeights& refuse);
std::vector<std::string> weight_names();

// Operands that the vector engines can convert weights to.
constexpr bool takes_weights(hal::ElementType type) { return hal::info_of(type).is_rounded_to; }

constexpr double kLongestSequence = 4194304;
// Added under the root of a norm; models use 1e-5 or 1e-6.
constexpr float kNormEpsilon = 1e-5F;

enum class Norm : std::uint8_t { kLayerNorm, kRmsNorm, kNone };

// The last columns of a product are K, then V: `heads` heads of `elements`. Rows are those of `sequences`, with equal
// numbers of tokens, which become the last of each one's `context` tokens. K and V: [sequences, heads, context,
// elements].
struct CacheAppend {
  std::uint32_t sequences = 0, heads = 0, elements = 0, context = 0;
  bool any() const { return sequences > 0; }
  std::uint64_t columns() const { return std::uint64_t{2} * heads * elements; }
  std::uint64_t cache_elements() const { return std::uint64_t{sequences} * heads * context * elements; }  // of K, of V
};

// Types of one byte whose scale is 1. That of INT8 is known only after the whole result.
constexpr bool is_result_type(hal::ElementType type) {
  return hal::info_of(type).is_tensor && hal::is_relative(type) && !hal::is_integer(type);
}

// Row operations that a product includes, in their order.
struct Fusion {
  Norm norm = Norm::kNone;  // of A's rows, before the product
  bool has_bias = false;
  std::uint32_t head = 0, rotated = 0;  // rotary embedding: elements of a head; leading columns
  std::optional<hal::Activation> activation;
  bool is_gated = false;                // columns are gates, then as many factors
  std::uint32_t down = 0;               // columns of a second product of the rows, before the residual sum; 0: none
  bool has_residual = false;            // of the last product
  std::optional<hal::ElementType> out;  // of the last product's result, is_result_type, converted from FP16
  CacheAppend append{};                 // in the result's type; no row operation
  bool has_epilogue() const {
    return has_bias || rotated > 0 || activation.has_value() || has_residual || out.has_value();
  }
  bool any() const { return norm != Norm::kNone || has_epilogue() || down > 0; }
  std::string text() const;  // ",norm=rmsnorm,bias=1"; empty: none
};

struct Gemm {
  std::string name;
  std::uint32_t rows = 0, columns = 0, depth = 0;
  hal::ElementType type = hal::ElementType::kFp16;  // of the operands
  Fusion fusion{};
  WeightType weights{};                                                        // of B
  hal::ElementType product_type() const { return hal::type_of_output(type); }  // as the arrays write it
  hal::ElementType out() const { return fusion.out.value_or(product_type()); }
  // Columns of the first product's result, and of the last one's.
  std::uint32_t first_columns() const { return fusion.is_gated ? columns / 2 : columns; }
  std::uint32_t result_columns() const { return fusion.down > 0 ? fusion.down : first_columns(); }
  // Weights: B, and behind it, from whole bursts of 64 bytes on, E of a second product.
  std::uint64_t second_weights_at() const;
  std::uint64_t weight_elements() const;
  std::uint64_t second_weights_at_byte() const;  // in DRAM, where weights may have a type of their own
  std::uint64_t weight_bytes() const;
  double macs() const { return 1.0 * rows * (1.0 * columns * depth + 1.0 * fusion.down * first_columns()); }
};
Gemm gemm(std::uint32_t rows, std::uint32_t columns, std::uint32_t depth,
          hal::ElementType type = hal::ElementType::kFp16, const Fusion& fusion = {}, const WeightType& weights = {});
// The rule that a product with this fusion violates, for a message; empty: none.
std::string refusal_of(const Gemm& product);

struct RowOperation {
  std::string name = {};
  hal::Opcode opcode =
      hal::Opcode::kSoftmax;  // kSoftmax, kNorm, kActivate, kRotate, kCopy, kConvert, or one by elements
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t head = 1;                             // kRotate: elements of a head
  Norm norm = Norm::kLayerNorm;                       // kNorm
  bool has_residual = false;                          // kNorm: input and result are two tensors each
  hal::Activation function = hal::Activation::kGelu;  // kActivate
  bool is_gated = false;                              // kActivate: input rows have 2 x columns elements
  hal::ElementType type = hal::ElementType::kFp16;    // of the result; another one: kConvert
  std::uint64_t elements() const { return std::uint64_t{rows} * columns; }  // of one tensor
  std::uint64_t result_elements() const { return (has_residual ? 2 : 1) * elements(); }
  bool is_elementwise() const { return hal::is_elementwise(*hal::find(opcode)); }
  std::string word() const;  // "softmax", "swiglu"
};
RowOperation softmax_rows(std::uint32_t rows, std::uint32_t columns);
RowOperation norm_rows(Norm norm, std::uint32_t rows, std::uint32_t columns, bool has_residual = false);
RowOperation elementwise_rows(hal::Opcode opcode, std::uint32_t rows, std::uint32_t columns);
RowOperation activate_rows(hal::Activation function, bool is_gated, std::uint32_t rows, std::uint32_t columns);
RowOperation copy_rows(std::uint32_t rows, std::uint32_t columns);
RowOperation convert_rows(hal::ElementType type, std::uint32_t rows, std::uint32_t columns);
RowOperation rotate_rows(std::uint32_t rows, std::uint32_t columns, std::uint32_t head);

// None if the text is no operation. Throws ConfigError.
std::optional<std::variant<Gemm, RowOperation>> parse_operation(const std::string& text);

}  // namespace attnvp::workload
