// Writer of FST, GTKWave's compressed format, by GTKWave's converter.
#pragma once

#include <string>

namespace attnvp::trace {

// Converts the text of a VCD file. Throws config::ConfigError if vcd2fst is not installed or fails.
std::string fst_from_vcd(const std::string& vcd);

}  // namespace attnvp::trace
