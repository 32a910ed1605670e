// Page templates: text with marks such as @DATA@.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace attnvp::text {

// Replaces all known marks in one pass; replaced text is not scanned again.
std::string fill(std::string_view page, const std::map<std::string, std::string_view>& marks);

}  // namespace attnvp::text
