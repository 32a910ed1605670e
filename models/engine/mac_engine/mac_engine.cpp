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
const bool kRegistered =
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

void MacEngine::compute_values(const hal::Descriptor& d) {
  if (MacPlanner::is_tile_op(d.opcode)) return compute_tile(d);
  if (d.type[0] != hal::ElementType::kFp16 || d.type[2] == hal::ElementType::kBf16 ||
      (d.flags & (hal::kNormalised | hal::kCapped | hal::kSloped | hal::kBucketed)) != 0 || hal::has_addends(d)) {
    return compute_typed(d);
  }
  const hal::Product p = hal::product_of(d);
  const auto half = [&](int i) {
    return arith::MatrixView<const arith::Half>{reinterpret_cast<const arith::Half*>(factor(d, i)),
                                                d.operand[i].row_stride / sizeof(arith::Half)};
  };
  const hal::Operand& out = d.operand[2];
  unsigned char* c = l1_bytes(out.address);
  arith::MatrixView<const float> partials;
  if ((d.flags & hal::kAccumulate) != 0) {
    partials = {reinterpret_cast<const float*>(l1_bytes(d.operand[3].address)),
                d.operand[3].row_stride / sizeof(float)};
  }
  const arith::MatmulShape shape{p.m, p.n, p.k, (d.flags & hal::kTransposeB) != 0};
  if (d.type[2] == hal::ElementType::kFp32) {
    arith::matmul(shape, half(0), half(1), partials,
                  arith::MatrixView<float>{reinterpret_cast<float*>(c), out.row_stride / sizeof(float)}, workspace_);
  } else {
    arith::matmul(
        shape, half(0), half(1), partials,
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

  MacSums(const hal::Product& p, bool row_sums) : m(p.m), n(p.n), columns(n + (row_sums ? 1 : 0)), data(m * columns) {}
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
    MacSums<std::int32_t> block({static_cast<std::uint32_t>(shape.m), static_cast<std::uint32_t>(shape.n), 0},
                                sums.columns > sums.n);
    block.add(part, {a.data + k, a.row_stride, a.type}, {b.data + k * b.row_stride, b.row_stride, b.type}, workspace);
    const float scale = edge.key_scale(from);
    for (std::size_t i = 0; i < block.data.size(); ++i) {
      const bool product = i % block.columns < block.n;
      sums.data[i] += static_cast<float>(block.data[i]) * (product ? scale : 1);
    }
    k += part.k;
  }
}

template <typename Sum>
void multiply(const hal::Descriptor& d, const arith::ElementMatrix& a, const arith::ElementMatrix& b,
              const unsigned char* partials, const unsigned char* addends, unsigned char* out,
              arith::Workspace& workspace) {
  const hal::Product p = hal::product_of(d);
  const Edge edge(d, addends);
  MacSums<Sum> sums(p, (d.flags & hal::kNormalised) != 0);
  if (partials != nullptr) sums.begin(partials, d.operand[3].row_stride);
  const arith::MatmulShape shape{p.m, p.n, p.k, (d.flags & hal::kTransposeB) != 0};
  if constexpr (std::is_same_v<Sum, float>) {
    edge.sums_in_blocks() ? add_blocks(sums, shape, a, b, edge, workspace) : sums.add(shape, a, b, workspace);
  } else {
    sums.add(shape, a, b, workspace);
  }
  if (hal::is_partial(d)) {
    sums.leave(out, d.operand[2].row_stride);
  } else {
    sums.round(edge, d.type[2], out, d.operand[2].row_stride);
  }
}

template <typename Sum>
void product(const hal::Descriptor& d, const arith::MatmulShape& shape, const arith::ElementMatrix& a,
             const arith::ElementMatrix& b, const unsigned char* addends, ElementType type, unsigned char* out,
             std::size_t stride, arith::Workspace& workspace) {
  const Edge edge(d, addends);
  MacSums<Sum> sums({static_cast<std::uint32_t>(shape.m), static_cast<std::uint32_t>(shape.n), 0}, false);
  if constexpr (std::is_same_v<Sum, float>) {
    edge.sums_in_blocks() ? add_blocks(sums, shape, a, b, edge, workspace) : sums.add(shape, a, b, workspace);
  } else {
    sums.add(shape, a, b, workspace);
  }
  sums.round(edge, type, out, stride);
}

// True for exact sums (INT32), false for FP32.
bool exact_sums(const hal::Descriptor& d) { return hal::sum_type(d) == ElementType::kInt32; }

}  // namespace

arith::ElementMatrix MacEngine::elements(const hal::Descriptor& d, int i) {
  return {factor(d, i), d.operand[i].row_stride, d.type[i]};
}

const unsigned char* MacEngine::addends(const hal::Descriptor& d) {
  return hal::has_addends(d) ? l1_bytes(d.operand[3].address) : nullptr;
}

void MacEngine::compute_typed(const hal::Descriptor& d) {
  const bool more = (d.flags & hal::kAccumulate) != 0;
  const unsigned char* const partials = more ? l1_bytes(d.operand[3].address) : nullptr;
  unsigned char* const out = l1_bytes(d.operand[2].address);
  const auto all = exact_sums(d) ? multiply<std::int32_t> : multiply<float>;
  all(d, elements(d, 0), elements(d, 1), partials, addends(d), out, workspace_);
}

void MacEngine::score_typed(const hal::Descriptor& d, std::vector<arith::Half>& tile) {
  const hal::Product p = hal::product_of(d);
  const auto all = hal::is_integer(d.type[0]) ? product<std::int32_t> : product<float>;
  all(d, {p.m, p.n, p.k, true}, elements(d, 0), elements(d, 1), addends(d), ElementType::kFp16,
      reinterpret_cast<unsigned char*>(tile.data()), p.n * sizeof(arith::Half), workspace_);
}

// P, FP16 in the PEs, is converted to the type of V.
void MacEngine::attend_typed(const hal::Descriptor& d, const std::vector<arith::Half>& tile) {
  const hal::Product p = hal::product_of(d);
  const std::size_t bytes = hal::element_bytes(d.type[1]);
  std::vector<unsigned char> kept(tile.size() * bytes);
  arith::narrow_row(tile.data(), d.type[1], kept.data(), tile.size());
  const bool exact = hal::is_integer(d.type[1]) && !Edge(d).sums_in_blocks();
  const auto all = exact ? product<std::int32_t> : product<float>;
  all(d, {p.m, p.n, p.k, false}, {kept.data(), p.k * bytes, d.type[1]}, elements(d, 1), nullptr, ElementType::kFp32,
      l1_bytes(d.operand[2].address), d.operand[2].row_stride, workspace_);
}

}  // namespace attnvp
