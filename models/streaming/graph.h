// Checked streaming graph for one problem size, from which Machine is built. platform/streaming/graph_file.h reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/hal/mask.h"
#include "models/streaming/operation.h"

namespace attnvp::stream {

inline constexpr std::uint64_t kUnbounded = UINT64_MAX;

enum class Tensor : std::uint8_t { kQ, kK, kV };

struct NodeSpec {
  std::string name;
  const Operation* operation = nullptr;
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
