// GTKWave's side of a waveform: the save file that opens it ready to read, and the filter that shows names.
#pragma once

#include <cstdint>
#include <string>

#include "models/trace/recorder.h"
#include "models/trace/vcd.h"

namespace attnvp::trace {

struct View {
  std::string vcd, names;    // files beside the save file
  std::uint64_t begin, end;  // shown at first; fs
  std::uint64_t marker;      // at the first PV; UINT64_MAX: none
};

// Groups per core and per cluster part; those of clusters beyond the first closed. Files are found beside the save file
// wherever that is.
std::string gtkw(const Recorder& recorder, const VcdWriter& vcd, const View& view);

// One line per number: the name that stands for it, and its colour.
std::string names(const EnumCodes& codes);

}  // namespace attnvp::trace
