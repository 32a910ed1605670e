// In place of fst.cpp where Verilator's FST library is missing.
#include "platform/machine/error.h"
#include "platform/trace/fst.h"

namespace attnvp::trace {

std::string fst_from_vcd(const std::string&) {
  throw config::ConfigError(
      "an .fst waveform needs a build with Verilator's FST library, which was missing; .vcd works");
}

}  // namespace attnvp::trace
