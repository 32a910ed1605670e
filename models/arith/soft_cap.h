// Soft-cap of scores before softmax: cap * tanh(x / cap). Computed in double from additions, products and quotients
// only, so that all hosts give the same bits. Absolute error below 1e-14 * cap.
#pragma once

namespace attnvp::arith {

double soft_cap(double x, double cap);  // cap > 0; NaN for NaN

}  // namespace attnvp::arith
