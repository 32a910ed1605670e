#include "platform/workload/workload.h"

#include <fmt/format.h>

#include "models/engine/descriptor_check.h"
#include "platform/machine/error.h"
#include "platform/workload/graph.h"

namespace attnvp::workload {

const std::string& Workload::name() const {
  if (graph != nullptr) return graph->name;
  return std::visit([](const auto& o) -> const std::string& { return o.name; }, operation);
}

Extents Workload::extents() const {
  if (const Gemm* g = gemm()) return {1, 1, g->rows, g->columns, g->depth};
  if (const RowOperation* r = rows()) return {1, 1, r->rows, r->columns, r->head};
  const Attention& a = attention();
  return {a.batch, a.heads, a.seq_q, a.seq_kv, a.emb};
}

hal::ElementType Workload::type() const {
  if (const Gemm* g = gemm()) return g->type;
  return is_attention() ? attention().type : hal::ElementType::kFp16;
}

hal::ElementType Workload::out() const {
  if (const Gemm* g = gemm()) return g->out();
  return is_attention() ? attention().out : rows()->type;
}

bool Workload::has_softmax() const { return is_attention() ? attention().softmax : gemm() == nullptr; }

std::uint64_t Workload::result_elements() const {
  if (const Gemm* g = gemm()) return std::uint64_t{g->rows} * g->result_columns();
  return is_attention() ? attention().output_elements() : rows()->result_elements();
}

Workload Workload::folded() const {
  Workload w = *this;
  if (is_attention()) w.attention() = attention().folded();
  return w;
}

std::string Workload::rules() const {
  if (is_attention()) return attention().rules();
  std::string text;
  if (type() != hal::ElementType::kFp16) text += " type=" + attnvp::name_of(type());
  if (out() != hal::ElementType::kFp16) text += " out=" + attnvp::name_of(out());
  if (const WeightType w = weights(); w.any()) text += fmt::format(" weights={} group={}", w.format->name, w.group);
  return text;
}

std::string Workload::identity() const {
  if (is_attention()) return attention().identity();
  if (const Gemm* g = gemm()) {
    return fmt::format("gemm {}x{}x{} {} {}{}{}", g->rows, g->columns, g->depth, attnvp::name_of(g->type),
                       attnvp::name_of(g->out()), g->weights.text(), g->fusion.text());
  }
  const RowOperation& r = *rows();
  return fmt::format("{} {}x{}x{}{}{}", r.word(), r.rows, r.columns, r.head, r.has_residual ? " residual" : "",
                     rules());
}

void refuse_scope(const Workload& w) {
  if (w.scope == Scope::kAttention) return;
  if (w.graph != nullptr) throw config::ConfigError(w.name() + ": a graph is for `run`; this takes one operation");
  throw config::ConfigError(fmt::format(
      "{}: scope=layer and scope=model are for `run`, `compare` and `sweep`; this takes attention", w.name()));
}

}  // namespace attnvp::workload
