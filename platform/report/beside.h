// Jobs side by side, as text and as JSON.
#pragma once

#include <string>

#include "platform/job/beside.h"
#include "platform/report/report.h"

namespace attnvp::report {

// One line a job, and one of all together.
std::string to_text(const job::SideBySide& run, const std::string& hardware);
// "jobs": of each its "network", "clusters", "dataflow", "tiling", "cycles", "alone_cycles", "slowdown", "seconds",
// "golden", "utilization", "dram" ("read_bytes" and "write_bytes" that it asked for, "share" of all), "energy_pj" of
// its clusters until its end, "counters"; "together": cycles, traffic, utilisation and energy of the whole machine.
std::string to_json(const job::SideBySide& run, const std::string& hardware, const JsonParts& parts);

}  // namespace attnvp::report
