#include <fmt/format.h>

#include <set>
#include <utility>

#include "platform/workload/layer/layer.h"

namespace attnvp::workload {

namespace {

constexpr std::size_t kMostExpertGroups = 8;
constexpr const char* kEncoderRows = "encoder rows";

// Tensor as rows of tokens, or a part of its columns.
struct RowsOf {
  std::string tensor;
  MatrixPart part;
  HeadColumns heads(std::uint64_t first, std::uint64_t head, std::uint32_t columns) const {
    return {tensor, part.at + first, part.stride, head, columns};
  }
};

class LayerBuilder {
 public:
  LayerBuilder(const Workload& w, const Block& block)
      : w_(w),
        m_(w.model),
        block_(block),
        encoder_rows_(w.attention().batch * w.model.encoder),
        rows_(block.is_encoder ? encoder_rows_ : static_cast<std::uint32_t>(tokens_of(w))),
        type_(w.attention().type) {}

  std::vector<LayerOperation> build() {
    const bool normed = !m_.linear && m_.norm != Norm::kNone, parallel = m_.order != Order::kSequential;
    const NormPlace place = m_.norm_place;
    const bool before = normed && (place == NormPlace::kPre || place == NormPlace::kBoth),
               behind = normed && place == NormPlace::kPost,
               around = normed && (place == NormPlace::kBoth || place == NormPlace::kBehind);
    norm(before, "attention norm");
    const std::string input = current_;
    attention();
    norm(around, "attention out norm");
    if (parallel) {
      ++held_;
      const std::string of_attention = std::exchange(current_, m_.order == Order::kTwoNorms ? residual_ : input);
      norm(before && m_.order == Order::kTwoNorms, "network norm");
      network();
      norm(around, "network out norm");
      const std::string of_network = std::exchange(current_, of_attention);
      add("attention sum");
      current_ = of_network;
      add("network sum");
      return std::move(all_);
    }
    add("attention sum");
    norm(behind, "attention norm");
    if (block_.has_cross) {
      norm(before, "cross norm");
      cross_attention();
      norm(around, "cross out norm");
      add("cross sum");
      norm(behind, "cross norm");
    }
    norm(before, "network norm");
    network();
    norm(around, "network out norm");
    add("network sum");
    norm(behind, "network norm");
    return std::move(all_);
  }

 private:
  // `inputs` precede weights; the result is the next operation's input.
  LayerOperation& push(const char* name, Workload operation, std::vector<std::string> inputs) {
    LayerOperation o;
    o.name = name;
    if (const Gemm* g = operation.gemm()) o.parameters = o.active = std::uint64_t{g->columns} * g->depth;
    if (const RowOperation* r = operation.rows(); r != nullptr && r->opcode == hal::Opcode::kNorm) {
      o.parameters = std::uint64_t{r->norm == Norm::kLayerNorm ? 2U : 1U} * r->columns;
    }
    current_ = name;
    for (std::size_t i = 2; !written_.insert(current_).second; ++i) current_ = fmt::format("{} {}", name, i);
    o.inputs = std::move(inputs);
    if (operation.gemm() != nullptr) o.inputs.push_back(current_ + " weights");
    o.outputs = {current_};
    o.views = std::exchange(views_, {});
    o.workload = std::move(operation);
    o.waiting = m_.linear ? 0 : std::uint64_t{held_} * rows_ * m_.hidden;
    if (reads_encoder() && o.inputs.front() != kEncoderRows) o.waiting += std::uint64_t{encoder_rows_} * m_.hidden;
    all_.push_back(std::move(o));
    if (!is_reading_) ++held_;  // the first operation behind a sum reads the residual state, which then waits
    is_reading_ = true;
    return all_.back();
  }
  Gemm weighted(std::uint32_t rows, std::uint64_t columns, std::uint64_t depth, const WeightType& weights) const {
    return gemm(rows, static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(depth), type_, {}, weights);
  }
  LayerOperation& product(const char* name, std::uint64_t columns, std::uint64_t depth) {
    return push(name, weighted(rows_, columns, depth, m_.weights), {current_});
  }
  // A norm behind a sum leaves the residual state.
  void norm(bool is, const char* name) {
    if (!is) return;
    const bool leaves = !is_reading_ && m_.norm_place == NormPlace::kPost;
    push_norm(name, rows_, m_.hidden, current_);
    if (leaves) held_ = 0, is_reading_ = false, residual_ = current_;
  }
  void push_norm(const char* name, std::uint32_t rows, std::uint32_t columns, const std::string& x) {
    push(name, norm_rows(m_.norm, rows, columns), norm_inputs(x, name, m_.norm));
  }
  void add(const char* name) {
    if (m_.linear) return;
    --held_;
    push(name, elementwise_rows(hal::Opcode::kAdd, rows_, m_.hidden), {residual_, current_});
    residual_ = current_;
    is_reading_ = held_ > 0;
  }

  // A view before the next operation.
  std::string view(TensorView v) {
    views_.push_back(std::move(v));
    return views_.back().output;
  }
  std::string slice(const char* name, const RowsOf& of, std::uint64_t columns) {
    return view(view_of_rows(name, of.tensor, rows_, columns, of.part));
  }

  bool reads_encoder() const { return block_.has_cross && !m_.has_encoder_cache; }
  bool rotates() const { return !m_.linear && m_.rotary && block_.is_rotary; }
  // The input has rows of `heads` heads.
  void rotate(std::uint32_t heads, std::uint32_t width, TensorView input) {
    if (!rotates()) return;
    view(std::move(input));
    push("rotary", rotate_rows(rows_, heads * width, width), {"rotary input", "rotary angles"});
  }

  void attention() {
    const Attention& a = w_.attention();
    if (m_.latent.kv_rank > 0) return latent_attention();
    const std::uint32_t kv_heads = a.heads_of_kv(), heads = a.heads + kv_heads;
    const std::uint64_t keyed = std::uint64_t{heads} * a.emb, all = keyed + std::uint64_t{kv_heads} * a.values();
    product("qkv", all, m_.hidden);
    RowsOf qk{"qkv", {0, all}};  // columns of Q and K
    if (!m_.linear && m_.qk_norm) {
      push_norm("q, k norm", rows_ * heads, a.emb, slice("q, k", qk, keyed));
      qk = {"q, k norm", {0, keyed}};
    }
    const std::uint32_t rotated = m_.rotary_emb > 0 ? m_.rotary_emb : a.emb;
    const std::uint64_t turned = std::uint64_t{heads} * rotated;
    rotate(heads, rotated,
           {"rotary input",
            rows_ * turned,
            {{qk.tensor, 0, 0, {1, rows_, heads, rotated}, {0, qk.part.stride, a.emb, 1}, {0, turned, rotated, 1}}}});
    const Attention own = attention_of(w_, block_);
    TensorView q{"q heads", own.query_elements(), {}}, k = cached("k heads", "k cache", own.key_elements()),
                                                       v = cached("v heads", "v cache", own.value_elements());
    add_queries(q, own, a.emb, 0, qk.heads(0, a.emb, a.emb));
    add_keys(k, own, a.emb, 0, qk.heads(std::uint64_t{a.heads} * a.emb, a.emb, a.emb));
    if (rotates()) {
      const RowsOf rotary{"rotary", {0, turned}};
      add_queries(q, own, a.emb, 0, rotary.heads(0, rotated, rotated));
      add_keys(k, own, a.emb, 0, rotary.heads(std::uint64_t{a.heads} * rotated, rotated, rotated));
    }
    add_keys(v, own, own.values(), 0, RowsOf{"qkv", {0, all}}.heads(keyed, own.values(), own.values()));
    push_attention("attention", own, {std::move(q), std::move(k), std::move(v)});
    view(rows_of_output("attention rows", "attention", own, own.heads));
    current_ = "attention rows";
    product("out", m_.hidden, std::uint64_t{a.heads} * a.values());
  }
  // K, V or latent rows that begin as those of the cache.
  static TensorView cached(const char* name, const char* cache, std::uint64_t elements) {
    return {name, elements, {copy_of_rows(cache, 1, elements, {}, {})}};
  }
  void push_attention(const char* name, const Attention& own, std::vector<TensorView> qkv) {
    std::vector<std::string> inputs;
    for (TensorView& v : qkv) inputs.push_back(view(std::move(v)));
    Workload attention = w_;
    attention.scope = Scope::kAttention;
    attention.attention() = own;
    push(name, std::move(attention), std::move(inputs)).parameters = own.sink ? own.heads : 0;
  }

  // K and V are products of the encoder's rows, or cached. Q and K have neither rotary embedding nor norms.
  void cross_attention() {
    const Attention own = cross_attention_of(w_);
    const std::uint64_t of_q = std::uint64_t{own.heads} * own.emb, of_k = std::uint64_t{own.heads_of_kv()} * own.emb,
                        all = of_k + std::uint64_t{own.heads_of_kv()} * own.values();
    product("cross q", of_q, m_.hidden);
    TensorView q{"cross q heads", own.query_elements(), {}};
    add_queries(q, own, own.emb, 0, RowsOf{current_, {0, of_q}}.heads(0, own.emb, own.emb));
    TensorView k = cached("cross k heads", "encoder k cache", own.key_elements()),
               v = cached("cross v heads", "encoder v cache", own.value_elements());
    if (reads_encoder()) {
      push("cross kv", weighted(encoder_rows_, all, m_.hidden, m_.weights), {kEncoderRows});
      const RowsOf rows{current_, {0, all}};
      k.parts.clear(), v.parts.clear();
      add_keys(k, own, own.emb, 0, rows.heads(0, own.emb, own.emb), true);
      add_keys(v, own, own.values(), 0, rows.heads(of_k, own.values(), own.values()), true);
    }
    push_attention("cross attention", own, {std::move(q), std::move(k), std::move(v)});
    current_ = view(rows_of_output("cross attention rows", "cross attention", own, own.heads));
    product("cross out", m_.hidden, std::uint64_t{own.heads} * own.values());
  }

  // In absorbed form the heads' up projections of K and V are products of Q and of O instead. Each is one product with
  // the weights of all heads, of the depth of one head: the data are those of the first head.
  void latent_attention() {
    const Latent& l = m_.latent;
    const Attention a = attention_of(w_, block_);
    const std::uint32_t width = l.plain + l.rotary;
    const std::uint64_t q_columns = std::uint64_t{a.heads} * width;
    const std::string x = current_;
    if (l.q_rank > 0) {
      product("q down", l.q_rank, m_.hidden);
      if (!m_.linear) push_norm("q norm", rows_, l.q_rank, current_);
      product("q up", q_columns, l.q_rank);
    } else {
      product("q", q_columns, m_.hidden);
    }
    const RowsOf q{current_, {0, q_columns}};
    const std::uint64_t kv_columns = l.kv_rank + l.rotary;
    current_ = x;
    product("kv down", kv_columns, m_.hidden);
    RowsOf latents{"kv down", {0, kv_columns}};
    if (!m_.linear) {
      push_norm("kv norm", rows_, l.kv_rank, slice("kv rows", latents, l.kv_rank));
      latents = {"kv norm", {0, l.kv_rank}};
    }
    const std::uint64_t turned = (std::uint64_t{a.heads} + 1) * l.rotary;
    TensorView rotary{"rotary input", rows_ * turned, {}};
    rotary.parts.push_back(
        {q.tensor, l.plain, 0, {1, rows_, a.heads, l.rotary}, {0, q_columns, width, 1}, {0, turned, l.rotary, 1}});
    rotary.parts.push_back(
        copy_of_rows("kv down", rows_, l.rotary, {l.kv_rank, kv_columns}, {turned - l.rotary, turned}));
    rotate(a.heads + 1, l.rotary, std::move(rotary));
    const HeadColumns q_rotary =
        rotates() ? HeadColumns{"rotary", 0, turned, l.rotary, l.rotary} : q.heads(l.plain, width, l.rotary);
    const HeadColumns k_rotary = rotates() ? HeadColumns{"rotary", turned - l.rotary, turned, 0, l.rotary}
                                           : HeadColumns{"kv down", l.kv_rank, kv_columns, 0, l.rotary};
    l.form == LatentForm::kAbsorbed ? absorbed(a, q, latents, q_rotary, k_rotary)
                                    : expanded(a, q, latents, q_rotary, k_rotary);
    product("out", m_.hidden, std::uint64_t{a.heads} * l.values);
  }

  void absorbed(const Attention& a, const RowsOf& q, const RowsOf& latents, const HeadColumns& q_rotary,
                const HeadColumns& k_rotary) {
    const Latent& l = m_.latent;
    const std::uint64_t up = std::uint64_t{a.heads} * l.kv_rank;
    current_ = slice("q of a head", q, l.plain);
    product("key up", up, l.plain);
    TensorView own{"q heads", a.query_elements(), {}}, k = cached("k heads", "k cache", a.key_elements());
    add_queries(own, a, a.emb, 0, {"key up", 0, up, l.kv_rank, l.kv_rank});
    add_queries(own, a, a.emb, l.kv_rank, q_rotary);
    add_keys(k, a, a.emb, 0, latents.heads(0, 0, l.kv_rank));
    add_keys(k, a, a.emb, l.kv_rank, k_rotary);
    const std::uint64_t keys = a.key_elements() / a.emb;
    TensorView v{
        "v heads", a.value_elements(), {copy_of_rows("k heads", keys, a.values(), {0, a.emb}, {0, a.values()})}};
    push_attention("attention", a, {std::move(own), std::move(k), std::move(v)});
    current_ = view(rows_of_output("o of a head", "attention", a, 1));
    product("value up", std::uint64_t{a.heads} * l.values, l.kv_rank);
  }

  void expanded(const Attention& a, const RowsOf& q, const RowsOf& latents, const HeadColumns& q_rotary,
                const HeadColumns& k_rotary) {
    const Latent& l = m_.latent;
    const std::uint32_t width = l.plain + l.rotary, up = l.plain + l.values;
    std::uint64_t keys = 0;
    for (std::uint32_t b = 0; b < a.batch; ++b) keys += a.context(b);
    Attention rows = a;  // a row for each key, without heads
    rows.heads = rows.kv_heads = 1;
    TensorView all = cached("latents", "latent cache", keys * l.kv_rank);
    add_keys(all, rows, l.kv_rank, 0, latents.heads(0, 0, l.kv_rank));
    view(std::move(all));
    const std::uint32_t columns = a.heads * up;
    push("kv up", weighted(static_cast<std::uint32_t>(keys), columns, l.kv_rank, m_.weights), {"latents"});
    TensorView own{"q heads", a.query_elements(), {}}, k = cached("k heads", "k cache", a.key_elements()),
                                                       v{"v heads", a.value_elements(), {}};
    add_queries(own, a, width, 0, q.heads(0, width, l.plain));
    add_queries(own, a, width, l.plain, q_rotary);
    add_keys(k, a, width, 0, {"kv up", 0, columns, up, l.plain}, true);
    add_keys(k, a, width, l.plain, k_rotary);
    add_keys(v, a, l.values, 0, {"kv up", l.plain, columns, up, l.values}, true);
    push_attention("attention", a, {std::move(own), std::move(k), std::move(v)});
    current_ = view(rows_of_output("attention rows", "attention", a, a.heads));
  }

  // With linear=1 the leading columns stand for the activation's result.
  void activate(const char* name, std::uint32_t rows, std::uint32_t width) {
    if (!m_.linear) {
      push(name, activate_rows(m_.activation, m_.gated, rows, width), {current_});
    } else if (m_.gated) {
      current_ = view(view_of_rows(current_ + " gates", current_, rows, width, {0, std::uint64_t{2} * width}));
    }
  }
  void network() {
    if (m_.experts.count > 0 && block_.has_experts) return experts();
    product(m_.gated ? "gate, up" : "up", std::uint64_t{m_.gated ? 2U : 1U} * m_.ffn, m_.hidden);
    activate("activation", rows_, m_.ffn);
    product("down", m_.hidden, m_.ffn);
  }

  // Products of all experts with tokens: the same weights' shape, rows by the draw. The results are one tensor.
  void expert_product(const char* name, const std::vector<ExpertGroup>& groups, std::uint64_t columns,
                      std::uint64_t depth) {
    const std::uint64_t of_one = columns * depth;
    const std::string x = current_;
    TensorView whole{std::string(name) + " rows", 0, {}};
    std::uint64_t row = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const ExpertGroup& g = groups[i];
      const std::uint64_t rows = std::uint64_t{g.experts} * g.tokens;
      const std::string part =
          view(view_of_rows(fmt::format("{} input {}", name, i + 1), x, rows, depth, {row * depth, depth}));
      LayerOperation& o = push(name, weighted(g.tokens, columns, depth, m_.expert_weights), {part});
      o.count = g.experts;
      o.parameters = i == 0 ? m_.experts.count * of_one : 0;
      o.active = i == 0 ? m_.experts.chosen * of_one : 0;
      whole.parts.push_back(copy_of_rows(current_, rows, columns, {0, columns}, {row * columns, columns}));
      row += rows;
    }
    whole.elements = row * columns;
    current_ = view(std::move(whole));
  }
  void experts() {
    const Experts& e = m_.experts;
    const std::vector<ExpertGroup> groups = expert_groups(expert_tokens(e, rows_), kMostExpertGroups);
    std::uint32_t all = 0;
    for (const ExpertGroup& g : groups) all += g.experts * g.tokens;
    const char* const up = m_.gated ? "expert gate, up" : "expert up";
    const std::uint64_t width = m_.gated ? 2 : 1;
    if (!m_.linear) ++held_;  // the experts' input
    const std::string x = current_;
    product("router", e.count, m_.hidden);
    if (!m_.linear) push("routing", softmax_rows(rows_, e.count), {current_});
    current_ = view(repeated(x, all));
    if (!m_.linear) push("expert gather", copy_rows(all, m_.hidden), {current_});
    expert_product(up, groups, width * e.ffn, m_.hidden);
    activate("expert activation", all, e.ffn);
    expert_product("expert down", groups, m_.hidden, e.ffn);
    if (!m_.linear && e.chosen > 1 && all > rows_) {
      sum_experts(all);
    } else {
      const std::uint64_t tokens = std::min(all, rows_);
      TensorView output = view_of_rows("expert output", current_, tokens, m_.hidden, {0, m_.hidden});
      output.elements = std::uint64_t{rows_} * m_.hidden;
      current_ = view(std::move(output));
    }
    const std::string of_experts = current_;
    if (e.shared_ffn > 0) {
      current_ = x;
      product(m_.gated ? "shared gate, up" : "shared up", width * e.shared_ffn, m_.hidden);
      activate("shared activation", rows_, e.shared_ffn);
      product("shared down", m_.hidden, e.shared_ffn);
      if (!m_.linear) push("shared sum", elementwise_rows(hal::Opcode::kAdd, rows_, m_.hidden), {of_experts, current_});
    }
    if (!m_.linear) --held_;
  }
  // Row r of the experts' input is token r mod rows: the draw gives the numbers of tokens, not which.
  TensorView repeated(const std::string& x, std::uint32_t all) const {
    TensorView gathered{"expert input", std::uint64_t{all} * m_.hidden, {}};
    for (std::uint64_t row = 0; row < all; row += rows_) {
      const std::uint64_t some = std::min<std::uint64_t>(rows_, all - row);
      gathered.parts.push_back(copy_of_rows(x, some, m_.hidden, {0, m_.hidden}, {row * m_.hidden, m_.hidden}));
    }
    return gathered;
  }
  // Running sums: row r + rows of the results is added to the sum in row r - rows, which the same operation wrote, or
  // to row r of the results.
  void sum_experts(std::uint32_t all) {
    const std::uint64_t hidden = m_.hidden, rows = rows_, sums = all - rows;
    const std::string results = current_;
    const auto part = [hidden](const std::string& of, std::uint64_t from, std::uint64_t to, std::uint64_t some) {
      return copy_of_rows(of, some, hidden, {from * hidden, hidden}, {to * hidden, hidden});
    };
    TensorView before{"expert sums before", sums * hidden, {part(results, 0, 0, std::min(rows, sums))}};
    if (sums > rows) before.parts.push_back(part("expert sum", 0, rows, sums - rows));
    view(std::move(before));
    view({"expert terms", sums * hidden, {part(results, rows, 0, sums)}});
    push("expert sum", elementwise_rows(hal::Opcode::kAdd, static_cast<std::uint32_t>(sums), m_.hidden),
         {"expert sums before", "expert terms"});
    const std::uint64_t rest = sums % rows, first = sums - rest;  // the last sums of the first tokens, of the others
    TensorView output{"expert output", rows * hidden, {}};
    output.parts.push_back(part("expert sum", first, 0, rest));
    output.parts.push_back(first >= rows ? part("expert sum", first - rows + rest, rest, rows - rest)
                                         : part(results, rest, rest, rows - rest));
    current_ = view(std::move(output));
  }

  const Workload& w_;
  const Model& m_;
  const Block& block_;
  std::uint32_t encoder_rows_, rows_;
  hal::ElementType type_;
  std::uint32_t held_ = 0;   // tensors that wait
  bool is_reading_ = false;  // the residual state was read
  std::string residual_ = kHiddenState, current_ = residual_;
  std::vector<TensorView> views_;
  std::set<std::string> written_;
  std::vector<LayerOperation> all_;
};

}  // namespace

std::vector<std::string> norm_inputs(const std::string& x, const std::string& name, Norm norm) {
  std::vector<std::string> all{x, name + " gamma"};
  if (norm == Norm::kLayerNorm) all.push_back(name + " beta");
  return all;
}

std::vector<LayerOperation> operations_of_block(const Workload& workload, const Block& block) {
  return LayerBuilder(workload, block).build();
}

}  // namespace attnvp::workload
