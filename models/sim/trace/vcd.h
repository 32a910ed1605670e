// VCD writer: one scope per module. Enumerations are written as numbers; a name has the same number in the whole file.
// `names()` is the GTKWave translate filter for these names. The header has no date, so that equal runs give equal
// bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/sim/trace/recorder.h"

namespace attnvp {

// Numbers of the enumeration names of a platform, independent of the traced modules.
class EnumCodes {
 public:
  explicit EnumCodes(sc_core::sc_object& root);
  std::uint64_t code(const Signal& signal, std::uint64_t value) const;
  const std::vector<std::string>& names() const { return names_; }  // by code
  unsigned bits() const { return bits_; }
  // Adds names for notes (VcdWriter); the modules' names keep their numbers and width.
  void add(const std::vector<std::string>& names) { names_.insert(names_.end(), names.begin(), names.end()); }
  std::uint64_t code(const std::string& name) const;
  unsigned note_bits() const;

 private:
  std::vector<std::string> names_;
  unsigned bits_ = 1;
};

class VcdWriter : public TraceListener {
 public:
  VcdWriter(const Recorder& recorder, const EnumCodes& codes);

  void begin(std::uint64_t time, const std::vector<std::uint64_t>& values) override;
  void change(std::uint64_t time, std::uint32_t id, std::uint64_t value) override;
  void end(std::uint64_t time) override { end_ = time; }

  std::string text() const;  // the whole file, after the recorder has finished
  // Adds a signal to a scope after the recorder has finished, by its values in order of time (Signal::kNone: no value).
  // Before the first one it has no value. Values have `bits` bits, or are codes of names.
  struct Note {
    std::uint64_t time, value;
  };
  static constexpr unsigned kNames = 0;
  void annotate(const std::string& scope, const std::string& name, std::vector<Note> notes, unsigned bits = kNames);
  // Values of a late signal (Recorder::add_late), in order of time; 0 before the first one.
  void fill_in(std::uint32_t id, std::vector<Note> notes) { filled_.push_back({id, std::move(notes)}); }
  std::string noted(const std::string& scope, const std::string& name) const;  // as named by GTKWave; empty: none
  std::uint64_t first_time() const { return begin_; }
  std::uint64_t last_time() const { return end_; }
  // True if the file has the signal: sparse signals that never changed are omitted.
  bool shows(std::uint32_t id) const { return !signals_[id].signal->is_sparse() || used_[id] != 0; }
  Signal::SignalKind kind(std::uint32_t id) const { return signals_[id].signal->kind(); }
  // GTKWave's name: "attnvp.cluster0.core0.mac.head[15:0]".
  std::string reference(std::uint32_t id) const;

 private:
  class VcdText;
  // How values of a signal are written: `tail` follows the value.
  struct SignalForm {
    SignalForm(const std::string& id, bool real, bool bit);
    bool is_real, is_bit;
    std::uint8_t tail_size;
    std::array<char, 13> tail{};
  };
  void write_value(VcdText& out, std::uint32_t id, std::uint64_t value) const;
  void write_body(VcdText& out) const;
  unsigned bits(std::uint32_t id) const;
  std::string range(std::uint32_t id) const;          // "[15:0]"; empty: a single bit or a real
  std::string declared_name(std::uint32_t id) const;  // as declared in $var

  struct Annotation {
    std::string scope, name, id;
    SignalForm form;
    std::vector<Note> notes;
    unsigned bits;
  };
  struct Filled {
    std::uint32_t signal;
    std::vector<Note> notes;
  };
  struct VcdChange {
    std::uint64_t time, value;
    std::uint32_t id;
  };

  const std::vector<TracedSignal>& signals_;
  const EnumCodes& codes_;
  std::vector<Annotation> annotations_;
  std::vector<Filled> filled_;
  std::vector<SignalForm> forms_;                       // by signal
  std::vector<std::vector<std::uint64_t>> enum_codes_;  // by signal and value
  std::vector<std::string> ids_;
  std::vector<std::uint8_t> used_;  // by signal: it changed
  std::vector<std::uint64_t> first_;
  std::uint64_t begin_ = 0, end_ = 0;
  std::vector<VcdChange> changes_;
};

}  // namespace attnvp
