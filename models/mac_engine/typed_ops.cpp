// What the array computes of operands that are not FP16, rounds to BF16, or caps: sums, then their way out.
#include <cstring>

#include "models/arith/number.h"
#include "models/arith/soft_cap.h"
#include "models/mac_engine/mac_engine.h"

namespace attnvp {

namespace {

using hal::ElementType;

// Sums of m rows, and of A's rows behind them where those are asked for; begun with the partials.
template <typename Sum>
struct Sums {
  std::size_t m, n, columns;  // columns: n, or with the row's sum n + 1
  std::vector<Sum> data;

  Sums(const hal::Product& p, bool row_sums) : m(p.m), n(p.n), columns(n + (row_sums ? 1 : 0)), data(m * columns) {}
  void begin(const unsigned char* partials, std::size_t stride) {
    for (std::size_t i = 0; i < m; ++i) {
      std::memcpy(data.data() + i * columns, partials + i * stride, columns * sizeof(Sum));
    }
  }
  void add(const arith::MatmulShape& shape, const arith::Elements& a, const arith::Elements& b,
           arith::Workspace& workspace) {
    arith::add_products(shape, a, b, arith::Matrix<Sum>{data.data(), columns}, workspace);
    if (columns > n) arith::add_rows(shape, a, data.data() + n, columns);
  }
  void leave(unsigned char* out, std::size_t stride) const {
    for (std::size_t i = 0; i < m; ++i) {
      std::memcpy(out + i * stride, data.data() + i * columns, columns * sizeof(Sum));
    }
  }
  // Each rounded to FP32, times the scale, capped, over the row's sum, rounded to the type.
  void round(float scale, float cap, ElementType type, unsigned char* out, std::size_t stride) const {
    std::vector<float> row(n);
    for (std::size_t i = 0; i < m; ++i) {
      const Sum* const from = data.data() + i * columns;
      for (std::size_t j = 0; j < n; ++j) {
        row[j] = static_cast<float>(from[j]) * scale;
        if (cap > 0)
          row[j] = static_cast<float>(arith::soft_cap(static_cast<double>(row[j]), static_cast<double>(cap)));
        if (columns > n) row[j] /= static_cast<float>(from[n]);
      }
      if (type == ElementType::kFp32) {
        std::memcpy(out + i * stride, row.data(), n * sizeof(float));
      } else {
        arith::from_floats(type, row.data(), out + i * stride, n);
      }
    }
  }
};

template <typename Sum>
void multiply(const hal::Descriptor& d, const arith::Elements& a, const arith::Elements& b,
              const unsigned char* partials, unsigned char* out, arith::Workspace& workspace) {
  const hal::Product p = hal::product_of(d);
  Sums<Sum> sums(p, (d.flags & hal::kNormalised) != 0);
  if (partials != nullptr) sums.begin(partials, d.operand[3].row_stride);
  sums.add({p.m, p.n, p.k, (d.flags & hal::kTransposeB) != 0}, a, b, workspace);
  if (is_partial(d)) {
    sums.leave(out, d.operand[2].row_stride);
  } else {
    sums.round(scale_of(d), cap_of(d), d.type[2], out, d.operand[2].row_stride);
  }
}

// A product of matrices that are just there.
template <typename Sum>
void product(const arith::MatmulShape& shape, const arith::Elements& a, const arith::Elements& b, float scale,
             float cap, ElementType type, unsigned char* out, std::size_t stride, arith::Workspace& workspace) {
  Sums<Sum> sums({static_cast<std::uint32_t>(shape.m), static_cast<std::uint32_t>(shape.n), 0}, false);
  sums.add(shape, a, b, workspace);
  sums.round(scale, cap, type, out, stride);
}

}  // namespace

arith::Elements MacEngine::elements(const hal::Descriptor& d, int i) {
  return {factor(d, i), d.operand[i].row_stride, d.type[i]};
}

void MacEngine::compute_typed(const hal::Descriptor& d) {
  const bool more = (d.flags & hal::kAccumulate) != 0;
  const unsigned char* const partials = more ? l1_bytes(d.operand[3].address) : nullptr;
  unsigned char* const out = l1_bytes(d.operand[2].address);
  const auto all = d.type[0] == ElementType::kInt8 ? multiply<std::int32_t> : multiply<float>;
  all(d, elements(d, 0), elements(d, 1), partials, out, workspace_);
}

void MacEngine::score_typed(const hal::Descriptor& d, std::vector<arith::Half>& tile) {
  const hal::Product p = hal::product_of(d);
  const auto all = d.type[0] == ElementType::kInt8 ? product<std::int32_t> : product<float>;
  all({p.m, p.n, p.k, true}, elements(d, 0), elements(d, 1), scale_of(d), cap_of(d), ElementType::kFp16,
      reinterpret_cast<unsigned char*>(tile.data()), p.n * sizeof(arith::Half), workspace_);
}

// P, FP16 in the PEs, takes the type of V.
void MacEngine::attend_typed(const hal::Descriptor& d, const std::vector<arith::Half>& tile) {
  const hal::Product p = hal::product_of(d);
  const std::size_t bytes = hal::element_bytes(d.type[1]);
  std::vector<unsigned char> kept(tile.size() * bytes);
  arith::narrow_row(tile.data(), d.type[1], kept.data(), tile.size());
  const auto all = d.type[1] == ElementType::kInt8 ? product<std::int32_t> : product<float>;
  all({p.m, p.n, p.k, false}, {kept.data(), p.k * bytes, d.type[1]}, elements(d, 1), scale_of(d), 0, ElementType::kFp32,
      l1_bytes(d.operand[2].address), d.operand[2].row_stride, workspace_);
}

}  // namespace attnvp
