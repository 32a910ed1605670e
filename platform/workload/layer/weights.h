// Types of the weights of a product (B) with fewer bits than its other operand: the table of their names, codes and
// scales. In DRAM a row of codes per column of the result, each of whole bytes, is followed by the scales: for every
// group of the depth a row with one scale per column, as GPTQ packs them (github.com/AutoGPTQ/AutoGPTQ).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firmware/hal/element_types.h"

namespace attnvp::workload {

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

}  // namespace attnvp::workload
