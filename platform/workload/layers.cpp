#include "platform/workload/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "platform/machine/error.h"
#include "platform/workload/layer/layer.h"

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

namespace {

void check_width(const Workload& w) {
  const Model& m = w.model;
  bool needs_ffn = false;
  for (const Block& b : m.all_blocks()) needs_ffn = needs_ffn || m.experts.count == 0 || !b.has_experts;
  if (m.hidden == 0 || (needs_ffn && m.ffn == 0)) {
    throw config::ConfigError(
        fmt::format("{}: scope=layer and scope=model need the model's keys 'hidden' and 'ffn'", w.name()));
  }
  const Attention& a = w.attention();
  if (a.ragged() && a.requests.empty()) {
    throw config::ConfigError(
        fmt::format("{}: scope=layer takes requests, not contexts of different lengths", w.name()));
  }
  if (a.ragged() && m.has_cross()) {
    throw config::ConfigError(
        fmt::format("{}: an encoder and a decoder take no requests; allowed are a batch and a phase", w.name()));
  }
}

}  // namespace

std::uint64_t tokens_of(const Workload& w) {
  if (!w.is_attention()) return w.extents().seq_q;
  const Attention& a = w.attention();
  if (w.scope == Scope::kLayer && w.model.all_blocks()[w.model.block].is_encoder) {
    return std::uint64_t{a.batch} * w.model.encoder;
  }
  std::uint64_t tokens = 0;
  for (const Request& r : a.requests) tokens += r.new_tokens;
  return a.requests.empty() ? std::uint64_t{a.batch} * a.seq_q : tokens;
}

namespace {

// All queries attend to all keys, which are the encoder's rows.
Attention without_mask(Attention a, std::uint32_t queries, std::uint32_t rows) {
  a.seq_q = queries;
  a.seq_kv = rows;
  a.mask = {};
  a.mask.queries = queries;
  a.map.clear();
  a.valid.clear();
  a.append = false;
  a.page = a.cache_pages = 0;
  if (a.bias == Bias::kTensor) a.bias = Bias::kNone;
  a.bias_tensor.reset();
  return a;
}

}  // namespace

Attention cross_attention_of(const Workload& w) {
  Attention a = without_mask(w.attention(), w.attention().seq_q, w.model.encoder);
  a.bias = Bias::kNone;
  a.sink = false;
  return a;
}

Attention attention_of(const Workload& w, const Block& block) {
  Attention a = w.attention();
  if (block.is_encoder) return without_mask(std::move(a), w.model.encoder, w.model.encoder);
  if (!block.has_window) a.mask.window = a.mask.sinks = 0;
  const Latent& l = w.model.latent;
  if (l.kv_rank > 0 && l.form == LatentForm::kPlain) {
    a.kv_heads = a.heads;
    a.emb = l.plain + l.rotary;
    a.value_emb = l.values == a.emb ? 0 : l.values;
    a.append = false;  // K and V of all tokens are computed
  }
  return a;
}

namespace {

// With conversions, and fused with fuse=on; choices that depend on the machine, by time and of second products, are up
// to the caller.
std::vector<LayerOperation> completed(const Workload& w, std::vector<LayerOperation> operations) {
  if (!w.model.linear) operations = with_conversions(std::move(operations));
  if (w.model.fuse != Fuse::kOn) return operations;
  return fused(std::move(operations), [](const auto& /*apart*/, const auto& together) {
    const Gemm* const g = together.front()->workload.gemm();
    return g == nullptr || g->fusion.down == 0;
  });
}

}  // namespace

std::vector<LayerOperation> operations_of(const Workload& w) {
  if (w.graph != nullptr) return w.graph->operations;
  check_width(w);
  return completed(w, operations_of_block(w, w.model.all_blocks()[w.model.block]));
}

std::vector<LayerGroup> groups_of(const Workload& w) {
  if (w.graph != nullptr) return {{w.graph->name, 1, w.graph->operations}};
  check_width(w);
  const std::vector<Block> blocks = w.model.all_blocks();
  if (w.scope != Scope::kModel) return {{blocks[w.model.block].name, 1, operations_of(w)}};
  std::vector<LayerGroup> groups;
  const auto add_blocks = [&](bool of_encoder) {
    for (const Block& b : blocks) {
      if (b.is_encoder == of_encoder) groups.push_back({b.name, b.count, operations_of_block(w, b)});
    }
  };
  if (std::any_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.is_encoder; })) {
    groups.push_back(encoder_embedding_of(w));
    add_blocks(true);
    groups.push_back(encoder_norm_of(w));
  }
  groups.push_back(embedding_of(w));
  add_blocks(false);
  groups.push_back(last_projection_of(w));
  groups.erase(std::remove_if(groups.begin(), groups.end(), [](const LayerGroup& g) { return g.operations.empty(); }),
               groups.end());
  for (LayerGroup& g : groups) g.operations = completed(w, std::move(g.operations));
  return groups;
}

ParameterCount parameters_of(const std::vector<LayerGroup>& groups) {
  ParameterCount sum;
  for (const LayerGroup& g : groups) {
    for (const LayerOperation& o : g.operations) {
      sum.all += g.count * o.parameters;
      sum.active += g.count * o.active;
    }
  }
  return sum;
}

}  // namespace attnvp::workload
