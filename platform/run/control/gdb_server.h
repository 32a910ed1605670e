// Observers of running firmware: the watch of its instructions (profile, log), and the GDB remote serial protocol stub
// for the harts of a machine. Harts are threads; hart 0 is thread 1. Simulated time and all harts stop while a hart is
// halted: the stub answers from within the halted instruction.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/control/riscv/profile.h"
#include "models/control/riscv_processor/riscv_processor.h"

namespace attnvp {
class Platform;
}

// Observers of RISC-V control processors during a run: profile, instruction log, debugger. Observation does not change
// results.
namespace attnvp::firmware_watch {

// Debugger interface, called before and after every instruction; it may halt harts.
class Debugger {
 public:
  virtual ~Debugger() = default;
  virtual void begin(Platform& platform, const std::vector<RiscvProcessor*>& harts) = 0;
  // Both return when the hart may continue.
  virtual void before(std::size_t hart, std::uint32_t pc) = 0;
  virtual void after(std::size_t hart, const riscv::Executed& e) = 0;
  // Called when the job has finished or is in a deadlock.
  virtual void end(bool finished, const std::string& why) = 0;
};

struct WatchRequest {
  bool profile = false;
  bool log = false;
  std::uint64_t from_cycle = 0, to_cycle = UINT64_MAX;  // of the log, in cycles of the platform
  Debugger* debugger = nullptr;
};

class Watch {
 public:
  explicit Watch(const WatchRequest& request);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Starts observing. Throws config::ConfigError if the machine has no RISC-V control processors.
  void begin(Platform& platform);
  void stuck(const std::vector<std::string>& waiting);  // call before end() if harts have not finished
  void end();

  std::string folded() const;
  std::string page(const std::string& title) const;
  const std::string& log() const { return log_; }

 private:
  class WatchObserver;
  WatchRequest request_;
  std::vector<std::unique_ptr<WatchObserver>> observers_;
  std::vector<std::unique_ptr<riscv::Profile>> profiles_;
  std::vector<RiscvProcessor*> harts_;
  std::vector<std::shared_ptr<const riscv::ElfFile>> programs_;  // referenced by the profiles
  std::string log_;
};

// Connection to gdb: one TCP connection on the loopback interface, packets of the GDB remote serial protocol.

class GdbLink {
 public:
  // Listens on a port; 0 selects a free one. Throws config::ConfigError on failure.
  explicit GdbLink(std::uint32_t port);
  ~GdbLink();
  GdbLink(const GdbLink&) = delete;
  GdbLink& operator=(const GdbLink&) = delete;

  std::uint32_t port() const { return port_; }
  bool connected() const { return peer_ >= 0; }
  bool accept(bool wait);  // accepts a connection if there is none; returns connected()
  void close();

  void send(const std::string& payload);
  // Receives the next packet; an interrupt (Ctrl-C) is "\x03". False: connection closed.
  bool receive(std::string& payload);
  bool interrupted();  // true after Ctrl-C or a closed connection
  void stop_acknowledging() { acknowledges_ = false; }

 private:
  int next();  // next byte, or -1
  int listener_ = -1, peer_ = -1;
  std::uint32_t port_ = 0;
  bool acknowledges_ = true;
};

std::string to_hex(const void* data, std::size_t bytes);

// Parser of a packet's text, from left to right. After an error good() stays false.
class PacketText {
 public:
  PacketText(const std::string& text, std::size_t at) : text_(text), at_(at) {}

  bool good() const { return good_; }
  bool ended() const { return good_ && at_ >= text_.size(); }
  bool next_is(const char* literal);     // consumes the literal if it is next
  void literal(const char* literal);     // fails unless the literal is next
  std::uint32_t number();                // one to eight digits in hexadecimal
  std::string bytes(std::size_t count);  // two hexadecimal digits each
  std::string bytes_to_end();

 private:
  const std::string& text_;
  std::size_t at_;
  bool good_ = true;
};

class GdbServer final : public Debugger {
 public:
  // `wait`: harts start only after gdb has connected.
  GdbServer(std::uint32_t port, bool wait) : link_(port), wait_(wait) {}

  void begin(Platform& platform, const std::vector<RiscvProcessor*>& harts) override;
  void before(std::size_t hart, std::uint32_t pc) override;
  void after(std::size_t hart, const riscv::Executed& e) override;
  void end(bool finished, const std::string& why) override;
  std::uint32_t port() const { return link_.port(); }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};
  static constexpr std::uint32_t kPoll = 4096;  // instructions between checks of the connection
  enum class Watches : char { kWrites = '2', kReads = '3', kBoth = '4' };
  struct Watchpoint {
    Watches what;
    std::uint32_t address, bytes;
    std::string last;  // last value, to detect writes by other initiators
  };

  // Reports the stop reason to gdb and processes packets until it resumes the harts.
  void halt(std::size_t hart, const std::string& reason);
  void converse();                         // until gdb resumes the harts
  bool answer(const std::string& packet);  // false: resume
  bool resume(const std::string& packet);  // vCont
  std::string change(const std::string& packet);
  std::string query(const std::string& packet);
  std::string monitor(const std::string& command);
  std::string registers();
  std::string register_value(std::uint32_t number);
  bool set_register(std::uint32_t number, std::uint32_t value);
  bool read(std::uint32_t address, std::string& bytes);
  bool write(std::uint32_t address, const std::string& bytes);
  std::string points(const std::string& packet);
  bool shared(std::uint32_t address) const;  // outside the hart's own memory
  std::string stop_reply() const;
  riscv::Hart& hart() { return harts_[selected_]->core().hart(); }

  GdbLink link_;
  bool wait_;
  Platform* platform_ = nullptr;
  std::vector<RiscvProcessor*> harts_;
  std::set<std::uint32_t> breakpoints_;
  std::vector<Watchpoint> watchpoints_;
  std::size_t selected_ = 0, stopped_ = 0;
  std::string reason_;  // stop reason, as in a stop reply
  std::size_t stepping_ = kNobody;
  std::size_t resumed_ = kNobody;  // resumes from a breakpoint at which it has stopped
  std::uint32_t resumed_pc_ = 0;
  bool halt_next_ = false;
  std::uint32_t until_poll_ = kPoll;
  bool tracing_ = false;
};

// Output of `monitor` commands (gdb_link.cpp).
std::string monitor_cycles(Platform& platform, const std::vector<RiscvProcessor*>& harts);
std::string monitor_queues(Platform& platform);
std::string monitor_engines(Platform& platform);
std::string monitor_events(Platform& platform);

}  // namespace attnvp::firmware_watch
