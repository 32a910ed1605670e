// What `attnvp validate` writes.
#pragma once

#include <string>

#include "explore/validate/validate.h"

namespace attnvp::validate {

std::string to_text(const Result& result);  // errors and the worst rows
std::string to_json(const Result& result);
std::string to_csv(const Result& result);   // one line a point
std::string to_html(const Result& result);  // a log-log plot and all points

}  // namespace attnvp::validate
