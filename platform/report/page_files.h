// The files that report pages are made of, as the build put them into the program (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace attnvp::report::page_files {

extern const std::string_view css, common, chart;  // of every page: style, what scripts share, the library of charts
extern const std::string_view html, gantt, script;

}  // namespace attnvp::report::page_files
