#include "platform/run/golden/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/arith/number.h"

namespace attnvp::job {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;

std::int64_t sum_of_lanes(std::uint64_t x) {
  return static_cast<std::int64_t>((x & 0xFFFF) + ((x >> 16) & 0xFFFF) + ((x >> 32) & 0xFFFF) + (x >> 48));
}

}  // namespace

arith::Half random_half(std::uint64_t seed, std::uint64_t index, double stddev) {
  // Two draws of a splitmix64 stream with a mixed seed, so that near seeds give unrelated streams.
  const std::uint64_t state = mix(seed + kGolden) + 2 * index * kGolden;
  const std::int64_t sum = sum_of_lanes(mix(state + kGolden)) + sum_of_lanes(mix(state + 2 * kGolden));
  const std::int64_t centred = 2 * sum - std::int64_t{8} * 65535;
  // Variance of the sum of eight uniforms on 0..65535, times 4: 8 * 4 * (65536^2 - 1) / 12 = 107019.8^2.
  constexpr double kUnit = 1.0 / 107019.83984290015;
  // One IEEE multiplication a step and one rounding to FP16: independent of compiler flags.
  const double scale = stddev * kUnit;
  return arith::half_from_double(static_cast<double>(centred) * scale);
}

std::vector<arith::Half> random_tensor(std::uint64_t seed, std::size_t count, double stddev) {
  std::vector<arith::Half> tensor(count);
  for (std::size_t i = 0; i < count; ++i) tensor[i] = random_half(seed, i, stddev);
  return tensor;
}

AttentionTensors random_attention(const AttentionShape& shape, std::uint64_t seed, double score_spread) {
  const double q_stddev = score_spread / std::sqrt(static_cast<double>(shape.width));
  return {random_tensor(mix(seed) ^ 1, shape.query_elements(), q_stddev),
          random_tensor(mix(seed) ^ 2, shape.key_elements(), 1.0),
          random_tensor(mix(seed) ^ 3, shape.value_elements(), 1.0)};
}

namespace {

using arith::Half;
using hal::ElementType;

constexpr float kGreatestInt8 = 127;

// Greatest finite magnitude over 127; 1 for zeros.
float scale_of(const Half* x, std::size_t n) {
  float most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float magnitude = std::abs(arith::float_from_half(x[i]));
    if (std::isfinite(magnitude)) most = std::max(most, magnitude);
  }
  return most > 0 ? most / kGreatestInt8 : 1;
}

class Keeper {
 public:
  explicit Keeper(ElementType type) : type_(type), bytes_(hal::element_bytes(type)) {}

  // Converts the next n elements: stored form to `bytes`, values to `numbers`.
  void keep(const Half* x, std::size_t n, float scale, std::vector<unsigned char>& bytes, std::vector<Half>& numbers) {
    row_.resize(n);
    arith::floats_from_halves(x, row_.data(), n);
    for (float& value : row_) value = fit(value / scale);
    const std::size_t at = bytes.size(), numbers_at = numbers.size();
    bytes.resize(at + n * bytes_);
    arith::from_floats(type_, row_.data(), bytes.data() + at, n);
    arith::floats_from(type_, bytes.data() + at, row_.data(), n);
    numbers.resize(numbers_at + n);
    arith::halves_from_floats(row_.data(), numbers.data() + numbers_at, n);
  }

 private:
  float fit(float value) const {
    constexpr float kGreatest = 65280;  // greatest BF16 number within FP16
    return type_ == ElementType::kBf16 && std::isfinite(value) ? std::clamp(value, -kGreatest, kGreatest) : value;
  }
  ElementType type_;
  std::size_t bytes_;
  std::vector<float> row_;
};

// Scale of a group of weights, as its type stores it.
float scale_of_group(const workload::WeightFormat& format, const float* x, std::size_t n) {
  float most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isfinite(x[i])) most = std::max(most, std::abs(x[i]));
  }
  if (most == 0) return 1;
  constexpr int kGreatestExponent = 2;  // of an FP4 number
  constexpr float kGreatestInt4 = 7, kGreatestFp8 = 448;
  if (format.scale == ElementType::kE8M0) return std::ldexp(1.0F, std::ilogb(most) - kGreatestExponent);
  const float greatest = format.code == ElementType::kInt4   ? kGreatestInt4
                         : format.code == ElementType::kInt8 ? kGreatestInt8
                                                             : kGreatestFp8;
  const float scale = arith::float_from_half(arith::half_from_float(most / greatest));
  return scale > 0 ? scale : 1;
}

// Codes and scales of one product's weights as in DRAM, and the numbers that they stand for.
void keep_weights(const workload::Gemm& g, std::size_t columns, std::size_t depth, const Half* x, unsigned char* bytes,
                  Half* numbers) {
  const workload::WeightFormat& format = *g.weights.format;
  const std::size_t group = g.weights.group == 0 ? depth : g.weights.group;
  const std::size_t row_bytes = hal::bytes_of(format.code, depth), scale_bytes = hal::element_bytes(format.scale);
  const std::size_t first_scale = g.weights.code_bytes(columns, depth);
  std::vector<float> row(depth), codes(depth);
  std::vector<double> scales(depth);
  for (std::size_t j = 0; j < columns; ++j) {
    arith::floats_from_halves(x + j * depth, row.data(), depth);
    for (std::size_t at = 0, k = 0; at < depth; at += group, ++k) {
      const std::size_t end = std::min(at + group, depth);
      const float scale = scale_of_group(format, row.data() + at, end - at);
      arith::from_floats(format.scale, &scale, bytes + first_scale + (k * columns + j) * scale_bytes, 1);
      for (std::size_t i = at; i < end; ++i) row[i] /= scale, scales[i] = scale;
    }
    unsigned char* const stored = bytes + j * row_bytes;
    arith::from_floats(format.code, row.data(), stored, depth);
    arith::floats_from(format.code, stored, codes.data(), depth);
    for (std::size_t i = 0; i < depth; ++i) {
      const double number = scales[i] * codes[i];  // exact
      const auto narrowed = arith::float_from_bf16(arith::bf16_from_float(static_cast<float>(number)));
      numbers[j * depth + i] = arith::half_from_double(g.type == ElementType::kBf16 ? narrowed : number);
    }
  }
}

void keep_weights(const workload::Gemm& g, const std::vector<Half>& x, std::vector<unsigned char>& bytes,
                  std::vector<Half>& numbers) {
  bytes.assign(g.weight_bytes(), 0);
  numbers.resize(x.size());
  keep_weights(g, g.columns, g.depth, x.data(), bytes.data(), numbers.data());
  if (g.fusion.down == 0) return;
  const std::uint64_t second = g.second_weights_at();
  keep_weights(g, g.fusion.down, g.first_columns(), x.data() + second, bytes.data() + g.second_weights_at_byte(),
               numbers.data() + second);
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

Quantised quantised(const workload::Workload& w, const Tensors& t) {
  Quantised all;
  Keeper keeper(w.type());
  // One head's Q, K and V; rows and columns of a product.
  const auto keep_whole = [&](const Half* q, std::size_t queries, const Half* k, std::size_t keys, const Half* v,
                              std::size_t values, float scale) {
    float q_scale = 1, k_scale = 1, v_scale = 1;
    if (w.type() == ElementType::kInt8) {
      q_scale = t.scales.q > 0 ? t.scales.q : scale_of(q, queries);
      k_scale = t.scales.k > 0 ? t.scales.k : scale_of(k, keys);
      v_scale = t.scales.v > 0 ? t.scales.v : scale_of(v, values);
      all.factors.push_back({scale * q_scale * k_scale, v_scale});
    }
    keeper.keep(q, queries, q_scale, all.q, all.numbers.q);
    keeper.keep(k, keys, k_scale, all.k, all.numbers.k);
    keeper.keep(v, values, v_scale, all.v, all.numbers.v);
  };
  if (w.gemm() != nullptr) {
    const workload::Gemm& g = *w.gemm();
    keep_whole(t.q.data(), t.q.size(), t.k.data(), g.weights.any() ? 0 : t.k.size(), t.v.data(), 0, 1);
    if (g.weights.any()) keep_weights(g, t.k, all.k, all.numbers.k);
    all.numbers.v = t.v;  // further operands are FP16
    all.v.resize(t.v.size() * sizeof(Half));
    if (!t.v.empty()) std::memcpy(all.v.data(), t.v.data(), all.v.size());
    return all;
  }
  const workload::Attention n = w.attention().folded();
  std::size_t queries = 0, keys = 0, values = 0;  // elements before the head
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    const std::size_t head_queries = std::size_t{n.queries_of(b)} * n.emb,
                      head_keys = std::size_t{n.context(b)} * n.emb,
                      head_values = std::size_t{n.context(b)} * n.values();
    for (std::uint32_t head = 0; head < n.heads; ++head) {
      const Half *q = t.q.data() + queries, *k = t.k.data() + keys, *v = t.v.data() + values;
      queries += head_queries;
      keys += head_keys;
      values += head_values;
      if (n.scale_block == 0) {
        keep_whole(q, head_queries, k, head_keys, v, head_values, n.scale);
        continue;
      }
      all.blocks.emplace_back();
      const auto keep = [&](const Half* x, std::size_t elements, std::size_t emb, float times, float known,
                            std::vector<float>& scales, std::vector<unsigned char>& bytes, std::vector<Half>& numbers) {
        for (std::size_t at = 0; at < elements; at += n.scale_block * emb) {
          const std::size_t some = std::min(n.scale_block * emb, elements - at);
          const float scale = known > 0 ? known : scale_of(x + at, some);
          scales.push_back(times * scale);
          keeper.keep(x + at, some, scale, bytes, numbers);
        }
      };
      keep(q, head_queries, n.emb, n.scale, t.scales.q, all.blocks.back().q, all.q, all.numbers.q);
      keep(k, head_keys, n.emb, 1, t.scales.k, all.blocks.back().k, all.k, all.numbers.k);
      keep(v, head_values, n.values(), 1, t.scales.v, all.blocks.back().v, all.v, all.numbers.v);
    }
  }
  return all;
}

float scale_of_result(const workload::RowOperation& conversion, const Tensors& t) {
  if (conversion.type != ElementType::kInt8) return 1;
  return t.scales.q > 0 ? t.scales.q : scale_of(t.q.data(), t.q.size());
}

std::vector<Half> converted_numbers(ElementType type, float scale, const void* stored, std::size_t count) {
  std::vector<float> numbers(count);
  arith::floats_from(type, stored, numbers.data(), count);
  for (float& x : numbers) x *= scale;
  std::vector<Half> halves(count);
  arith::halves_from_floats(numbers.data(), halves.data(), count);
  return halves;
}

std::vector<Half> stored_weights(const workload::Gemm& product, const std::vector<Half>& weights) {
  if (!product.weights.any()) return weights;
  std::vector<unsigned char> bytes;
  std::vector<Half> numbers;
  keep_weights(product, weights, bytes, numbers);
  return numbers;
}

std::vector<AttentionPart> parts_of(const workload::Attention& n, const Quantised& kept) {
  AttentionPart part{shape_of(n), 0, 0, 0, 0, 0};
  AttentionShape& shape = part.shape;
  const std::vector<HeadFactors>& factors = kept.factors;
  shape.factors = factors;
  std::vector<AttentionShape::RowScales> scales;
  for (const Quantised::LayerScales& of : kept.blocks) scales.push_back({n.scale_block, of.q, of.k, of.v});
  shape.scales = scales;
  if (!n.ragged()) return {std::move(part)};
  std::vector<AttentionPart> all;
  shape.batch = 1;
  const workload::Attention folded = n.folded();
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    part.first_batch = b;
    shape.keys = n.context(b);
    shape.queries = folded.queries_of(b);
    shape.mask = folded.mask_of(b);
    const auto heads = static_cast<std::ptrdiff_t>(shape.heads), first = static_cast<std::ptrdiff_t>(b) * heads;
    if (!scales.empty()) shape.scales.assign(scales.begin() + first, scales.begin() + first + heads);
    if (!factors.empty()) shape.factors.assign(factors.begin() + first, factors.begin() + first + heads);
    all.push_back(part);
    part.query += shape.query_elements();
    part.key += shape.key_elements();
    part.value += shape.value_elements();
    part.output += shape.output_elements();
  }
  return all;
}

std::vector<std::uint32_t> block_scales(const workload::Attention& attention,
                                        const std::vector<Quantised::LayerScales>& blocks) {
  const workload::Attention n = attention.folded();
  const auto count = [&](std::size_t tokens) { return (tokens + n.scale_block - 1) / n.scale_block; };
  std::vector<std::uint32_t> words;
  for (const Quantised::LayerScales& head : blocks) {
    for (const auto& [scales, most] :
         {std::pair{&head.q, count(n.seq_q)}, {&head.k, count(n.seq_kv)}, {&head.v, count(n.seq_kv)}}) {
      for (std::size_t i = 0; i < most; ++i)
        words.push_back(i < scales->size() ? bits_of((*scales)[i]) : hal::kUnitScale);
    }
  }
  return words;
}

std::vector<hal::HeadScales> head_scales(const std::vector<HeadFactors>& factors, ElementType type, bool one_pass) {
  std::vector<hal::HeadScales> scales;
  for (const HeadFactors& f : factors) {
    scales.push_back({bits_of(f.score), bits_of(one_pass ? f.value / arith::kept_one(type) : f.value)});
  }
  return scales;
}

}  // namespace attnvp::job
