// Counts by hand of what a matrix product, alone or fused with row operations, reads from DRAM.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/machine.h"
#include "platform/run/tiling.h"
#include "platform/workload/operations.h"

namespace attnvp::runs {

inline std::uint64_t parts_of(std::uint64_t extent, std::uint64_t part) { return (extent + part - 1) / part; }

// Elements that a fused product reads from DRAM, by its tiling.
inline std::uint64_t elements_read(const workload::Gemm& g, const job::Tiling& t, const MachineConfig& m) {
  const workload::Fusion& f = g.fusion;
  const std::uint64_t rows = g.rows, depth = g.depth, columns = g.columns;
  const std::uint64_t of_block = std::uint64_t{t["nq"]} * m.cores, row_blocks = parts_of(rows, of_block),
                      column_blocks = parts_of(columns, t["nkv"]);
  std::uint64_t read = columns * depth * row_blocks;
  if (f.norm == workload::Norm::kNone) {
    read += rows * depth * column_blocks;
  } else {  // row blocks of every cluster's share, and its vectors
    const std::uint64_t blocks = row_blocks * column_blocks;
    for (std::uint64_t c = 0; c < m.clusters; ++c) {
      const std::uint64_t first = blocks * c / m.clusters, end = blocks * (c + 1) / m.clusters;
      if (first == end) continue;
      const std::uint64_t from = first / column_blocks * of_block,
                          to = std::min(rows, ((end - 1) / column_blocks + 1) * of_block);
      read += (to - from) * depth + depth * (f.norm == workload::Norm::kLayerNorm ? 2 : 1);
    }
  }
  if (f.has_bias) read += columns * row_blocks;
  if (f.rotated > 0) read += rows * f.head * parts_of(f.rotated, t["nkv"]);
  if (f.has_residual) read += rows * g.result_columns();
  return read;
}

// Bytes of weights in a type of their own and of their scales that a product reads, by its tiling.
inline std::uint64_t weight_bytes_read(const workload::Gemm& g, const job::Tiling& t, const MachineConfig& m) {
  const workload::WeightFormat& format = *g.weights.format;
  const std::uint64_t group = g.weights.group == 0 ? g.depth : g.weights.group;
  std::uint64_t of_column = 0;
  for (std::uint64_t from = 0; from < g.depth; from += t["kd"]) {
    const std::uint64_t depth = std::min<std::uint64_t>(t["kd"], g.depth - from);
    of_column += hal::bytes_of(format.code, depth) +
                 ((from + depth - 1) / group - from / group + 1) * hal::element_bytes(format.scale);
  }
  return parts_of(g.rows, std::uint64_t{t["nq"]} * m.cores) * g.columns * of_column;
}

// Bytes that a product reads, with weights of any type.
inline std::uint64_t bytes_read(const workload::Gemm& g, const job::Tiling& t, const MachineConfig& m) {
  const std::uint64_t all = 2 * elements_read(g, t, m);
  if (!g.weights.any()) return all;
  const std::uint64_t row_blocks = parts_of(g.rows, std::uint64_t{t["nq"]} * m.cores);
  return all - 2 * row_blocks * g.columns * g.depth + weight_bytes_read(g, t, m);
}

}  // namespace attnvp::runs
