// Signals for waveforms. A module declares them as members and assigns values. Without a sink a signal costs one
// branch.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace attnvp {

class CounterOwner;

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void change(std::uint32_t id, std::uint64_t value) = 0;
  // Value from `time_fs` on, which is not before now or Module::tells_from(). A later call for the same time replaces
  // it.
  virtual void change_at(std::uint64_t time_fs, std::uint32_t id, std::uint64_t value) = 0;
};

class Signal {
 public:
  enum class SignalKind : std::uint8_t { kBits, kEnum, kReal };
  static constexpr std::uint64_t kNone = UINT64_MAX;  // no value: shown as high impedance

  Signal(CounterOwner& owner, std::string name, unsigned bits);
  // Enumeration, shown by name; `names` ends with nullptr.
  Signal(CounterOwner& owner, std::string name, const char* const* names);
  // Real number; `unit` is for display.
  struct Real {
    const char* unit;
  };
  Signal(CounterOwner& owner, std::string name, Real real);
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void set(std::uint64_t value) {
    if (value == value_) return;
    value_ = value;
    if (sink_ != nullptr) sink_->change(id_, value);
  }
  void set_none() { set(kNone); }
  void set_real(double value) { set(bits_of(value)); }
  void set_real_at(std::uint64_t time_fs, double value) { set_at(time_fs, bits_of(value)); }
  void set_at(std::uint64_t time_fs, std::uint64_t value) {
    if (sink_ != nullptr) sink_->change_at(time_fs, id_, value);
  }

  // Shown only if it ever changes.
  Signal& sparse() {
    sparse_ = true;
    return *this;
  }
  void attach(TraceSink* sink, std::uint32_t id) {
    sink_ = sink;
    id_ = id;
  }
  bool on() const { return sink_ != nullptr; }  // for values that are expensive to compute
  std::uint64_t value() const { return value_; }
  const std::string& name() const { return name_; }
  SignalKind kind() const { return kind_; }
  unsigned bits() const { return bits_; }
  const char* const* names() const { return names_; }
  const char* unit() const { return unit_; }
  bool is_sparse() const { return sparse_; }

  static std::uint64_t bits_of(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  static double real_of(std::uint64_t bits) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

 private:
  Signal(CounterOwner& owner, std::string name, SignalKind kind, unsigned bits, const char* const* names,
         const char* unit);

  // The members that set() uses come first.
  std::uint64_t value_ = 0;
  TraceSink* sink_ = nullptr;
  std::uint32_t id_ = 0;
  bool sparse_ = false;
  SignalKind kind_;
  unsigned bits_;
  const char* const* names_;
  const char* unit_;
  std::string name_;
};

}  // namespace attnvp
