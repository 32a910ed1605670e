#include "platform/workload/layers.h"

#include <fmt/format.h>

#include <utility>

#include "platform/machine/error.h"
#include "platform/workload/graph.h"

namespace attnvp::workload {

namespace {

constexpr std::size_t kMostExpertGroups = 8;

// Builds the operations of one layer.
class LayerBuilder {
 public:
  LayerBuilder(const Workload& w, const Block& block)
      : w_(w), m_(w.model), block_(block), rows_(static_cast<std::uint32_t>(tokens_of(w))), type_(w.attention().type) {}

  std::vector<LayerOperation> build() {
    const bool normed = !m_.linear && m_.norm != Norm::kNone, parallel = m_.order != Order::kSequential;
    const NormPlace place = m_.norm_place;
    const bool before = normed && (place == NormPlace::kPre || place == NormPlace::kBoth),
               behind = normed && place == NormPlace::kPost,
               around = normed && (place == NormPlace::kBoth || place == NormPlace::kBehind);
    norm(before, "attention norm");
    attention();
    norm(around, "attention out norm");
    if (parallel) {
      ++held_;
      norm(before && m_.order == Order::kTwoNorms, "network norm");
      network();
      norm(around, "network out norm");
      add("attention sum");
      add("network sum");
      return std::move(all_);
    }
    add("attention sum");
    norm(behind, "attention norm");
    norm(before, "network norm");
    network();
    norm(around, "network out norm");
    add("network sum");
    norm(behind, "network norm");
    return std::move(all_);
  }

 private:
  LayerOperation& push(const char* name, Workload operation) {
    LayerOperation o;
    o.name = name;
    if (const Gemm* g = operation.gemm()) o.parameters = o.active = std::uint64_t{g->columns} * g->depth;
    if (const RowOperation* r = operation.rows(); r != nullptr && r->opcode == hal::Opcode::kNorm) {
      o.parameters = std::uint64_t{r->norm == Norm::kLayerNorm ? 2U : 1U} * r->columns;
    }
    o.workload = std::move(operation);
    o.waiting = m_.linear ? 0 : held_;
    all_.push_back(std::move(o));
    if (!is_reading_) ++held_;  // the first operation behind a sum reads the residual state, which then waits
    is_reading_ = true;
    return all_.back();
  }
  LayerOperation& product(const char* name, std::uint64_t columns, std::uint64_t depth) {
    return push(name, gemm(rows_, static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(depth), type_));
  }
  // A norm behind a sum leaves the residual state.
  void norm(bool is, const char* name) {
    if (!is) return;
    const bool leaves = !is_reading_ && m_.norm_place == NormPlace::kPost;
    push(name, norm_rows(m_.norm, rows_, m_.hidden));
    if (leaves) held_ = 0, is_reading_ = false;
  }
  void add(const char* name) {
    if (m_.linear) return;
    --held_;
    push(name, elementwise_rows(hal::Opcode::kAdd, rows_, m_.hidden));
    is_reading_ = held_ > 0;
  }
  void rotate(std::uint32_t heads, std::uint32_t width) {
    if (!m_.linear && m_.rotary && block_.is_rotary) push("rotary", rotate_rows(rows_, heads * width, width));
  }

  void attention() {
    const Attention& a = w_.attention();
    if (m_.latent.kv_rank > 0) return latent_attention();
    const std::uint32_t kv_heads = a.heads_of_kv(), heads = a.heads + kv_heads;
    product("qkv", std::uint64_t{heads} * a.emb + std::uint64_t{kv_heads} * a.values(), m_.hidden);
    if (!m_.linear && m_.qk_norm) push("q, k norm", norm_rows(m_.norm, rows_ * heads, a.emb));
    rotate(heads, m_.rotary_emb > 0 ? m_.rotary_emb : a.emb);
    push_attention();
    product("out", m_.hidden, std::uint64_t{a.heads} * a.values());
  }
  void push_attention() {
    Workload attention = w_;
    attention.scope = Scope::kAttention;
    attention.attention() = attention_of(w_, block_);
    push("attention", std::move(attention));
  }

  // In absorbed form the heads' up projections of K and V are products of Q and of O instead. Each is one product with
  // the weights of all heads, of the depth of one head.
  void latent_attention() {
    const Latent& l = m_.latent;
    const Attention a = attention_of(w_, block_);
    const std::uint64_t q_columns = std::uint64_t{a.heads} * (l.plain + l.rotary);
    if (l.q_rank > 0) {
      product("q down", l.q_rank, m_.hidden);
      if (!m_.linear) push("q norm", norm_rows(m_.norm, rows_, l.q_rank));
      product("q up", q_columns, l.q_rank);
    } else {
      product("q", q_columns, m_.hidden);
    }
    product("kv down", l.kv_rank + l.rotary, m_.hidden);
    if (!m_.linear) push("kv norm", norm_rows(m_.norm, rows_, l.kv_rank));
    rotate(a.heads + 1, l.rotary);
    if (l.form == LatentForm::kAbsorbed) {
      product("key up", std::uint64_t{a.heads} * l.kv_rank, l.plain);
      push_attention();
      product("value up", std::uint64_t{a.heads} * l.values, l.kv_rank);
    } else {
      std::uint64_t keys = 0;
      for (std::uint32_t b = 0; b < a.batch; ++b) keys += a.context(b);
      push("kv up", gemm(static_cast<std::uint32_t>(keys), a.heads * (l.plain + l.values), l.kv_rank, type_));
      push_attention();
    }
    product("out", m_.hidden, std::uint64_t{a.heads} * l.values);
  }

  void activate(const char* name, std::uint32_t rows, std::uint32_t width) {
    if (!m_.linear) push(name, activate_rows(m_.activation, m_.gated, rows, width));
  }
  void network() {
    if (m_.experts.count > 0 && block_.has_experts) return experts();
    product(m_.gated ? "gate, up" : "up", std::uint64_t{m_.gated ? 2U : 1U} * m_.ffn, m_.hidden);
    activate("activation", rows_, m_.ffn);
    product("down", m_.hidden, m_.ffn);
  }

  // Products of all experts with tokens: the same weights' shape, rows by the draw.
  void expert_product(const char* name, const std::vector<ExpertGroup>& groups, std::uint64_t columns,
                      std::uint64_t depth) {
    const std::uint64_t of_one = columns * depth;
    bool is_first = true;
    for (const ExpertGroup& g : groups) {
      LayerOperation& o =
          push(name, gemm(g.tokens, static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(depth), type_));
      o.count = g.experts;
      o.parameters = is_first ? m_.experts.count * of_one : 0;
      o.active = is_first ? m_.experts.chosen * of_one : 0;
      is_first = false;
    }
  }
  void experts() {
    const Experts& e = m_.experts;
    const std::vector<ExpertGroup> groups = expert_groups(expert_tokens(e, rows_), kMostExpertGroups);
    std::uint32_t all = 0;
    for (const ExpertGroup& g : groups) all += g.experts * g.tokens;
    const char* const up = m_.gated ? "expert gate, up" : "expert up";
    const std::uint64_t width = m_.gated ? 2 : 1;
    if (!m_.linear) ++held_;  // the experts' input
    product("router", e.count, m_.hidden);
    if (!m_.linear) push("routing", softmax_rows(rows_, e.count));
    if (!m_.linear) push("expert gather", copy_rows(all, m_.hidden));
    expert_product(up, groups, width * e.ffn, m_.hidden);
    activate("expert activation", all, e.ffn);
    expert_product("expert down", groups, m_.hidden, e.ffn);
    if (!m_.linear && e.chosen > 1 && all > rows_) {
      push("expert sum", elementwise_rows(hal::Opcode::kAdd, all - rows_, m_.hidden));
    }
    if (e.shared_ffn > 0) {
      product(m_.gated ? "shared gate, up" : "shared up", width * e.shared_ffn, m_.hidden);
      activate("shared activation", rows_, e.shared_ffn);
      product("shared down", m_.hidden, e.shared_ffn);
      if (!m_.linear) push("shared sum", elementwise_rows(hal::Opcode::kAdd, rows_, m_.hidden));
    }
    if (!m_.linear) --held_;
  }

  const Workload& w_;
  const Model& m_;
  const Block& block_;
  std::uint32_t rows_;
  hal::ElementType type_;
  std::uint32_t held_ = 0;   // tensors that wait
  bool is_reading_ = false;  // the residual state was read
  std::vector<LayerOperation> all_;
};

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

LayerOperation row_operation(const char* name, RowOperation r, std::uint64_t parameters) {
  LayerOperation o;
  o.name = name;
  o.workload = std::move(r);
  o.parameters = parameters;
  return o;
}

// Embedding: rows of the table of tokens (and of positions), or the projection of patches.
LayerGroup embedding_of(const Workload& w) {
  const Model& m = w.model;
  const auto rows = static_cast<std::uint32_t>(tokens_of(w));
  const std::uint64_t table = std::uint64_t{m.vocabulary} * m.hidden, positions = std::uint64_t{m.positions} * m.hidden;
  LayerGroup g;
  g.name = "embedding";
  if (m.patch > 0) {
    LayerOperation o;
    o.name = "patches";
    o.workload = gemm(rows, m.hidden, m.patch, w.type());
    o.parameters = o.active = std::uint64_t{m.hidden} * m.patch;
    g.operations.push_back(std::move(o));
    if (positions > 0 && !m.linear) {
      g.operations.push_back(
          row_operation("positions", elementwise_rows(hal::Opcode::kAdd, rows, m.hidden), positions));
    }
  } else if (m.linear) {
    return g;
  } else if (m.vocabulary > 0 && positions > 0) {
    g.operations.push_back(
        row_operation("tokens, positions", elementwise_rows(hal::Opcode::kAdd, rows, m.hidden), table + positions));
  } else if (m.vocabulary > 0) {
    g.operations.push_back(row_operation("tokens", copy_rows(rows, m.hidden), table));
  }
  if (m.embedding_norm && !m.linear && m.norm != Norm::kNone && !g.operations.empty()) {
    const std::uint64_t of_norm = std::uint64_t{m.norm == Norm::kLayerNorm ? 2U : 1U} * m.hidden;
    g.operations.push_back(row_operation("embedding norm", norm_rows(m.norm, rows, m.hidden), of_norm));
  }
  return g;
}

LayerGroup last_projection_of(const Workload& w) {
  const Model& m = w.model;
  const Attention& a = w.attention();
  const auto rows = static_cast<std::uint32_t>(tokens_of(w));
  LayerGroup g;
  g.name = "last projection";
  if (m.vocabulary == 0 && m.patch == 0) return g;
  if (m.norm_place != NormPlace::kPost && m.norm != Norm::kNone && !m.linear) {
    const std::uint64_t of_norm = std::uint64_t{m.norm == Norm::kLayerNorm ? 2U : 1U} * m.hidden;
    g.operations.push_back(row_operation("final norm", norm_rows(m.norm, rows, m.hidden), of_norm));
  }
  if (m.logits == Logits::kNone || m.vocabulary == 0) return g;
  LayerOperation o;
  o.name = "logits";
  o.workload = gemm(m.logits == Logits::kAll ? rows : a.batch, m.vocabulary, m.hidden, w.type());
  o.active = std::uint64_t{m.vocabulary} * m.hidden;
  o.parameters = m.tied && m.patch == 0 ? 0 : o.active;
  g.operations.push_back(std::move(o));
  return g;
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

std::vector<LayerOperation> operations_of(const Workload& w) {
  if (w.graph != nullptr) return w.graph->operations;
  check_width(w);
  return LayerBuilder(w, w.model.all_blocks()[w.model.block]).build();
}

std::vector<LayerGroup> groups_of(const Workload& w) {
  if (w.graph != nullptr) return {{w.graph->name, 1, w.graph->operations}};
  check_width(w);
  const std::vector<Block> blocks = w.model.all_blocks();
  if (w.scope != Scope::kModel) return {{blocks[w.model.block].name, 1, operations_of(w)}};
  std::vector<LayerGroup> groups{embedding_of(w)};
  for (const Block& b : blocks) groups.push_back({b.name, b.count, LayerBuilder(w, b).build()});
  groups.push_back(last_projection_of(w));
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
