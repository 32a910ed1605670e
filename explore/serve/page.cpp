#include "explore/serve/page.h"

#include <string_view>

#include "platform/base/text.h"
#include "platform/report/page/page.h"

namespace attnvp::explore {

namespace serve_files {  // made by cmake/embed.cmake
extern const std::string_view html, css, controls, gantt, results, sweep, share, script;
}  // namespace serve_files

std::string serve_page(const std::string& nonce) {
  return text::fill(serve_files::html, {{"NONCE", nonce},
                                        {"CSS", report::page_files::css},
                                        {"OWNCSS", serve_files::css},
                                        {"CHART", report::page_files::chart},
                                        {"COMMON", report::page_files::common},
                                        {"PLOTS", report::page_files::plots},
                                        {"CONTROLS", serve_files::controls},
                                        {"GANTT", serve_files::gantt},
                                        {"RESULTS", serve_files::results},
                                        {"SWEEP", serve_files::sweep},
                                        {"SHARE", serve_files::share},
                                        {"SCRIPT", serve_files::script}});
}

}  // namespace attnvp::explore
