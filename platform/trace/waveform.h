// Files of waveforms: GTKWave's view and names, Surfer's commands, FST, and waveforms of simulations without a
// platform.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/sim/trace/recorder.h"
#include "models/sim/trace/vcd.h"

namespace attnvp::trace {

// GTKWave files for a waveform: the save file with the view, and translate filters for names.

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

// Waveform of a whole module tree with GTKWave's files, for simulations without a platform.
struct Waveform {
  std::string vcd_name, names_name;  // input: names of files in the same folder
  std::string vcd, names, gtkw;      // output: their texts
};

class WaveformSession {
 public:
  // Records from construction; end() fills in the texts.
  WaveformSession(sc_core::sc_object& root, const Clock& clock, Waveform& out);
  void end();

 private:
  Waveform& out_;
  EnumCodes codes_;
  Recorder recorder_;
  VcdWriter vcd_;
};

// Surfer command file for a waveform. Shows the overview and the first core's engines, in about the same range as
// GTKWave's view. Numbers appear as names if Surfer has the mapping of traces/views.
std::string sucl(const Recorder& recorder, const VcdWriter& vcd, const View& view);

// GTKWave's compressed waveform format (FST), written by the library that Verilator brings (gtkwave/fstapi.h).

// Bytes of the FST file with the contents of a waveform that VcdWriter wrote. Throws config::ConfigError if the
// temporary folder cannot be written.
std::string fst_from_vcd(const std::string& vcd);

}  // namespace attnvp::trace
