#include "platform/base/fill.h"

namespace attnvp::text {

std::string fill(std::string_view page, const std::map<std::string, std::string_view>& marks) {
  std::string out;
  while (!page.empty()) {
    const std::size_t start = page.find('@');
    const std::size_t end = start == std::string_view::npos ? start : page.find('@', start + 1);
    if (end == std::string_view::npos) break;
    const auto mark = marks.find(std::string(page.substr(start + 1, end - start - 1)));
    out += page.substr(0, mark == marks.end() ? end : start);
    if (mark != marks.end()) out += mark->second;
    page.remove_prefix(mark == marks.end() ? end : end + 1);  // the second @ of an unknown mark may begin the next one
  }
  return out.append(page);
}

}  // namespace attnvp::text
