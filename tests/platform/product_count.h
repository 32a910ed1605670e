// Counts by hand of what a matrix product, alone or fused with row operations, reads from DRAM.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/machine.h"
#include "platform/run/schedule.h"
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
  const std::uint64_t vectors = f.norm == workload::Norm::kNone      ? 0
                                : f.norm == workload::Norm::kRmsNorm ? depth
                                                                     : 2 * depth;
  if (f.down > 0) {  // rows once, all weights for each row block
    read += std::uint64_t{f.down} * g.first_columns() * row_blocks + rows * depth;
    read += vectors * std::min<std::uint64_t>(m.clusters, row_blocks);
  } else if (f.norm == workload::Norm::kNone) {
    read += rows * depth * column_blocks;
  } else {  // row blocks of every cluster's share, and its vectors
    const std::uint64_t blocks = row_blocks * column_blocks;
    for (std::uint64_t c = 0; c < m.clusters; ++c) {
      const std::uint64_t first = blocks * c / m.clusters, end = blocks * (c + 1) / m.clusters;
      if (first == end) continue;
      const std::uint64_t from = first / column_blocks * of_block,
                          to = std::min(rows, ((end - 1) / column_blocks + 1) * of_block);
      read += (to - from) * depth + vectors;
    }
  }
  if (f.has_bias) read += columns * row_blocks;
  if (f.rotated > 0) read += rows * f.head * parts_of(f.rotated, t["nkv"]);
  if (f.has_residual) read += rows * g.result_columns();
  return read;
}

// Bytes of a row of weights in a type of their own and of their scales, of `depth` elements loaded `kd` at a time.
inline std::uint64_t weight_row_bytes(const workload::WeightType& w, std::uint64_t depth, std::uint64_t kd) {
  const std::uint64_t group = w.group == 0 ? depth : w.group;
  std::uint64_t bytes = 0;
  for (std::uint64_t from = 0; from < depth; from += kd) {
    const std::uint64_t here = std::min(kd, depth - from);
    bytes += hal::bytes_of(w.format->code, here) +
             ((from + here - 1) / group - from / group + 1) * hal::element_bytes(w.format->scale);
  }
  return bytes;
}

// Bytes that a product reads, with weights of any type.
inline std::uint64_t bytes_read(const workload::Gemm& g, const job::Tiling& t, const MachineConfig& m) {
  const std::uint64_t all = 2 * elements_read(g, t, m);
  if (!g.weights.any()) return all;
  const std::uint64_t row_blocks = parts_of(g.rows, std::uint64_t{t["nq"]} * m.cores), down = g.fusion.down;
  const std::uint64_t elements = std::uint64_t{g.columns} * g.depth + down * g.first_columns();
  return all - 2 * row_blocks * elements +
         row_blocks * (g.columns * weight_row_bytes(g.weights, g.depth, t["kd"]) +
                       down * weight_row_bytes(g.weights, g.first_columns(), t["kd"]));
}

}  // namespace attnvp::runs
