// A checker's findings as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "platform/schedule/check/checker.h"

namespace attnvp::cli {

std::string findings_text(const schedule::check::Report& report, std::uint64_t most);
nlohmann::ordered_json findings_json(const schedule::check::Report& report, std::uint64_t most);

}  // namespace attnvp::cli
