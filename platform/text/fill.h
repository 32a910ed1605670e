// Templates of pages: text with marks such as @DATA@.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace attnvp::text {

// Every known mark of `page` replaced, in one pass: what is filled in is not looked at again, whatever it holds.
std::string fill(std::string_view page, const std::map<std::string, std::string_view>& marks);

}  // namespace attnvp::text
