#include "platform/trace/waveform.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

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

namespace {

const char* const kMapping = "attnvp";  // of numbers to names, in Surfer's configuration

class CommandFile {
 public:
  CommandFile(const Recorder& recorder, const VcdWriter& vcd) : recorder_(recorder), vcd_(vcd) {}

  void command(const std::string& text) { out_ += text + "\n"; }
  void note(const std::string& scope, const std::string& name, const char* format) {
    if (!vcd_.noted(scope, name).empty()) variable(scope + "." + name, format);
  }
  // Adds the signals of that name in the scopes accepted by `wanted`, in the waveform's order.
  void signals(const std::string& name, const std::function<bool(const std::string& scope)>& wanted) {
    for (std::uint32_t id = 0; id < recorder_.signals().size(); ++id) {
      const TracedSignal& s = recorder_.signals()[id];
      if (s.name != name || !vcd_.shows(id) || !wanted(s.scope)) continue;
      const Signal::SignalKind kind = vcd_.kind(id);
      const bool names = kind == Signal::SignalKind::kEnum, real = kind == Signal::SignalKind::kReal;
      variable(s.scope + "." + s.name, names ? kMapping : real ? nullptr : "Unsigned");
    }
  }
  const std::string& text() const { return out_; }

 private:
  void variable(const std::string& path, const char* format) {
    command("variable_add " + path);
    if (format != nullptr) command(fmt::format("item_set_format {}", format));
  }

  const Recorder& recorder_;
  const VcdWriter& vcd_;
  std::string out_;
};

}  // namespace

std::string sucl(const Recorder& recorder, const VcdWriter& vcd, const View& view) {
  CommandFile file(recorder, vcd);
  const auto has = [](const char* part) {
    return [part](const std::string& scope) { return scope.find(part) != std::string::npos; };
  };
  const std::string root = recorder.signals().empty() ? "" : recorder.signals().front().scope;
  const std::string top = root.substr(0, root.find('.'));
  file.command("load_file " + view.vcd);
  file.command("divider_add overview");  // a single word
  file.command("item_focus a");          // formats apply to the focused item: the first, then each added one
  for (const char* name : {"cycle", "mac_working", "vec_working"}) file.note(top, name, "Unsigned");
  file.signals("operation", has(".core"));
  file.signals("operation", has(".dma.channel"));
  file.signals("bus", has(".dram"));
  file.signals("bus", has(".l2"));
  for (const char* engine : {".core0.mac", ".core0.vec"}) {
    file.command(fmt::format("divider_add {}", engine + 1));
    for (const char* name : {"head", "row_block", "state", "fetch_state", "queue_level"}) {
      file.signals(name, [&, path = top + ".cluster0" + engine](const std::string& scope) { return scope == path; });
    }
  }
  file.command("divider_add memory");
  file.signals("allocated_bytes", has(".l1"));
  file.signals("bytes_per_cycle", has(".dram"));
  file.signals("bytes_per_cycle", has(".l2"));
  file.signals("power_w", [&](const std::string& scope) { return scope == top; });
  file.command("item_unfocus");
  file.command("zoom_fit");
  // Halves the range about the middle; the cursor scrolls to its position.
  for (std::uint64_t width = vcd.last_time() - vcd.first_time();
       width / 2 >= std::max<std::uint64_t>(view.end - view.begin, 1); width /= 2)
    file.command("zoom_in");
  if (view.marker != UINT64_MAX) file.command(fmt::format("cursor_set {}", view.marker));
  return file.text();
}

}  // namespace attnvp::trace
