// Scores that never exceed a bound: cap * tanh(x / cap), as some models have them before softmax. In double, from
// additions, products and quotients alone, so that every host gets the same bits; within 1e-14 of cap of the real one.
#pragma once

namespace attnvp::arith {

double soft_cap(double x, double cap);  // cap > 0; NaN for NaN

}  // namespace attnvp::arith
