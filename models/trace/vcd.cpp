#include "models/trace/vcd.h"

#include <fmt/format.h>

namespace attnvp {

namespace {

// VCD identifiers: the printable characters, shortest first.
std::string code_of(std::size_t n) {
  std::string code;
  do {
    code += static_cast<char>('!' + n % 94);
    n /= 94;
  } while (n-- > 0);
  return code;
}

bool has_signals(sc_core::sc_object& object) {
  auto* module = dynamic_cast<Module*>(&object);
  if (module != nullptr && (!module->signals().empty() || module->trace_guest() != nullptr)) return true;
  for (sc_core::sc_object* child : object.get_child_objects()) {
    if (has_signals(*child)) return true;
  }
  return false;
}

}  // namespace

VcdWriter::VcdWriter(const std::vector<sc_core::sc_object*>& roots, std::string& out) : out_(out) {
  out_ += "$timescale 1 fs $end\n";
  for (sc_core::sc_object* root : roots) declare(*root);
  out_ += "$enddefinitions $end\n";
  write_time();
  out_ += "$dumpvars\n";
  for (std::uint32_t id = 0; id < signals_.size(); ++id) {
    write_value(id, signals_[id]->value());
    signals_[id]->attach(this, id);
  }
  out_ += "$end\n";
}

VcdWriter::~VcdWriter() {
  for (Signal* signal : signals_) signal->attach(nullptr, 0);
  for (TraceGuest* guest : guests_) guest->detach();
}

void VcdWriter::declare(sc_core::sc_object& object) {
  if (!has_signals(object)) return;
  out_ += fmt::format("$scope module {} $end\n", object.basename());
  if (auto* module = dynamic_cast<Module*>(&object)) {
    for (Signal* signal : module->signals()) {
      codes_.push_back(code_of(signals_.size()));
      signals_.push_back(signal);
      if (signal->names() != nullptr) {
        out_ += fmt::format("$var string 1 {} {} $end\n", codes_.back(), signal->name());
      } else {
        out_ += fmt::format("$var wire {} {} {} $end\n", signal->bits(), codes_.back(), signal->name());
      }
    }
    if (TraceGuest* guest = module->trace_guest()) {
      // Longer than any code of ours.
      out_ += guest->attach(*this, fmt::format("{:04}", guests_.size()));
      guests_.push_back(guest);
    }
  }
  for (sc_core::sc_object* child : object.get_child_objects()) declare(*child);
  out_ += "$upscope $end\n";
}

void VcdWriter::write_time() {
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  if (now == last_time_) return;
  last_time_ = now;
  fmt::format_to(std::back_inserter(out_), "#{}\n", now);
}

void VcdWriter::change(std::uint32_t id, std::uint64_t value) {
  write_time();
  write_value(id, value);
}

void VcdWriter::guest_changes(std::string_view text) {
  if (text.empty()) return;
  write_time();
  out_ += text;
}

void VcdWriter::write_value(std::uint32_t id, std::uint64_t value) {
  const Signal& signal = *signals_[id];
  if (signal.names() != nullptr) {
    fmt::format_to(std::back_inserter(out_), "s{} {}\n", signal.names()[value], codes_[id]);
  } else if (signal.bits() == 1) {
    fmt::format_to(std::back_inserter(out_), "{}{}\n", value, codes_[id]);
  } else {
    fmt::format_to(std::back_inserter(out_), "b{:b} {}\n", value, codes_[id]);
  }
}

}  // namespace attnvp
