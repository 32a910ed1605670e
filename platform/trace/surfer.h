// Surfer's side of a waveform: the command file that opens it ready to read.
#pragma once

#include <string>

#include "platform/trace/gtkw.h"

namespace attnvp::trace {

// The overview and the first core's engines, about as wide as GTKWave's view. Numbers of names are shown as names where
// Surfer has the mapping of traces/views.
std::string sucl(const Recorder& recorder, const VcdWriter& vcd, const View& view);

}  // namespace attnvp::trace
