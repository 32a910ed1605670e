#include "models/engine/mac_engine/mac_engine.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "models/arith/matmul.h"
#include "models/arith/number.h"
#include "models/engine/mac_engine/edge.h"
#include "models/registry.h"

namespace attnvp {

namespace {
const bool kMacRegistered =
    add_kind<Engine>({"mac", "model", "is in SystemC", {"attnvp.mac"}, [](const ModuleContext& module_context) {
                        return std::make_unique<MacEngine>(module_context.name, module_context);
                      }});
}  // namespace

MacEngine::MacEngine(sc_core::sc_module_name name, const ModuleContext& module_context)
    : PipelinedEngine(name, module_context, module_context.machine.mac.queue_depth,
                      module_context.machine.mac.pipeline_cycles),
      planner_(module_context.machine.mac) {}

Refusal MacEngine::plan(const hal::Descriptor& d, Plan& plan) {
  Refusal refusal = planner_.plan(d, plan);
  if (refusal.any() || d.opcode != hal::Opcode::kMatmul) return refusal;
  const bool keeps = (d.flags & hal::kKept) != 0;
  const std::uint64_t before = std::exchange(kept_, keeps ? d.operand[2].address : 0);
  if (keeps && (d.flags & hal::kAccumulate) != 0 && d.operand[3].address != before) {
    return {FaultCode::kBadOperand, d.operand[3].address,
            "these partials are not those that the matmul before has kept in L0"};
  }
  return {};
}

void MacEngine::count(const hal::Descriptor& d) {
  const MacWork work = planner_.work(d);
  for (const auto& [counter, amount] : {std::pair{&compute, work.macs},
                                        {&slots, work.slots},
                                        {&accumulations, work.accumulations},
                                        {&max_ops, work.max_ops},
                                        {&add_ops, work.add_ops},
                                        {&exp_ops, work.exp_ops}}) {
    *counter += amount;
  }
  rate_ = planner_.rate(d);
}

bool MacEngine::visit_state(sim::StateVisitor& visitor) {
  visitor.value(kept_);
  visitor.value(rate_);
  planner_.resident().visit_state(visitor);
  return PipelinedEngine::visit_state(visitor);
}

std::uint64_t MacEngine::ragged_cycles() const { return (slots.value() - compute.value() / rate_) / planner_.pes(); }

unsigned char* MacEngine::factor(const hal::Descriptor& d, int i) {
  unsigned char* const rows = l1_bytes(d.operand[i].address);
  const std::uint32_t absent = i == 1 && d.opcode == hal::Opcode::kMatmul ? d.tail.matmul.absent : 0;
  if (absent == 0) return rows;
  const hal::Product p = hal::product_of(d);
  const std::size_t all = (d.flags & hal::kTransposeB) != 0 ? p.n : p.k, stride = d.operand[i].row_stride;
  completed_.assign(all * stride, 0);
  for (std::size_t row = 0; row < all - absent; ++row) {
    std::copy_n(rows + row * stride, d.row_bytes(i), completed_.data() + row * stride);
  }
  return completed_.data();
}

arith::MatrixView<const arith::Half> MacEngine::halves(const hal::Descriptor& d, int i) {
  return {reinterpret_cast<const arith::Half*>(factor(d, i)), d.operand[i].row_stride / sizeof(arith::Half)};
}

void MacEngine::compute_values(const hal::Descriptor& d) {
  if (MacPlanner::is_tile_op(d.opcode)) return compute_tile(d);
  const hal::Operand& out = d.operand[2];
  unsigned char* const c = l1_bytes(out.address);
  if (d.type[0] != hal::ElementType::kFp16 || d.type[2] == hal::ElementType::kBf16 ||
      (d.flags & hal::kNormalised) != 0 || Edge::is_used(d)) {
    const bool exact = hal::sum_type(d) == hal::ElementType::kInt32;
    return compute_typed(d, {factor(d, 0), d.operand[0].row_stride, d.type[0]}, exact, d.type[2], c, out.row_stride);
  }
  const hal::Product p = hal::product_of(d);
  arith::MatrixView<const float> partials;
  if ((d.flags & hal::kAccumulate) != 0) {
    partials = {reinterpret_cast<const float*>(l1_bytes(d.operand[3].address)),
                d.operand[3].row_stride / sizeof(float)};
  }
  const arith::MatmulShape shape{p.m, p.n, p.k, (d.flags & hal::kTransposeB) != 0};
  if (d.type[2] == hal::ElementType::kFp32) {
    arith::matmul(shape, halves(d, 0), halves(d, 1), partials,
                  arith::MatrixView<float>{reinterpret_cast<float*>(c), out.row_stride / sizeof(float)}, workspace_);
  } else {
    arith::matmul(
        shape, halves(d, 0), halves(d, 1), partials,
        arith::MatrixView<arith::Half>{reinterpret_cast<arith::Half*>(c), out.row_stride / sizeof(arith::Half)},
        workspace_, scale_of(d));
  }
}

// MAC array operations with operands other than FP16, or with BF16 results, soft-cap or addends: sums, then the edge.

namespace {

using hal::ElementType;

// Sums of m rows, optionally followed by the sums of A's rows; they start from the partials.
template <typename Sum>
struct MacSums {
  std::size_t m, n, columns;  // columns: n, or n + 1 with the row's sum
  std::vector<Sum> data;

  MacSums(std::size_t rows, std::size_t products, bool row_sums)
      : m(rows), n(products), columns(n + (row_sums ? 1 : 0)), data(m * columns) {}
  void begin(const unsigned char* partials, std::size_t stride) {
    for (std::size_t i = 0; i < m; ++i) {
      std::memcpy(data.data() + i * columns, partials + i * stride, columns * sizeof(Sum));
    }
  }
  void add(const arith::MatmulShape& shape, const arith::ElementMatrix& a, const arith::ElementMatrix& b,
           arith::Workspace& workspace) {
    arith::add_products(shape, a, b, arith::MatrixView<Sum>{data.data(), columns}, workspace);
    if (columns > n) arith::add_rows(shape, a, data.data() + n, columns);
  }
  void leave(unsigned char* out, std::size_t stride) const {
    for (std::size_t i = 0; i < m; ++i) {
      std::memcpy(out + i * stride, data.data() + i * columns, columns * sizeof(Sum));
    }
  }
  // Rounds each sum to FP32, applies the edge, divides by the row's sum and rounds to the type.
  void round(const Edge& edge, ElementType type, unsigned char* out, std::size_t stride) const {
    std::vector<float> row(n);
    for (std::size_t i = 0; i < m; ++i) {
      const Sum* const from = data.data() + i * columns;
      for (std::size_t j = 0; j < n; ++j) row[j] = static_cast<float>(from[j]);
      edge.leave(static_cast<std::uint32_t>(i), row.data(), n);
      for (std::size_t j = 0; columns > n && j < n; ++j) row[j] /= static_cast<float>(from[n]);
      if (type == ElementType::kFp32) {
        std::memcpy(out + i * stride, row.data(), n * sizeof(float));
      } else {
        arith::from_floats(type, row.data(), out + i * stride, n);
      }
    }
  }
};

// INT8 with scales per block of keys: the exact sum of a block, times its scale, is added in FP32. Sums of A's rows are
// those of the stored values.
void add_blocks(MacSums<float>& sums, const arith::MatmulShape& shape, const arith::ElementMatrix& a,
                const arith::ElementMatrix& b, const Edge& edge, arith::Workspace& workspace) {
  for (std::size_t k = 0; k < shape.k;) {
    const auto from = static_cast<std::uint32_t>(k);
    arith::MatmulShape part = shape;
    part.k = std::min<std::size_t>(shape.k - k, edge.block_left(from));
    MacSums<std::int32_t> block(shape.m, shape.n, sums.columns > sums.n);
    block.add(part, {a.data + k, a.row_stride, a.type}, {b.data + k * b.row_stride, b.row_stride, b.type}, workspace);
    const float scale = edge.key_scale(from);
    for (std::size_t i = 0; i < block.data.size(); ++i) {
      const bool product = i % block.columns < block.n;
      sums.data[i] += static_cast<float>(block.data[i]) * (product ? scale : 1);
    }
    k += part.k;
  }
}

// `third`: rows of operand 3, partials or addends; nullptr: none.
template <typename Sum>
void multiply(const hal::Descriptor& d, const arith::ElementMatrix& a, const arith::ElementMatrix& b,
              const unsigned char* third, ElementType type, unsigned char* out, std::size_t stride,
              arith::Workspace& workspace) {
  const hal::Product p = hal::product_of(d);
  const bool is_matmul = d.opcode == hal::Opcode::kMatmul, more = is_matmul && (d.flags & hal::kAccumulate) != 0;
  const Edge edge(d, more ? nullptr : third);
  MacSums<Sum> sums(p.m, p.n, is_matmul && (d.flags & hal::kNormalised) != 0);
  if (more) sums.begin(third, d.operand[3].row_stride);
  const arith::MatmulShape shape{p.m, p.n, p.k, hal::is_transposed(d)};
  if constexpr (std::is_same_v<Sum, float>) {
    edge.sums_in_blocks() ? add_blocks(sums, shape, a, b, edge, workspace) : sums.add(shape, a, b, workspace);
  } else {
    sums.add(shape, a, b, workspace);
  }
  if (is_matmul && hal::is_partial(d)) {
    sums.leave(out, stride);
  } else {
    sums.round(edge, type, out, stride);
  }
}

}  // namespace

void MacEngine::compute_typed(const hal::Descriptor& d, const arith::ElementMatrix& a, bool exact, ElementType type,
                              unsigned char* out, std::size_t stride) {
  const bool is_matmul = d.opcode == hal::Opcode::kMatmul;
  const bool has_third = hal::has_addends(d) || (is_matmul && (d.flags & hal::kAccumulate) != 0);
  const unsigned char* const third = has_third ? l1_bytes(d.operand[3].address) : nullptr;
  const arith::ElementMatrix b{factor(d, 1), d.operand[1].row_stride, d.type[1]};
  const auto by_type = exact ? multiply<std::int32_t> : multiply<float>;
  by_type(d, a, b, third, type, out, stride, workspace_);
}

}  // namespace attnvp
