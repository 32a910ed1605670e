#include "models/arith/soft_cap.h"

#include <cmath>

namespace attnvp::arith {

namespace {

constexpr double kFlat = 20;  // beyond it tanh is 1, to 53 bits

// e^x - 1 for 0 <= x <= 1/32.
double small_expm1(double x) {
  constexpr int kTerms = 9;
  double sum = 1;
  for (int i = kTerms; i > 1; --i) sum = 1 + x / i * sum;
  return x * sum;
}

// For 0 <= x < kFlat: tanh of a small part of x, then doubled by tanh 2x = 2 t / (1 + t^2).
double tanh_of(double x) {
  int doublings = 0;
  for (; x > 1.0 / 64; x /= 2) ++doublings;
  const double e = small_expm1(2 * x);
  double t = e / (e + 2);
  for (; doublings > 0; --doublings) t = 2 * t / (1 + t * t);
  return t;
}

}  // namespace

double soft_cap(double x, double cap) {
  if (std::isnan(x)) return x;
  const double y = std::abs(x) / cap;
  const double magnitude = y < kFlat ? cap * tanh_of(y) : cap;
  return x < 0 ? -magnitude : magnitude;
}

}  // namespace attnvp::arith
