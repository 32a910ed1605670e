// Predicted over measured, one plot a unit, both axes alike and logarithmic.
#pragma once

#include <string>

#include "explore/validate/validate.h"

namespace attnvp::validate {

std::string plots(const Result& result);  // SVG elements

}  // namespace attnvp::validate
