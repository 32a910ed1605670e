#include "models/sim/trace/vcd.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
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

constexpr std::size_t kLongestLine = 128;  // 64 digits or a real number, and an identifier

// Eight binary digits of each byte.
constexpr auto kByteDigits = [] {
  std::array<std::array<char, 8>, 256> digits{};
  for (unsigned byte = 0; byte < digits.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) digits[byte][7 - bit] = static_cast<char>('0' + (byte >> bit & 1));
  }
  return digits;
}();

}  // namespace

// Lines of the file, in a buffer that holds at least one more line when a line begins.
class VcdWriter::VcdText {
 public:
  explicit VcdText(std::string head) : text_(std::move(head)), size_(text_.size()) {}

  void add_time(std::uint64_t time) {
    char* at = line();
    *at++ = '#';
    at = std::to_chars(at, at + kLongestLine / 2, time).ptr;
    *at++ = '\n';
    end_line(at);
  }
  void add_value(const SignalForm& form, std::uint64_t value) {
    char* at = line();
    if (form.is_real) {
      *at++ = 'r';
      at = add_real(at, value);
    } else if (form.is_bit) {
      *at++ = value == Signal::kNone ? 'z' : value != 0 ? '1' : '0';
    } else {
      *at++ = 'b';
      at = value == Signal::kNone ? std::fill_n(at, 1, 'z') : add_binary(at, value);
    }
    std::memcpy(at, form.tail.data(), form.tail.size());
    end_line(at + form.tail_size);
  }
  void add(std::string_view text) {
    if (size_ + text.size() > text_.size()) text_.resize(2 * (size_ + text.size()));
    std::copy(text.begin(), text.end(), text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += text.size();
  }
  std::string take() {
    text_.resize(size_);
    return std::move(text_);
  }

 private:
  char* line() {
    if (text_.size() < size_ + kLongestLine) text_.resize(2 * text_.size() + kLongestLine);
    return text_.data() + size_;
  }
  void end_line(const char* end) { size_ = static_cast<std::size_t>(end - text_.data()); }

  // Without leading zeros.
  static char* add_binary(char* at, std::uint64_t value) {
    int bits = std::max(static_cast<int>(std::bit_width(value)), 1);
    const int first = (bits - 1) % 8 + 1;  // digits of the first byte
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t digits = 0;
    std::memcpy(&digits, kByteDigits[value >> (bits - first)].data(), 8);
    digits >>= 8 * (8 - first);  // the first character is in the lowest byte
    std::memcpy(at, &digits, 8);
    at += first;
    for (bits -= first; bits > 0; bits -= 8, at += 8) {
      std::memcpy(at, kByteDigits[value >> (bits - 8) & 0xFF].data(), 8);
    }
    return at;
  }

  // Most values occur often, and the shortest digits of a number are costly to find.
  char* add_real(char* at, std::uint64_t value) {
    RealText& known = reals_[value * 0x9E3779B97F4A7C15U >> 56];
    if (known.size == 0 || known.value != value) {
      char* const end =
          std::to_chars(known.digits.data(), known.digits.data() + known.digits.size(), Signal::real_of(value)).ptr;
      known.size = static_cast<std::size_t>(end - known.digits.data());
      known.value = value;
    }
    std::memcpy(at, known.digits.data(), known.digits.size());
    return at + known.size;
  }

  struct RealText {
    std::uint64_t value = 0;
    std::size_t size = 0;  // 0: none
    std::array<char, 32> digits{};
  };
  std::string text_;
  std::size_t size_;  // of the text that is written
  std::array<RealText, 256> reals_;
};

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

VcdWriter::SignalForm::SignalForm(const std::string& id, bool real, bool bit) : is_real(real), is_bit(bit) {
  const std::string text = (bit ? "" : " ") + id + "\n";
  tail_size = static_cast<std::uint8_t>(std::min(text.size(), tail.size()));
  std::copy_n(text.begin(), tail_size, tail.begin());
}

VcdWriter::VcdWriter(const Recorder& recorder, const EnumCodes& codes) : signals_(recorder.signals()), codes_(codes) {
  for (std::size_t id = 0; id < signals_.size(); ++id) {
    ids_.push_back(id_of(id));
    const Signal& signal = *signals_[id].signal;
    enum_codes_.emplace_back();
    for (std::uint64_t v = 0; signal.names() != nullptr && signal.names()[v] != nullptr; ++v) {
      enum_codes_.back().push_back(codes.code(signal, v));
    }
    forms_.emplace_back(ids_.back(), signal.kind() == Signal::SignalKind::kReal,
                        signal.kind() != Signal::SignalKind::kReal && bits(static_cast<std::uint32_t>(id)) == 1);
  }
  used_.assign(signals_.size(), 0);
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
  begin_ = end_ = time;
  first_ = values;
  changes_.clear();
}

void VcdWriter::change(std::uint64_t time, std::uint32_t id, std::uint64_t value) {
  used_[id] = 1;
  end_ = time;
  changes_.push_back({time, value, id});
}

void VcdWriter::write_value(VcdText& out, std::uint32_t id, std::uint64_t value) const {
  out.add_value(forms_[id], enum_codes_[id].empty() ? value : enum_codes_[id][value]);
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
  VcdText text(std::move(out));
  std::vector<std::uint64_t> first = first_;
  for (const Filled& filled : filled_) {
    for (const Note& note : filled.notes) {
      if (note.time <= begin_) first[filled.signal] = note.value;
    }
  }
  for (std::uint32_t id = 0; id < signals_.size(); ++id) {
    if (shows(id)) write_value(text, id, first[id]);
  }
  for (const Annotation& a : annotations_) {
    std::uint64_t value = Signal::kNone;
    for (const Note& note : a.notes) {
      if (note.time <= begin_) value = note.value;
    }
    text.add_value(a.form, value);
  }
  text.add("$end\n");
  write_body(text);
  return text.take();
}

void VcdWriter::annotate(const std::string& scope, const std::string& name, std::vector<Note> notes, unsigned bits) {
  const std::string id = id_of(signals_.size() + annotations_.size());
  annotations_.push_back(
      {scope, name, id, SignalForm(id, false, false), std::move(notes), bits == kNames ? codes_.note_bits() : bits});
}

std::string VcdWriter::noted(const std::string& scope, const std::string& name) const {
  for (const Annotation& a : annotations_) {
    if (a.scope == scope && a.name == name) return fmt::format("{}.{}[{}:0]", scope, name, a.bits - 1);
  }
  return {};
}

// The changes with the notes. At one time the changes come first, then annotations, then late signals.
void VcdWriter::write_body(VcdText& out) const {
  struct LateChange {
    std::uint64_t time, value;
    const Annotation* annotation;  // nullptr: the signal
    std::uint32_t signal;
  };
  std::vector<LateChange> late;
  for (const Annotation& a : annotations_) {
    for (const Note& note : a.notes) {
      if (note.time > begin_ && note.time <= end_) late.push_back({note.time, note.value, &a, 0});
    }
  }
  for (const Filled& filled : filled_) {
    for (const Note& note : filled.notes) {
      if (note.time > begin_ && note.time <= end_) late.push_back({note.time, note.value, nullptr, filled.signal});
    }
  }
  std::stable_sort(late.begin(), late.end(), [](const LateChange& a, const LateChange& b) { return a.time < b.time; });

  auto next = late.cbegin();
  std::uint64_t time = begin_;
  const auto go_to = [&](std::uint64_t to) {  // with the notes before it
    for (; next != late.cend() && next->time < to; ++next) {
      if (next->time != time) out.add_time(time = next->time);
      if (next->annotation != nullptr) {
        out.add_value(next->annotation->form, next->value);
      } else {
        write_value(out, next->signal, next->value);
      }
    }
    if (to != time) out.add_time(time = to);
  };
  for (const VcdChange& change : changes_) {
    if (change.time != time) go_to(change.time);
    write_value(out, change.id, change.value);
  }
  if (end_ != time) go_to(end_);
  for (; next != late.cend(); ++next) {
    if (next->annotation != nullptr) {
      out.add_value(next->annotation->form, next->value);
    } else {
      write_value(out, next->signal, next->value);
    }
  }
}

}  // namespace attnvp
