#include <algorithm>
#include <optional>

#include "platform/workload/layers.h"

namespace attnvp::workload {

StridedCopy copy_of_rows(const std::string& input, std::uint64_t rows, std::uint64_t columns, const MatrixPart& from,
                         const MatrixPart& to) {
  return {input, from.at, to.at, {1, 1, rows, columns}, {0, 0, from.stride, 1}, {0, 0, to.stride, 1}};
}

TensorView view_of_rows(const std::string& output, const std::string& input, std::uint64_t rows, std::uint64_t columns,
                        const MatrixPart& from) {
  return {output, rows * columns, {copy_of_rows(input, rows, columns, from, {0, columns})}};
}

namespace {

// Tokens of a batch that come from rows of new tokens, and their first key.
struct NewKeys {
  std::uint64_t tokens, first;
};
NewKeys new_keys(const Attention& a, std::uint32_t batch) {
  const std::uint64_t context = a.context(batch), tokens = std::min<std::uint64_t>(a.new_tokens(batch), context);
  const std::uint64_t last = context - tokens;
  return {tokens, a.append ? std::min<std::uint64_t>(a.cached_tokens(batch), last) : last};
}

}  // namespace

void add_queries(TensorView& view, const Attention& a, std::uint32_t width, std::uint32_t first,
                 const HeadColumns& source) {
  std::uint64_t token = 0, to = first;
  for (std::uint32_t b = 0; b < a.batch; ++b) {
    const std::uint64_t tokens = a.queries_of(b);
    view.parts.push_back({source.input,
                          source.from + token * source.row,
                          to,
                          {1, a.heads, tokens, source.columns},
                          {0, source.head, source.row, 1},
                          {0, tokens * width, width, 1}});
    token += tokens;
    to += a.heads * tokens * width;
  }
}

void add_keys(TensorView& view, const Attention& a, std::uint32_t width, std::uint32_t first, const HeadColumns& source,
              bool all_keys) {
  const std::uint64_t heads = a.heads_of_kv();
  std::uint64_t row = 0, to = first;
  for (std::uint32_t b = 0; b < a.batch; ++b) {
    const std::uint64_t context = a.context(b);
    const NewKeys keys = all_keys ? NewKeys{context, 0} : new_keys(a, b);
    view.parts.push_back({source.input,
                          source.from + row * source.row,
                          to + keys.first * width,
                          {1, heads, keys.tokens, source.columns},
                          {0, source.head, source.row, 1},
                          {0, context * width, width, 1}});
    row += all_keys ? context : a.new_tokens(b);
    to += heads * context * width;
  }
}

TensorView rows_of_output(const std::string& output, const std::string& input, const Attention& a,
                          std::uint32_t heads) {
  const std::uint64_t width = a.values();
  TensorView view{output, a.output_elements() / a.heads * heads, {}};
  std::uint64_t from = 0, to = 0;
  for (std::uint32_t b = 0; b < a.batch; ++b) {
    const std::uint64_t tokens = a.queries_of(b);
    view.parts.push_back(
        {input, from, to, {1, heads, tokens, width}, {0, tokens * width, width, 1}, {0, width, heads * width, 1}});
    from += a.heads * tokens * width;
    to += heads * tokens * width;
  }
  return view;
}

std::uint64_t ShapedTensor::elements() const {
  std::uint64_t all = 1;
  for (const std::uint64_t extent : shape) all *= extent;
  return all;
}

namespace {

// Extents and strides of batch, head, row and column.
struct MatrixForm {
  std::uint64_t batch = 1, heads = 1, rows = 1, columns = 1;
  bool has_heads = false;
  std::uint64_t all_rows() const { return batch * rows; }
  std::uint64_t all_columns() const { return heads * columns; }
};

MatrixForm form_of(const ShapedTensor& t) {
  if (t.shape.size() == 4) return {t.shape[0], t.shape[1], t.shape[2], t.shape[3], true};
  MatrixForm form;
  if (!t.shape.empty()) form.columns = std::max<std::uint64_t>(t.shape.back(), 1);
  form.rows = t.elements() / form.columns;
  return form;
}

std::uint64_t element_at(const MatrixForm& form, std::uint64_t column) {
  return form.has_heads ? column / form.columns * form.rows * form.columns + column % form.columns : column;
}

// Strides of a matrix for another one's batches, heads, rows and columns.
std::array<std::uint64_t, 4> strides_of(const MatrixForm& form, const MatrixForm& extents) {
  const std::uint64_t row = form.has_heads ? form.columns : form.all_columns();
  return {form.has_heads ? form.all_columns() * form.rows : extents.rows * form.all_columns(),
          form.has_heads ? form.rows * form.columns : extents.columns, row, 1};
}

// Columns of a matrix into columns of another. None if heads are split or the matrices have different rows.
std::optional<StridedCopy> copy_of_columns(const ShapedTensor& input, const MatrixForm& from, std::uint64_t from_column,
                                           const MatrixForm& to, std::uint64_t to_column, std::uint64_t columns) {
  if (from.all_rows() != to.all_rows() || from_column + columns > from.all_columns()) return std::nullopt;
  const MatrixForm& heads = from.has_heads ? from : to;  // its extents are those of the copy
  const bool differ =
      from.has_heads && to.has_heads && (from.columns != to.columns || from.rows != to.rows || from.batch != to.batch);
  const bool splits = heads.has_heads && columns % heads.columns != 0;
  const bool starts_within =
      (from.has_heads && from_column % from.columns != 0) || (to.has_heads && to_column % to.columns != 0);
  if (differ || splits || starts_within) return std::nullopt;
  const std::uint64_t width = heads.has_heads ? heads.columns : columns;
  MatrixForm extents = heads;
  extents.heads = width == 0 ? 0 : columns / width;  // 0: the output has no columns left for this input
  extents.columns = width;
  return StridedCopy{input.name,
                     element_at(from, from_column),
                     element_at(to, to_column),
                     {extents.batch, extents.heads, extents.rows, width},
                     strides_of(from, extents),
                     strides_of(to, extents)};
}

}  // namespace

TensorView view_by_shape(const ShapedTensor& output, const std::vector<ShapedTensor>& inputs, std::uint64_t& column) {
  const MatrixForm to = form_of(output);
  TensorView view{output.name, output.elements(), {}};
  std::uint64_t all = 0;  // columns of all inputs
  for (const ShapedTensor& input : inputs) all += form_of(input).all_columns();
  const bool is_part = inputs.size() == 1 && to.all_columns() < all;
  if (is_part && column + to.all_columns() > all) column = 0;
  std::uint64_t at = 0;
  while (at < to.all_columns()) {
    for (const ShapedTensor& input : inputs) {
      const MatrixForm from = form_of(input);
      const std::uint64_t some = std::min(is_part ? to.all_columns() : from.all_columns(), to.all_columns() - at);
      const auto copy = copy_of_columns(input, from, is_part ? column : 0, to, at, some);
      if (!copy) {
        at = UINT64_MAX;
        break;
      }
      if (some > 0) view.parts.push_back(*copy);
      at += some;
    }
    if (at == UINT64_MAX) break;
  }
  if (is_part) column += to.all_columns();
  if (at != UINT64_MAX) return view;
  view.parts.clear();  // element by element, in the order in which they lie
  std::uint64_t next = 0;
  for (std::size_t i = 0; next < view.elements; i = (i + 1) % inputs.size()) {
    const std::uint64_t some = std::min(inputs[i].elements(), view.elements - next);
    if (some == 0) break;
    view.parts.push_back(copy_of_rows(inputs[i].name, 1, some, {}, {next, 0}));
    next += some;
  }
  return view;
}

}  // namespace attnvp::workload
