// A waveform of any tree of modules, all of it, with GTKWave's files: what Session is without a platform.
#pragma once

#include <string>

#include "models/trace/recorder.h"
#include "models/trace/vcd.h"

namespace attnvp::trace {

struct Waveform {
  std::string vcd_name, names_name;  // given: files beside each other
  std::string vcd, names, gtkw;      // their texts
};

class WaveformSession {
 public:
  // From now on; end() fills the texts in.
  WaveformSession(sc_core::sc_object& root, const Clock& clock, Waveform& out);
  void end();

 private:
  Waveform& out_;
  EnumCodes codes_;
  Recorder recorder_;
  VcdWriter vcd_;
};

}  // namespace attnvp::trace
