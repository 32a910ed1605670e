// Files of report pages, embedded by the build (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace attnvp::report::page_files {

extern const std::string_view css, common, chart;  // for every page: style, common script, chart library
extern const std::string_view html, gantt, script;

}  // namespace attnvp::report::page_files
