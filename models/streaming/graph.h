// Checked streaming graph for one problem size, from which Machine is built, and the operations of its nodes.
// platform/streaming/stream_run.h reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firmware/hal/mask.h"

namespace attnvp::stream {

// Operations of the nodes of a streaming graph: one table, from which graphs are checked, built and documented.
//
// Streams follow the score matrix row by row. A channel carries one element per score (N x N) or one per row (N). An
// element is a scalar or a vector of the head dimension, in FP32. A node fires once per score if any of its ports is
// per score, otherwise once per row. It takes a per-row input with the first score of the row and keeps it for the
// others.

enum class Shape : std::uint8_t { kScalar, kVector, kAny };  // kAny: either one, the same at all kAny ports of a node

// Rates of a node. A map sends per firing. A scan fires and sends per score. A reduction fires per score and sends once
// per row, with the row's last score.
enum class NodeKind : std::uint8_t { kSource, kMap, kScan, kReduction, kSink };

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
struct FiringWork {
  std::uint32_t arithmetic = 0, arithmetic_per_lane = 0;  // multiply-add, add, multiply, compare
  std::uint32_t exponentials = 0;
  std::uint32_t divisions_per_lane = 0;
};

struct StreamOperation {
  const char* name;
  NodeKind kind;
  std::vector<Port> inputs, outputs;
  FiringWork work;
  void (*compute)(const Firing&);
  const char* meaning;
};

const std::vector<StreamOperation>& operations();
const StreamOperation* find_operation(std::string_view name);  // nullptr: none

inline constexpr std::string_view kSourceName = "source", kOutputName = "output";

inline constexpr std::uint64_t kUnbounded = UINT64_MAX;

enum class Tensor : std::uint8_t { kQ, kK, kV };

struct NodeSpec {
  std::string name;
  const StreamOperation* operation = nullptr;
  std::uint64_t ii = 1;        // initiation interval: cycles between firings
  std::uint64_t latency = 1;   // cycles from the inputs to the arrival of the results
  bool per_row = false;        // fires once per row; false: once per score
  std::uint32_t width = 1;     // of its widest port
  Tensor tensor = Tensor::kQ;  // sources only
};

struct ChannelSpec {
  std::string name;
  std::uint32_t from = 0, from_port = 0, to = 0, to_port = 0;  // indices of nodes and of their ports
  std::uint64_t depth = 1;                                     // elements in flight, or kUnbounded
  std::uint32_t tokens = 0;                                    // initial number of elements, all `initial`
  float initial = 0;
  bool per_row = false;     // one element per row; false: one per score
  bool vector = false;      // d values; false: a scalar
  std::uint32_t width = 1;  // FP32 values per element
};

struct Graph {
  std::string name;
  std::uint32_t n = 1;  // rows, and unmasked scores per row
  std::uint32_t d = 1;  // head dimension
  hal::Mask mask{};     // masked scores are not streamed
  double clock_hz = 1e9;
  std::string energy = "pat";  // table under configs/energy, or a path
  std::vector<NodeSpec> nodes;
  std::vector<ChannelSpec> channels;

  hal::Visible row(std::uint32_t i) const { return hal::visible_rows(mask, i, 1, n); }
  std::uint64_t scores() const {
    if (!mask.any()) return std::uint64_t{n} * n;
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < n; ++i) all += row(i).count();
    return all;
  }
  std::uint64_t firings(const NodeSpec& node) const { return node.per_row ? n : scores(); }
};

}  // namespace attnvp::stream
