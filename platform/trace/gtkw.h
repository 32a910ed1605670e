// GTKWave files for a waveform: the save file with the view, and translate filters for names.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/sim/trace/recorder.h"
#include "models/sim/trace/vcd.h"

namespace attnvp::trace {

struct View {
  std::string vcd, names, idle;               // relative to the save file
  std::uint64_t begin, end;                   // initial view, in fs
  std::uint64_t marker;                       // at the first P.V product; UINT64_MAX: none
  std::map<std::string, std::string> titles;  // by scope and name; replace signal names
};

// Groups by core and cluster; clusters after the first are closed. File names are relative to the save file.
std::string gtkw(const Recorder& recorder, const VcdWriter& vcd, const View& view);

// One line a number: its name and colour.
std::string names(const EnumCodes& codes);
// Filter for numbers: unavailable values, such as the head of an idle engine, are blank.
std::string idle();

}  // namespace attnvp::trace
