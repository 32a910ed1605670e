#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "platform/workload/layer/layer.h"

namespace attnvp::workload {

namespace {

bool is_short(const Workload& w) { return w.rows() == nullptr && hal::is_relative(w.type()); }

// Operands that may need a conversion: those that are no weights.
std::size_t activations_of(const Workload& w) { return w.is_attention() ? 3 : 1; }

std::uint64_t elements_of(const StridedCopy& part) {
  return std::accumulate(part.extent.begin(), part.extent.end(), std::uint64_t{1}, std::multiplies<>());
}

// Leaves out what later parts replace: whole parts, or their first columns.
void trim(std::vector<StridedCopy>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    StridedCopy& part = parts[i];
    for (std::size_t later = i + 1; later < parts.size(); ++later) {
      const StridedCopy& other = parts[later];
      const bool is_same = other.to == part.to && other.to_stride == part.to_stride &&
                           std::equal(part.extent.begin(), part.extent.end() - 1, other.extent.begin());
      if (!is_same) continue;
      const std::uint64_t columns = std::min(part.extent[3], other.extent[3]);
      part.from += columns * part.from_stride[3];
      part.to += columns * part.to_stride[3];
      part.extent[3] -= columns;
    }
  }
  parts.erase(std::remove_if(parts.begin(), parts.end(), [](const StridedCopy& p) { return p.extent[3] == 0; }),
              parts.end());
}

struct ResultShape {
  std::uint64_t rows, columns;
};
ResultShape result_of(const LayerOperation& o) {
  const Workload& w = o.workload;
  if (const Gemm* g = w.gemm()) return {std::uint64_t{g->rows} * o.count, g->result_columns()};
  if (const RowOperation* r = w.rows()) return {r->rows, r->columns};
  const std::uint64_t columns = std::uint64_t{w.attention().heads} * w.attention().values();
  return {w.attention().output_elements() / columns, columns};
}

class Converter {
 public:
  explicit Converter(std::vector<LayerOperation> operations) : given_(std::move(operations)) {
    for (LayerOperation& o : given_) {
      for (const std::string& tensor : o.outputs) results_.emplace(tensor, result_of(o));
      if (!is_short(o.workload)) continue;
      for (std::size_t i = 0; i < activations_of(o.workload); ++i) {
        const auto view = view_of(o, o.inputs[i]);
        if (view == o.views.end()) continue;
        trim(view->parts);
        for (const StridedCopy& part : view->parts) used_[part.input] += elements_of(part);
      }
    }
  }

  std::vector<LayerOperation> run() {
    for (LayerOperation& o : given_) {
      for (std::size_t i = 0; is_short(o.workload) && i < activations_of(o.workload); ++i) convert(o, i);
      all_.push_back(std::move(o));
    }
    return std::move(all_);
  }

 private:
  using Views = std::vector<TensorView>;
  static Views::iterator view_of(LayerOperation& o, const std::string& tensor) {
    return std::find_if(o.views.begin(), o.views.end(), [&](const TensorView& v) { return v.output == tensor; });
  }
  bool is_written(const std::string& tensor) const { return tensor == kHiddenState || results_.count(tensor) != 0; }

  void convert(LayerOperation& o, std::size_t input) {
    const std::string tensor = o.inputs[input];
    const auto view = view_of(o, tensor);
    if (view == o.views.end()) {
      if (!is_written(tensor)) return;
      const Gemm& g = *o.workload.gemm();
      o.inputs[input] = converted(o, tensor, std::uint64_t{g.rows} * o.count, g.depth);
      return;
    }
    std::uint64_t elements = 0, columns = 0;  // that were written in FP16
    TensorView gathered{tensor + " in fp16", 0, {}};
    std::vector<StridedCopy> parts;
    for (StridedCopy part : view->parts) {
      if (!is_written(part.input)) {
        parts.push_back(part);
        continue;
      }
      const auto whole = results_.find(part.input);
      if (whole != results_.end() && used_[part.input] >= whole->second.rows * whole->second.columns) {
        part.input = converted(o, part.input, whole->second.rows, whole->second.columns);
        parts.push_back(part);
        continue;
      }
      const auto& [batch, heads, rows, width] = part.extent;
      const std::array<std::uint64_t, 4> dense{heads * rows * width, rows * width, width, 1};
      columns = std::gcd(columns, width);
      gathered.parts.push_back({part.input, part.from, elements, part.extent, part.from_stride, dense});
      parts.push_back({gathered.output, elements, part.to, part.extent, dense, part.to_stride});
      elements += elements_of(part);
    }
    if (elements > 0) {
      gathered.elements = elements;
      const std::string name = gathered.output;
      const auto place = static_cast<std::ptrdiff_t>(view - o.views.begin());
      Views before(std::make_move_iterator(o.views.begin()), std::make_move_iterator(o.views.begin() + place));
      o.views.erase(o.views.begin(), o.views.begin() + place);
      before.push_back(std::move(gathered));
      const std::string result = converted(o, name, elements / columns, columns, tensor, std::move(before));
      for (StridedCopy& part : parts) {
        if (part.input == name) part.input = result;
      }
    }
    view_of(o, tensor)->parts = std::move(parts);
  }

  // Name of the tensor in the type of `reader`, before which it is converted.
  std::string converted(const LayerOperation& reader, const std::string& tensor, std::uint64_t rows,
                        std::uint64_t columns, const std::string& name = "", Views views = {}) {
    const auto [known, is_new] = converted_.try_emplace(tensor, (name.empty() ? tensor : name) + " conversion");
    if (!is_new) return known->second;
    LayerOperation& o = all_.emplace_back();
    o.name = known->second;
    o.workload =
        convert_rows(reader.workload.type(), static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns));
    o.waiting = reader.waiting;
    o.inputs = {tensor};
    o.outputs = {o.name};
    o.views = std::move(views);
    return o.name;
  }

  std::vector<LayerOperation> given_, all_;
  std::map<std::string, ResultShape> results_;
  std::map<std::string, std::uint64_t> used_;     // elements that typed operations' views take
  std::map<std::string, std::string> converted_;  // names of tensors in the operations' type
};

}  // namespace

std::vector<LayerOperation> with_conversions(std::vector<LayerOperation> operations) {
  return Converter(std::move(operations)).run();
}

}  // namespace attnvp::workload
