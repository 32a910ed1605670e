// GTKWave's side of a waveform: the save file that opens it ready to read, and the filter that shows names.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/trace/recorder.h"
#include "models/trace/vcd.h"

namespace attnvp::trace {

struct View {
  std::string vcd, names, idle;               // files beside the save file
  std::uint64_t begin, end;                   // shown at first; fs
  std::uint64_t marker;                       // at the first PV; UINT64_MAX: none
  std::map<std::string, std::string> titles;  // of signals, by scope and name, that say more than their names
};

// Groups per core and per cluster part; those of clusters beyond the first closed. Files are found beside the save file
// wherever that is.
std::string gtkw(const Recorder& recorder, const VcdWriter& vcd, const View& view);

// One line per number: the name that stands for it, and its colour.
std::string names(const EnumCodes& codes);
// A filter for numbers: one that is not there, such as an idle engine's head, is shown as nothing.
std::string idle();

}  // namespace attnvp::trace
