// Values worth seeing in a waveform. A module declares them as members and assigns to them; nothing is recorded
// and nothing but one branch is paid until a sink is attached.
#pragma once

#include <cstdint>

namespace attnvp {

class CounterOwner;

// Where changes go: the VCD writer, later others.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void change(std::uint32_t id, std::uint64_t value) = 0;
};

class Signal {
 public:
  // `names` (nullptr or a nullptr-terminated list) makes the signal an enumeration shown by name.
  Signal(CounterOwner& owner, const char* name, unsigned bits, const char* const* names = nullptr);
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void set(std::uint64_t value) {
    if (value == value_) return;
    value_ = value;
    if (sink_ != nullptr) sink_->change(id_, value);
  }
  void attach(TraceSink* sink, std::uint32_t id) {
    sink_ = sink;
    id_ = id;
  }
  std::uint64_t value() const { return value_; }
  const char* name() const { return name_; }
  unsigned bits() const { return bits_; }
  const char* const* names() const { return names_; }

 private:
  const char* name_;
  unsigned bits_;
  const char* const* names_;
  std::uint64_t value_ = 0;
  TraceSink* sink_ = nullptr;
  std::uint32_t id_ = 0;
};

}  // namespace attnvp
