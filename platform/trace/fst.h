// FST, GTKWave's compressed format, by the converter that comes with GTKWave.
#pragma once

#include <string>

namespace attnvp::trace {

// A VCD file's text to an FST file's bytes. Throws config::ConfigError where vcd2fst is not installed or fails.
std::string fst_from_vcd(const std::string& vcd);

}  // namespace attnvp::trace
