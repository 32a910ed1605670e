// Power of a serving GPU over time. A row is a second of a log: the requests that run, and watts.
#pragma once

#include <string>
#include <vector>

#include "explore/validate/decode_step.h"
#include "explore/validate/validate.h"

namespace attnvp::validate {

// Kernels of the step that a row with requests names. `network` empty: Llama 3.1 8B.
std::vector<StepLayers> kernels_of_row(const DataRow& row, const std::string& hardware,
                                       const std::vector<std::string>& settings, const std::string& network,
                                       const KernelTable& table);

// Figure of a set of such rows: watts over time, measured and predicted, and the predicted course of the decoding step
// with the most requests, kernel by kernel.
std::string course_svg(const SetResult& result, const DataSetOptions& options);

}  // namespace attnvp::validate
