// What `attnvp validate` writes.
#pragma once

#include <string>
#include <vector>

#include "explore/validate/validate.h"
#include "platform/text/line_width.h"

namespace attnvp::validate {

std::string to_text(const Result& result);  // errors and the worst rows
std::string to_json(const Result& result);
std::string to_csv(const Result& result);                 // one line a point
std::string to_html(const std::vector<Result>& results);  // a log-log plot and all points of each

// Several sets: docs/results/validation.md, one line a set on the terminal, and a document with all of theirs.
std::string to_markdown(const std::vector<Result>& results);
std::string summary(const std::vector<Result>& results, std::size_t line_width = text::kUnlimited);
std::string to_json(const std::vector<Result>& results);

}  // namespace attnvp::validate
