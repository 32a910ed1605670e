// Report of concurrent jobs, as text and as JSON.
#pragma once

#include <string>

#include "platform/report/report.h"
#include "platform/run/beside.h"

namespace attnvp::report {

// One line for each job, and one for the total.
std::string to_text(const job::SideBySide& run, const std::string& hardware);
// "jobs", each with "network", "clusters", "dataflow", "tiling", "cycles", "alone_cycles", "slowdown", "seconds",
// "golden", "utilization", "dram" (its "read_bytes" and "write_bytes", and its "share" of all), "energy_pj" of its
// clusters until its end, "counters"; "together": cycles, traffic, utilisation and energy of the whole machine.
std::string to_json(const job::SideBySide& run, const std::string& hardware, const JsonParts& parts);

}  // namespace attnvp::report
