// What reports of runs have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "platform/job/job.h"

namespace attnvp::report {

std::string golden_text(const job::Result& result);  // "passed", "FAILED", "not checked"
nlohmann::ordered_json golden_json(const job::Result& result);
nlohmann::ordered_json tiling_json(const job::Schedule& schedule);

}  // namespace attnvp::report
