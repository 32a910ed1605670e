// Rearrangements of tensors between operations: slices, transposes of heads, concatenations, repeats. They take no time
// and no traffic: the operations read and write rows where the tensors lie.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/workload/attention.h"

namespace attnvp::workload {

// output[to + sum i to_stride] = input[from + sum i from_stride] for all i < extent, in elements.
struct StridedCopy {
  std::string input;
  std::uint64_t from = 0, to = 0;
  std::array<std::uint64_t, 4> extent{1, 1, 1, 1}, from_stride{}, to_stride{};
};

// Elements that no part writes are 0. Later parts replace earlier ones.
struct TensorView {
  std::string output;
  std::uint64_t elements = 0;
  std::vector<StridedCopy> parts;
};

// Part of a matrix: `columns` of rows that are `stride` elements apart.
struct MatrixPart {
  std::uint64_t at = 0, stride = 0;
};
StridedCopy copy_of_rows(const std::string& input, std::uint64_t rows, std::uint64_t columns, const MatrixPart& from,
                         const MatrixPart& to);
TensorView view_of_rows(const std::string& output, const std::string& input, std::uint64_t rows, std::uint64_t columns,
                        const MatrixPart& from);

// Columns of heads in rows of tokens: element e of head h of a token is at `from` + token x row + h x head + e.
struct HeadColumns {
  std::string input;
  std::uint64_t from = 0, row = 0, head = 0;
  std::uint32_t columns = 0;
};

// Adds the columns `first`.. of an attention's Q ([batch, heads, queries, width]), from rows of new tokens.
void add_queries(TensorView& view, const Attention& attention, std::uint32_t width, std::uint32_t first,
                 const HeadColumns& source);

// Adds columns of K or V ([batch, heads of K, keys, width]). Rows of new tokens become the last keys, or those behind
// the cache; with `all_keys` the source has a row for each key.
void add_keys(TensorView& view, const Attention& attention, std::uint32_t width, std::uint32_t first,
              const HeadColumns& source, bool all_keys = false);

// O ([batch, heads, queries, width]) as rows of tokens with the columns of `heads` heads.
TensorView rows_of_output(const std::string& output, const std::string& input, const Attention& attention,
                          std::uint32_t heads);

// Shape of a tensor as a matrix: [batch, heads, rows, columns] has rows of batch x rows and columns of all heads, other
// shapes have the columns of their last extent. In the entries of a graph file (docs/reference/file-formats.md).
struct ShapedTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::uint64_t elements() const;
};
// `inputs` one behind the other in `output`. `column`: first column of the only input that it has; it is then advanced.
TensorView view_by_shape(const ShapedTensor& output, const std::vector<ShapedTensor>& inputs, std::uint64_t& column);

}  // namespace attnvp::workload
