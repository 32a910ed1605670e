#include "models/streaming/graph.h"

#include <algorithm>
#include <cmath>

namespace attnvp::stream {

namespace {

void copy(const Firing& f) { std::copy_n(f.in[0], f.width, f.out[0]); }
void nothing(const Firing&) {}

float dot_product(const Firing& f) {
  float sum = 0;
  for (std::size_t i = 0; i < f.width; ++i) sum += f.in[0][i] * f.in[1][i];
  return sum;
}
void dot(const Firing& f) { *f.out[0] = dot_product(f); }
void dot_exp(const Firing& f) { *f.out[0] = std::exp(dot_product(f)); }

template <class Function>
void map(const Firing& f, Function function) {
  for (std::size_t i = 0; i < f.width; ++i) f.out[0][i] = function(i);
}
void exp(const Firing& f) { *f.out[0] = std::exp(*f.in[0]); }
void sub_exp(const Firing& f) { *f.out[0] = std::exp(*f.in[0] - *f.in[1]); }
void add(const Firing& f) {
  map(f, [&](std::size_t i) { return f.in[0][i] + f.in[1][i]; });
}
void sub(const Firing& f) {
  map(f, [&](std::size_t i) { return f.in[0][i] - f.in[1][i]; });
}
void mul(const Firing& f) {
  map(f, [&](std::size_t i) { return f.in[0][i] * *f.in[1]; });
}
void div(const Firing& f) {
  map(f, [&](std::size_t i) { return f.in[0][i] / *f.in[1]; });
}

// Reductions keep the partial result in the state and write it to the output; the node sends only the last one.
template <class Function>
void reduce(const Firing& f, Function function) {
  for (std::size_t i = 0; i < f.width; ++i) f.out[0][i] = f.state[i] = function(i);
}
void sum(const Firing& f) {
  reduce(f, [&](std::size_t i) { return f.first ? f.in[0][i] : f.state[i] + f.in[0][i]; });
}
void max(const Firing& f) { *f.out[0] = *f.state = f.first ? *f.in[0] : std::max(*f.state, *f.in[0]); }
void weighted_sum(const Firing& f) {
  reduce(f, [&](std::size_t i) { return (f.first ? 0.0F : f.state[i]) + *f.in[0] * f.in[1][i]; });
}
void rescaled_sum(const Firing& f) { *f.out[0] = *f.state = f.first ? *f.in[1] : *f.state * *f.in[0] + *f.in[1]; }
void rescaled_weighted_sum(const Firing& f) {
  const float scale = *f.in[0], weight = *f.in[1];
  reduce(f, [&](std::size_t i) { return (f.first ? 0.0F : f.state[i] * scale) + weight * f.in[2][i]; });
}

// One of the two exponentials is always e^0.
void running_max(const Firing& f) {
  const float s = *f.in[0];
  float &scale = *f.out[0], &weight = *f.out[1], &m = *f.state;
  const bool rises = f.first || s > m;
  scale = f.first ? 0.0F : rises ? std::exp(m - s) : 1.0F;
  weight = rises ? 1.0F : std::exp(s - m);
  if (rises) m = s;
}

constexpr Shape kS = Shape::kScalar, kV = Shape::kVector, kA = Shape::kAny;

FiringWork lanes(std::uint32_t arithmetic) { return {0, arithmetic, 0, 0}; }

}  // namespace

const std::vector<StreamOperation>& operations() {
  static const std::vector<StreamOperation> all = {
      {"source",
       NodeKind::kSource,
       {},
       {{"x", kV}},
       {},
       copy,
       "rows of Q, K or V: `tensor`, sent per score or `per: row`"},
      {"output", NodeKind::kSink, {{"x", kV}}, {}, {}, copy, "takes O, one vector per row, for the golden check"},
      {"discard", NodeKind::kSink, {{"x", kA}}, {}, {}, nothing, "takes anything"},
      {"dot", NodeKind::kMap, {{"q", kV}, {"k", kV}}, {{"s", kS}}, lanes(1), dot, "s = q . k"},
      {"dot_exp", NodeKind::kMap, {{"q", kV}, {"k", kV}}, {{"p", kS}}, {0, 1, 1, 0}, dot_exp, "p = e^(q . k)"},
      {"exp", NodeKind::kMap, {{"x", kS}}, {{"y", kS}}, {0, 0, 1, 0}, exp, "y = e^x"},
      {"sub_exp", NodeKind::kMap, {{"x", kS}, {"m", kS}}, {{"y", kS}}, {1, 0, 1, 0}, sub_exp, "y = e^(x - m)"},
      {"add", NodeKind::kMap, {{"x", kA}, {"y", kA}}, {{"z", kA}}, lanes(1), add, "z = x + y"},
      {"sub", NodeKind::kMap, {{"x", kA}, {"y", kA}}, {{"z", kA}}, lanes(1), sub, "z = x - y"},
      {"mul", NodeKind::kMap, {{"x", kA}, {"by", kS}}, {{"z", kA}}, lanes(1), mul, "z = x by"},
      {"div", NodeKind::kMap, {{"x", kA}, {"by", kS}}, {{"z", kA}}, {0, 0, 0, 1}, div, "z = x / by"},
      {"sum", NodeKind::kReduction, {{"x", kA}}, {{"sum", kA}}, lanes(1), sum, "sum of x over the row"},
      {"max", NodeKind::kReduction, {{"x", kS}}, {{"max", kS}}, lanes(1), max, "greatest x of the row"},
      {"weighted_sum",
       NodeKind::kReduction,
       {{"p", kS}, {"v", kV}},
       {{"o", kV}},
       lanes(1),
       weighted_sum,
       "o = sum of p v over the row"},
      {"running_max",
       NodeKind::kScan,
       {{"s", kS}},
       {{"scale", kS}, {"weight", kS}},
       {3, 0, 2, 0},
       running_max,
       "with m the greatest s so far: scale = e^(m before - m), weight = e^(s - m)"},
      {"rescaled_sum",
       NodeKind::kReduction,
       {{"scale", kS}, {"weight", kS}},
       {{"r", kS}},
       lanes(1),
       rescaled_sum,
       "r = r scale + weight over the row"},
      {"rescaled_weighted_sum",
       NodeKind::kReduction,
       {{"scale", kS}, {"weight", kS}, {"v", kV}},
       {{"o", kV}},
       lanes(2),
       rescaled_weighted_sum,
       "o = o scale + weight v over the row"},
  };
  return all;
}

const StreamOperation* find_operation(std::string_view name) {
  for (const StreamOperation& operation : operations()) {
    if (name == operation.name) return &operation;
  }
  return nullptr;
}

}  // namespace attnvp::stream
