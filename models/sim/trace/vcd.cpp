#include "models/sim/trace/vcd.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

namespace attnvp {

namespace {

// VCD identifiers: printable characters, shortest first.
std::string id_of(std::size_t n) {
  std::string id;
  do {
    id += static_cast<char>('!' + n % 94);
    n /= 94;
  } while (n-- > 0);
  return id;
}

// Scopes as a tree, in the order of their first occurrence.
struct VcdScope {
  std::string name;
  std::vector<VcdScope> children;
  std::vector<std::uint32_t> signals;
  std::vector<std::size_t> annotations;

  VcdScope& child(const std::string& path) {
    const std::size_t dot = path.find('.');
    const std::string first = path.substr(0, dot);
    auto it = std::find_if(children.begin(), children.end(), [&](const VcdScope& s) { return s.name == first; });
    if (it == children.end()) it = children.insert(children.end(), VcdScope{first, {}, {}, {}});
    return dot == std::string::npos ? *it : it->child(path.substr(dot + 1));
  }
};

unsigned bits_for(std::size_t codes) {
  unsigned bits = 1;
  while ((std::size_t{1} << bits) < codes) ++bits;
  return bits;
}

// Text of one change. Its buffer holds the longest value: 64 digits, or a real number.
class ChangeText {
 public:
  // Binary number without leading zeros, as in VCD.
  void add_binary(std::uint64_t value) {
    *end_++ = 'b';
    int bit = value == 0 ? 0 : 63 - __builtin_clzll(value);
    for (; bit >= 0; --bit) *end_++ = static_cast<char>('0' + (value >> bit & 1));
    *end_++ = ' ';
  }
  void add_real(double value) {
    *end_++ = 'r';
    end_ = std::to_chars(end_, std::end(text_), value).ptr;
    *end_++ = ' ';
  }
  void add_time(std::uint64_t time) {
    *end_++ = '#';
    end_ = std::to_chars(end_, std::end(text_), time).ptr;
  }
  void add(std::string_view text) { end_ = std::copy(text.begin(), text.end(), end_); }
  void end_line(std::string& out) {
    *end_++ = '\n';
    out.append(text_, end_);
  }

 private:
  char text_[96];
  char* end_ = text_;
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
  bits_ = bits_for(names_.size());
}

std::uint64_t EnumCodes::code(const Signal& signal, std::uint64_t value) const {
  const auto it = std::find(names_.begin(), names_.end(), signal.names()[value]);
  return static_cast<std::uint64_t>(it - names_.begin());
}

std::uint64_t EnumCodes::code(const std::string& name) const {
  return static_cast<std::uint64_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

unsigned EnumCodes::note_bits() const { return bits_for(names_.size()); }

VcdWriter::VcdWriter(const Recorder& recorder, const EnumCodes& codes) : signals_(recorder.signals()), codes_(codes) {
  for (std::size_t id = 0; id < signals_.size(); ++id) {
    ids_.push_back(id_of(id));
    const Signal& signal = *signals_[id].signal;
    enum_codes_.emplace_back();
    for (std::uint64_t v = 0; signal.names() != nullptr && signal.names()[v] != nullptr; ++v) {
      enum_codes_.back().push_back(codes.code(signal, v));
    }
    forms_.push_back({signal.kind() == Signal::SignalKind::kReal, bits(static_cast<std::uint32_t>(id)) == 1});
  }
  used_.assign(signals_.size(), false);
}

unsigned VcdWriter::bits(std::uint32_t id) const {
  const Signal& signal = *signals_[id].signal;
  return signal.kind() == Signal::SignalKind::kEnum ? codes_.bits() : signal.bits();
}

std::string VcdWriter::range(std::uint32_t id) const {
  const bool vector = signals_[id].signal->kind() != Signal::SignalKind::kReal && bits(id) > 1;
  return vector ? fmt::format("[{}:0]", bits(id) - 1) : "";
}

// VCD readers take a bracket at the end of a name for the bits of the variable (IEEE 1364, 18.2.3.8). A memory word
// therefore needs its own range after it.
std::string VcdWriter::declared_name(std::uint32_t id) const {
  const std::string& name = signals_[id].name;
  return name.back() == ']' && !range(id).empty() ? name + " " + range(id) : name;
}

std::string VcdWriter::reference(std::uint32_t id) const {
  const TracedSignal& s = signals_[id];
  return s.scope + "." + s.name + range(id);
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
  ChangeText line;
  line.add_time(time);
  line.end_line(body_);
}

void VcdWriter::write_value(std::string& out, std::uint32_t id, std::uint64_t value) const {
  const SignalForm& form = forms_[id];
  ChangeText line;
  if (form.is_real) {
    line.add_real(Signal::real_of(value));
  } else {
    if (!enum_codes_[id].empty()) value = enum_codes_[id][value];
    if (value == Signal::kNone) {
      line.add(form.is_bit ? "z" : "bz ");
    } else if (form.is_bit) {
      line.add(value != 0 ? "1" : "0");
    } else {
      line.add_binary(value);
    }
  }
  line.add(ids_[id]);
  line.end_line(out);
}

std::string VcdWriter::text() const {
  std::string out = "$timescale 1 fs $end\n$comment numbers of names:";
  for (std::size_t code = 0; code < codes_.names().size(); ++code) {
    std::string name = codes_.names()[code];
    std::replace(name.begin(), name.end(), ' ', '_');
    out += fmt::format(" {}={}", code, name);
  }
  out += " $end\n";
  VcdScope root;
  for (std::uint32_t id = 0; id < signals_.size(); ++id) {
    if (shows(id)) root.child(signals_[id].scope).signals.push_back(id);
  }
  for (std::size_t i = 0; i < annotations_.size(); ++i) root.child(annotations_[i].scope).annotations.push_back(i);
  const auto declare = [&](const auto& self, const VcdScope& scope) -> void {
    out += fmt::format("$scope module {} $end\n", scope.name);
    for (const std::uint32_t id : scope.signals) {
      const bool real = signals_[id].signal->kind() == Signal::SignalKind::kReal;
      out += fmt::format("$var {} {} {} {} $end\n", real ? "real" : "wire", bits(id), ids_[id], declared_name(id));
    }
    for (const std::size_t i : scope.annotations) {
      const Annotation& a = annotations_[i];
      out += fmt::format("$var wire {} {} {} $end\n", a.bits, a.id, a.name);
    }
    for (const VcdScope& child : scope.children) self(self, child);
    out += "$upscope $end\n";
  };
  for (const VcdScope& scope : root.children) declare(declare, scope);
  out += fmt::format("$enddefinitions $end\n#{}\n$dumpvars\n", begin_);
  std::vector<std::uint64_t> first = first_;
  for (const Filled& filled : filled_) {
    for (const Note& note : filled.notes) {
      if (note.time <= begin_) first[filled.signal] = note.value;
    }
  }
  for (std::uint32_t id = 0; id < signals_.size(); ++id) {
    if (shows(id)) write_value(out, id, first[id]);
  }
  for (const Annotation& a : annotations_) {
    std::uint64_t value = Signal::kNone;
    for (const Note& note : a.notes) {
      if (note.time <= begin_) value = note.value;
    }
    write_note(out, a, value);
  }
  out += "$end\n";
  return out + (annotations_.empty() && filled_.empty() ? body_ : body_with_notes());
}

void VcdWriter::annotate(const std::string& scope, const std::string& name, std::vector<Note> notes, unsigned bits) {
  annotations_.push_back({scope, name, id_of(signals_.size() + annotations_.size()), std::move(notes),
                          bits == kNames ? codes_.note_bits() : bits});
}

std::string VcdWriter::noted(const std::string& scope, const std::string& name) const {
  for (const Annotation& a : annotations_) {
    if (a.scope == scope && a.name == name) return fmt::format("{}.{}[{}:0]", scope, name, a.bits - 1);
  }
  return {};
}

void VcdWriter::write_note(std::string& out, const Annotation& annotation, std::uint64_t value) const {
  ChangeText line;
  if (value == Signal::kNone) {
    line.add("bz ");
  } else {
    line.add_binary(value);
  }
  line.add(annotation.id);
  line.end_line(out);
}

// The blocks of the body, each with a time and its changes, merged with the notes. At one time the body's changes come
// first, then those of annotations, then those of late signals.
std::string VcdWriter::body_with_notes() const {
  struct LateChange {
    std::uint64_t time, value;
    const Annotation* annotation;  // nullptr: the signal
    std::uint32_t signal;
  };
  std::vector<LateChange> late;
  for (const Annotation& a : annotations_) {
    for (const Note& note : a.notes) {
      if (note.time > begin_ && note.time <= time_) late.push_back({note.time, note.value, &a, 0});
    }
  }
  for (const Filled& filled : filled_) {
    for (const Note& note : filled.notes) {
      if (note.time > begin_ && note.time <= time_) late.push_back({note.time, note.value, nullptr, filled.signal});
    }
  }
  std::stable_sort(late.begin(), late.end(), [](const LateChange& a, const LateChange& b) { return a.time < b.time; });

  std::string out;
  out.reserve(body_.size() + late.size() * 32);
  auto next = late.cbegin();
  const auto write_one = [&] {
    if (next->annotation != nullptr) {
      write_note(out, *next->annotation, next->value);
    } else {
      write_value(out, next->signal, next->value);
    }
    ++next;
  };
  const auto write_before = [&](std::uint64_t end) {  // blocks of times that the body lacks
    while (next != late.cend() && next->time < end) {
      const std::uint64_t time = next->time;
      ChangeText line;
      line.add_time(time);
      line.end_line(out);
      while (next != late.cend() && next->time == time) write_one();
    }
  };
  for (std::size_t at = 0; at < body_.size();) {
    const std::size_t mark = body_.find("\n#", at);
    const std::size_t end = mark == std::string::npos ? body_.size() : mark + 1;
    std::uint64_t time = begin_;  // changes before the first time
    if (body_[at] == '#') std::from_chars(body_.data() + at + 1, body_.data() + end, time);
    write_before(time);
    out.append(body_, at, end - at);
    while (next != late.cend() && next->time == time) write_one();
    at = end;
  }
  write_before(UINT64_MAX);
  return out;
}

}  // namespace attnvp
