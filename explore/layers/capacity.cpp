#include <fmt/format.h>

#include <algorithm>

#include "explore/layers/layers.h"
#include "platform/machine/error.h"
#include "platform/run/golden/golden_gemm.h"

namespace attnvp::explore {

namespace {

// Weights that an operation has once, or its cache.
std::uint64_t kept(const workload::Workload& n) {
  const bool keeps = n.rows() == nullptr || n.rows()->opcode == hal::Opcode::kNorm;
  const job::TensorBytes bytes = job::tensor_bytes(n);
  if (n.gemm() != nullptr) {
    const job::FusedOperands fused = job::fused_operands_of(*n.gemm());
    return bytes.k + (fused.gamma + fused.beta + fused.bias) * sizeof(arith::Half);
  }
  return keeps ? bytes.k + bytes.v : 0;
}

// Weights of all its times, and vectors of a fused norm. A last projection with the table of tokens has weights of its
// own if their type is not the table's.
std::uint64_t weights(const workload::LayerOperation& o) {
  const workload::Gemm* const g = o.workload.gemm();
  if (g == nullptr) return o.parameters * sizeof(arith::Half);
  const std::uint64_t norms = g->fusion.norm == workload::Norm::kNone      ? 0
                              : g->fusion.norm == workload::Norm::kRmsNorm ? 1
                                                                           : 2;
  const std::uint64_t vectors = std::min(norms * g->depth, o.parameters);
  const std::uint64_t product = g->weights.any() ? std::max(o.parameters - vectors, o.active) : o.parameters - vectors;
  return vectors * sizeof(arith::Half) + product * job::tensor_bytes(o.workload).k / g->weight_elements();
}

}  // namespace

Capacity::Capacity(const std::vector<workload::LayerGroup>& groups, const workload::Workload& network)
    : network_(network) {
  for (const workload::LayerGroup& g : groups) {
    for (const workload::LayerOperation& o : g.operations) {
      need_.weights += g.count * weights(o);
      if (o.workload.is_attention()) need_.cache += g.count * kept(o.workload);
      const workload::Workload& n = o.workload;
      const job::TensorBytes bytes = job::tensor_bytes(n);
      const std::uint64_t result = n.is_attention() ? bytes.o : n.result_elements() * hal::element_bytes(n.out());
      add(o, bytes.q + bytes.k + bytes.v + result);
    }
  }
}

void Capacity::add(const workload::LayerOperation& o, std::uint64_t bytes) {
  need_.activations = std::max(need_.activations, bytes - kept(o.workload) + o.waiting * sizeof(arith::Half));
}

void Capacity::require(const MachineConfig& machine) const {
  const std::uint64_t need = need_.total();
  if (need <= machine.dram.size_bytes) return;
  const bool is_model = network_.scope == workload::Scope::kModel;
  const std::string what = is_model ? fmt::format("the tensors of {} layers", network_.model.layers)
                                    : fmt::format("the {}'s tensors", network_.graph != nullptr ? "graph" : "layer");
  throw config::ConfigError(
      fmt::format("{}: {} need at least {} bytes of DRAM ({} of weights, {} of K and V, {} of one operation's "
                  "activations), dram.size is {} bytes",
                  network_.name(), what, need, need_.weights, need_.cache, need_.activations, machine.dram.size_bytes));
}

}  // namespace attnvp::explore
