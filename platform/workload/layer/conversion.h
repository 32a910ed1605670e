// Conversions in layers of types of one byte: operations between products read and write FP16, and products and
// attention read their own type. Results of BF16 have as many bytes as those of FP16 and are not converted.
#pragma once

#include <vector>

#include "platform/workload/layers.h"

namespace attnvp::workload {

// Adds a conversion before each product or attention whose operand another operation wrote in FP16. A tensor that is
// read as a whole is converted once, otherwise the parts that a view takes from it. Sums and norms read the FP16
// tensor.
std::vector<LayerOperation> with_conversions(std::vector<LayerOperation> operations);

}  // namespace attnvp::workload
