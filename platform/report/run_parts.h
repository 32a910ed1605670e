// Common parts of run reports.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "platform/run/job.h"

namespace attnvp::report {

std::string golden_text(const job::RunResult& result);   // "passed", "FAILED", "not checked"
std::string resource_name(const std::string& resource);  // "l1_port": "L1 port"
nlohmann::ordered_json golden_json(const job::RunResult& result);
nlohmann::ordered_json tiling_json(const job::Schedule& schedule);

}  // namespace attnvp::report
