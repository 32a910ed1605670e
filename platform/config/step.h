// One step of a layer as a job of its own: "gemm:512x2304x768" is the product of 512 x 768 and 768 x 2304 elements
// (rows, columns, depth), of other types than FP16 with ",type=int8" behind it, "softmax:4096x512" that of 4,096 rows
// of 512. The others are ROWSxCOLUMNS of their result, too: element by element what the table of operations has, such
// as "add" (of two tensors); "layernorm", "rmsnorm", "relu", "silu", "gelu", "gelu_tanh", and "reglu", "swiglu",
// "geglu", "geglu_tanh", which have rows of twice as many numbers, a gate and what it is multiplied with;
// "rope:ROWSxCOLUMNSxHEAD" is rotary embedding of rows of heads of HEAD numbers.
#pragma once

#include <optional>
#include <string>

#include "platform/config/network.h"

namespace attnvp::config {

// Under the root of a norm; models have 1e-5 or 1e-6.
constexpr float kNormEpsilon = 1e-5F;

// Nothing where the text begins otherwise. Throws ConfigError.
std::optional<Network> parse_step(const std::string& text);

// The word before the colon. `network` is a step.
std::string step_word(const Network& network);
// Whether it is what hal::RowStep says.
inline bool is_row_step(Step step) { return step > Step::kSoftmax; }

Network gemm(std::uint32_t rows, std::uint32_t columns, std::uint32_t depth,
             hal::ElementType type = hal::ElementType::kFp16);
Network softmax_rows(std::uint32_t rows, std::uint32_t columns);
Network norm_rows(Norm norm, std::uint32_t rows, std::uint32_t columns);
Network elementwise_rows(hal::Opcode operation, std::uint32_t rows, std::uint32_t columns);
inline Network add_rows(std::uint32_t rows, std::uint32_t columns) {
  return elementwise_rows(hal::Opcode::kAdd, rows, columns);
}
Network activate_rows(hal::Activation function, bool gated, std::uint32_t rows, std::uint32_t columns);
Network rotate_rows(std::uint32_t rows, std::uint32_t columns, std::uint32_t head);

}  // namespace attnvp::config
