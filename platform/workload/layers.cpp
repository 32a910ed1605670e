#include "platform/workload/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "platform/machine/error.h"
#include "platform/workload/graph.h"
#include "platform/workload/layer/builder.h"
#include "platform/workload/layer/conversion.h"
#include "platform/workload/layer/ends.h"
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
