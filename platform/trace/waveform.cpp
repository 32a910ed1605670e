#include "platform/trace/waveform.h"

#include "platform/trace/gtkw.h"

namespace attnvp::trace {

WaveformSession::WaveformSession(sc_core::sc_object& root, const Clock& clock, Waveform& out)
    : out_(out),
      codes_(root),
      recorder_(root, clock, [](const std::string&) { return true; }, {}),
      vcd_(recorder_, codes_) {
  recorder_.add(vcd_);
  recorder_.start();
}

void WaveformSession::end() {
  recorder_.finish();
  out_.vcd = vcd_.text();
  out_.names = names(codes_);
  out_.gtkw =
      gtkw(recorder_, vcd_, {out_.vcd_name, out_.names_name, {}, vcd_.first_time(), vcd_.last_time(), UINT64_MAX, {}});
}

}  // namespace attnvp::trace
