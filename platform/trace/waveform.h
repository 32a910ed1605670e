// Waveform of a whole module tree with GTKWave's files, for simulations without a platform.
#pragma once

#include <string>

#include "models/sim/trace/recorder.h"
#include "models/sim/trace/vcd.h"

namespace attnvp::trace {

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

}  // namespace attnvp::trace
