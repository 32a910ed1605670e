#include "platform/workload/layers.h"

#include <fmt/format.h>

#include <utility>

#include "platform/machine/error.h"
#include "platform/workload/graph.h"
#include "platform/workload/layer/builder.h"
#include "platform/workload/layer/conversion.h"
#include "platform/workload/layer/fusion.h"

namespace attnvp::workload {

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
}

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

// Embedding: rows of the table of tokens (and of positions), or the projection of patches.
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

}  // namespace

std::uint64_t tokens_of(const Workload& w) {
  if (!w.is_attention()) return w.extents().seq_q;
  const Attention& a = w.attention();
  std::uint64_t tokens = 0;
  for (const Request& r : a.requests) tokens += r.new_tokens;
  return a.requests.empty() ? std::uint64_t{a.batch} * a.seq_q : tokens;
}

Attention attention_of(const Workload& w, const Block& block) {
  Attention a = w.attention();
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

// With conversions, and fused with fuse=on; a choice by time is up to the caller.
std::vector<LayerOperation> completed(const Workload& w, std::vector<LayerOperation> operations) {
  if (!w.model.linear) operations = with_conversions(std::move(operations));
  if (w.model.fuse != Fuse::kOn) return operations;
  return fused(std::move(operations), [](const auto& /*apart*/, const auto& /*together*/) { return true; });
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
  std::vector<LayerGroup> groups{embedding_of(w)};
  for (const Block& b : blocks) groups.push_back({b.name, b.count, operations_of_block(w, b)});
  groups.push_back(last_projection_of(w));
  for (LayerGroup& g : groups) g.operations = completed(w, std::move(g.operations));
  if (groups.back().operations.empty()) groups.pop_back();
  if (groups.front().operations.empty()) groups.erase(groups.begin());
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
