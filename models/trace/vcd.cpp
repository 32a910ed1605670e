#include "models/trace/vcd.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace attnvp {

namespace {

// VCD identifiers: the printable characters, shortest first.
std::string id_of(std::size_t n) {
  std::string id;
  do {
    id += static_cast<char>('!' + n % 94);
    n /= 94;
  } while (n-- > 0);
  return id;
}

// The scopes as a tree, in the order in which they first appear.
struct Scope {
  std::string name;
  std::vector<Scope> children;
  std::vector<std::uint32_t> signals;

  Scope& child(const std::string& path) {
    const std::size_t dot = path.find('.');
    const std::string first = path.substr(0, dot);
    auto it = std::find_if(children.begin(), children.end(), [&](const Scope& s) { return s.name == first; });
    if (it == children.end()) it = children.insert(children.end(), Scope{first, {}, {}});
    return dot == std::string::npos ? *it : it->child(path.substr(dot + 1));
  }
};

}  // namespace

EnumCodes::EnumCodes(sc_core::sc_object& root) {
  for_each_module(root, [this](Module& module) {
    for (const Signal* signal : module.signals()) {
      for (const char* const* name = signal->names(); name != nullptr && *name != nullptr; ++name) {
        if (std::find(names_.begin(), names_.end(), *name) == names_.end()) names_.emplace_back(*name);
      }
    }
  });
}

std::uint64_t EnumCodes::code(const Signal& signal, std::uint64_t value) const {
  const auto it = std::find(names_.begin(), names_.end(), signal.names()[value]);
  return static_cast<std::uint64_t>(it - names_.begin());
}

unsigned EnumCodes::bits() const {
  unsigned bits = 1;
  while ((std::size_t{1} << bits) < names_.size()) ++bits;
  return bits;
}

VcdWriter::VcdWriter(const Recorder& recorder, const EnumCodes& codes) : signals_(recorder.signals()), codes_(codes) {
  for (std::size_t id = 0; id < signals_.size(); ++id) {
    ids_.push_back(id_of(id));
    const Signal& signal = *signals_[id].signal;
    enum_codes_.emplace_back();
    for (std::uint64_t v = 0; signal.names() != nullptr && signal.names()[v] != nullptr; ++v) {
      enum_codes_.back().push_back(codes.code(signal, v));
    }
  }
  used_.assign(signals_.size(), false);
}

unsigned VcdWriter::bits(std::uint32_t id) const {
  const Signal& signal = *signals_[id].signal;
  return signal.kind() == Signal::Kind::kEnum ? codes_.bits() : signal.bits();
}

std::string VcdWriter::reference(std::uint32_t id) const {
  const TracedSignal& s = signals_[id];
  const bool vector = s.signal->kind() != Signal::Kind::kReal && bits(id) > 1;
  return s.scope + "." + s.name + (vector ? fmt::format("[{}:0]", bits(id) - 1) : "");
}

void VcdWriter::begin(std::uint64_t time, const std::vector<std::uint64_t>& values) {
  begin_ = time_ = time;
  first_ = values;
  body_.clear();
}

void VcdWriter::change(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  used_[id] = true;
  write_time(time);
  write_value(body_, id, value);
}

void VcdWriter::write_time(std::uint64_t time) {
  if (time == time_) return;
  time_ = time;
  char digits[24] = {'#'};
  char* end = std::to_chars(digits + 1, std::end(digits), time).ptr;
  *end++ = '\n';
  body_.append(digits, end);
}

void VcdWriter::write_value(std::string& out, std::uint32_t id, std::uint64_t value) const {
  const Signal& signal = *signals_[id].signal;
  if (signal.kind() == Signal::Kind::kReal) {
    char digits[32] = {'r'};
    out.append(digits, std::to_chars(digits + 1, std::end(digits), Signal::real_of(value)).ptr);
    out += ' ';
    out += ids_[id];
    out += '\n';
    return;
  }
  if (signal.kind() == Signal::Kind::kEnum) value = enum_codes_[id][value];
  if (value == Signal::kNone) {
    out += bits(id) == 1 ? "z" : "bz ";
  } else if (bits(id) == 1) {
    out += value != 0 ? '1' : '0';
  } else {
    char digits[64];
    char* first = std::end(digits);
    do {
      *--first = static_cast<char>('0' + (value & 1));
      value >>= 1;
    } while (value != 0);
    out += 'b';
    out.append(first, std::end(digits));
    out += ' ';
  }
  out += ids_[id];
  out += '\n';
}

std::string VcdWriter::text() const {
  std::string out = "$timescale 1 fs $end\n$comment numbers of names:";
  for (std::size_t code = 0; code < codes_.names().size(); ++code) {
    out += fmt::format(" {}={}", code, codes_.names()[code]);
  }
  out += " $end\n";
  Scope root;
  for (std::uint32_t id = 0; id < signals_.size(); ++id) {
    if (shows(id)) root.child(signals_[id].scope).signals.push_back(id);
  }
  const auto declare = [&](const auto& self, const Scope& scope) -> void {
    out += fmt::format("$scope module {} $end\n", scope.name);
    for (const std::uint32_t id : scope.signals) {
      const bool real = signals_[id].signal->kind() == Signal::Kind::kReal;
      out += fmt::format("$var {} {} {} {} $end\n", real ? "real" : "wire", bits(id), ids_[id], signals_[id].name);
    }
    for (const Scope& child : scope.children) self(self, child);
    out += "$upscope $end\n";
  };
  for (const Scope& scope : root.children) declare(declare, scope);
  out += fmt::format("$enddefinitions $end\n#{}\n$dumpvars\n", begin_);
  for (std::uint32_t id = 0; id < signals_.size(); ++id) {
    if (shows(id)) write_value(out, id, first_[id]);
  }
  out += "$end\n";
  return out + body_;
}

}  // namespace attnvp
