// Files of waveforms besides GTKWave's: Surfer's commands, and waveforms of simulations without a platform.
#pragma once

#include <string>

#include "models/sim/trace/recorder.h"
#include "models/sim/trace/vcd.h"
#include "platform/trace/gtkw.h"

namespace attnvp::trace {

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

}  // namespace attnvp::trace
