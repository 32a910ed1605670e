#include "platform/workload/layer/ends.h"

#include <utility>

#include "platform/workload/layer/builder.h"

namespace attnvp::workload {

namespace {

// Appends operations, each of which takes the result of the one before.
class Appended {
 public:
  Appended(const Workload& w, const char* name, std::string first) : model_(w.model), last_(std::move(first)) {
    group_.name = name;
  }
  LayerGroup& group() { return group_; }
  const std::string& last() const { return last_; }
  LayerOperation& add(const char* name, Workload operation, std::vector<std::string> further = {}) {
    LayerOperation& o = group_.operations.emplace_back();
    o.name = last_ = name;
    o.workload = std::move(operation);
    o.inputs = std::move(further);
    o.outputs = {name};
    return o;
  }
  void norm(const char* name, std::uint32_t rows) {
    if (model_.norm == Norm::kNone || model_.linear) return;
    const std::string x = last_;
    LayerOperation& o = add(name, norm_rows(model_.norm, rows, model_.hidden), norm_inputs(x, name, model_.norm));
    o.parameters = std::uint64_t{model_.norm == Norm::kLayerNorm ? 2U : 1U} * model_.hidden;
  }

 private:
  const Model& model_;
  LayerGroup group_;
  std::string last_;
};

}  // namespace

LayerGroup embedding_of(const Workload& w) {
  const Model& m = w.model;
  const auto rows = static_cast<std::uint32_t>(tokens_of(w));
  const std::uint64_t table = std::uint64_t{m.vocabulary} * m.hidden, positions = std::uint64_t{m.positions} * m.hidden;
  Appended all(w, "embedding", "");
  if (m.patch > 0) {
    LayerOperation& o =
        all.add("patches", gemm(rows, m.hidden, m.patch, w.type(), {}, m.weights), {"pixels", "patches weights"});
    o.parameters = o.active = std::uint64_t{m.hidden} * m.patch;
    if (positions > 0 && !m.linear) {
      all.add("positions", elementwise_rows(hal::Opcode::kAdd, rows, m.hidden), {"patches", "position rows"})
          .parameters = positions;
    }
  } else if (m.linear) {
    return all.group();
  } else if (m.vocabulary > 0 && positions > 0) {
    all.add("tokens, positions", elementwise_rows(hal::Opcode::kAdd, rows, m.hidden), {"token rows", "position rows"})
        .parameters = table + positions;
  } else if (m.vocabulary > 0) {
    all.add("tokens", copy_rows(rows, m.hidden), {"token rows"}).parameters = table;
  }
  if (m.embedding_norm && !all.group().operations.empty()) all.norm("embedding norm", rows);
  return all.group();
}

namespace {

// Rows of three frames side by side, the middle one being frame `stride` x row; beyond the ends are zeros.
TensorView windows_of(const char* name, const std::string& input, std::uint64_t batch, std::uint64_t frames,
                      std::uint64_t width, std::uint64_t stride) {
  const std::uint64_t rows = frames / stride, row = 3 * width, inner = rows - 1 - (stride == 1 ? 1 : 0);
  TensorView view{name, batch * rows * row, {}};
  for (std::uint64_t b = 0; b < batch; ++b) {
    const std::uint64_t from = b * frames * width, to = b * rows * row;
    view.parts.push_back(copy_of_rows(input, 1, 2 * width, {from, 0}, {to + width, 0}));
    view.parts.push_back(
        copy_of_rows(input, inner, row, {from + (stride - 1) * width, stride * width}, {to + row, row}));
    if (stride > 1) continue;
    view.parts.push_back(
        copy_of_rows(input, 1, 2 * width, {from + (frames - 2) * width, 0}, {to + (rows - 1) * row, 0}));
  }
  return view;
}

}  // namespace

// Two convolutions of three frames each, with GELU; the second one has a row for every two frames.
LayerGroup encoder_embedding_of(const Workload& w) {
  const Model& m = w.model;
  const std::uint32_t batch = w.attention().batch, rows = batch * m.encoder;
  Appended all(w, "encoder embedding", "sound");
  const auto convolve = [&](const char* name, const char* activation, std::uint32_t results, std::uint32_t width,
                            TensorView windows) {
    LayerOperation& o = all.add(name, gemm(results, m.hidden, 3 * width, w.type(), {}, m.weights),
                                {windows.output, std::string(name) + " weights"});
    o.views.push_back(std::move(windows));
    o.parameters = o.active = std::uint64_t{m.hidden} * 3 * width;
    if (!m.linear) all.add(activation, activate_rows(hal::Activation::kGelu, false, results, m.hidden), {name});
  };
  if (m.mel_bins == 0) {
    if (m.vocabulary > 0 && !m.linear) all.add("tokens", copy_rows(rows, m.hidden), {"token rows"});
    return all.group();
  }
  const std::uint64_t frames = std::uint64_t{2} * m.encoder;
  convolve("convolution 1", "convolution 1 activation", 2 * rows, m.mel_bins,
           windows_of("frames", all.last(), batch, frames, m.mel_bins, 1));
  convolve("convolution 2", "convolution 2 activation", rows, m.hidden,
           windows_of("convolved frames", all.last(), batch, frames, m.hidden, 2));
  if (m.positions > 0 && !m.linear) {
    const std::string x = all.last();
    all.add("positions", elementwise_rows(hal::Opcode::kAdd, rows, m.hidden), {x, "position rows"}).parameters =
        std::uint64_t{m.encoder} * m.hidden;
  }
  return all.group();
}

LayerGroup encoder_norm_of(const Workload& w) {
  Appended all(w, "encoder norm", kHiddenState);
  if (w.model.norm_place != NormPlace::kPost) all.norm("final norm", w.attention().batch * w.model.encoder);
  return all.group();
}

namespace {

// Last token of each sequence.
TensorView last_rows(const std::string& input, const Workload& w) {
  const Attention& a = w.attention();
  const std::uint64_t hidden = w.model.hidden;
  TensorView view{"last rows", a.batch * hidden, {}};
  std::uint64_t end = 0;
  for (std::uint32_t b = 0; b < a.batch; ++b) {
    end += a.requests.empty() ? a.seq_q : a.requests[b].new_tokens;
    view.parts.push_back(copy_of_rows(input, 1, hidden, {(end - 1) * hidden, 0}, {b * hidden, 0}));
  }
  return view;
}

}  // namespace

LayerGroup last_projection_of(const Workload& w) {
  const Model& m = w.model;
  const auto rows = static_cast<std::uint32_t>(tokens_of(w));
  Appended all(w, "last projection", kHiddenState);
  if (m.vocabulary == 0 && m.patch == 0) return all.group();
  if (m.norm_place != NormPlace::kPost) all.norm("final norm", rows);
  if (m.logits == Logits::kNone || m.vocabulary == 0) return all.group();
  const bool has_all = m.logits == Logits::kAll;
  const std::string input = all.last();
  LayerOperation& o =
      all.add("logits", gemm(has_all ? rows : w.attention().batch, m.vocabulary, m.hidden, w.type(), {}, m.weights),
              {has_all ? input : "last rows", "logits weights"});
  if (!has_all) o.views.push_back(last_rows(input, w));
  o.active = std::uint64_t{m.vocabulary} * m.hidden;
  o.parameters = m.tied && m.patch == 0 ? 0 : o.active;
  return all.group();
}

}  // namespace attnvp::workload
