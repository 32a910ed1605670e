// Operations of the nodes of a streaming graph: one table, from which graphs are checked, built and documented.
//
// Streams follow the score matrix row by row. A channel carries one element per score (N x N) or one per row (N). An
// element is a scalar or a vector of the head dimension, in FP32. A node fires once per score if any of its ports is
// per score, otherwise once per row. It takes a per-row input with the first score of the row and keeps it for the
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace attnvp::stream {

enum class Shape : std::uint8_t { kScalar, kVector, kAny };  // kAny: either one, the same at all kAny ports of a node

// Rates of a node. A map sends per firing. A scan fires and sends per score. A reduction fires per score and sends once
// per row, with the row's last score.
enum class Kind : std::uint8_t { kSource, kMap, kScan, kReduction, kSink };

struct Port {
  const char* name;
  Shape shape;
};

// One firing. Vectors have `width` elements, scalars one; `state` has `width` and lives as long as the node.
struct Firing {
  const float* const* in;
  float* const* out;
  float* state;
  std::size_t width;
  bool first;  // first score of its row
};

// Operations of one firing, for energy. per_lane: per element of the node's widest port.
struct Work {
  std::uint32_t arithmetic = 0, arithmetic_per_lane = 0;  // multiply-add, add, multiply, compare
  std::uint32_t exponentials = 0;
  std::uint32_t divisions_per_lane = 0;
};

struct Operation {
  const char* name;
  Kind kind;
  std::vector<Port> inputs, outputs;
  Work work;
  void (*compute)(const Firing&);
  const char* meaning;
};

const std::vector<Operation>& operations();
const Operation* find_operation(std::string_view name);  // nullptr: none

inline constexpr std::string_view kSourceName = "source", kOutputName = "output";

}  // namespace attnvp::stream
