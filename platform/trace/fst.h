// GTKWave's compressed waveform format (FST), written by the library that Verilator brings (gtkwave/fstapi.h).
#pragma once

#include <string>

namespace attnvp::trace {

// Bytes of the FST file with the contents of a waveform that VcdWriter wrote. Throws config::ConfigError if the
// temporary folder cannot be written.
std::string fst_from_vcd(const std::string& vcd);

}  // namespace attnvp::trace
