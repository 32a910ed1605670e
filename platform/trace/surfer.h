// Surfer command file for a waveform.
#pragma once

#include <string>

#include "platform/trace/gtkw.h"

namespace attnvp::trace {

// Shows the overview and the first core's engines, in about the same range as GTKWave's view. Numbers appear as names
// if Surfer has the mapping of traces/views.
std::string sucl(const Recorder& recorder, const VcdWriter& vcd, const View& view);

}  // namespace attnvp::trace
