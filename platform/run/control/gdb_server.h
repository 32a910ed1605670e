// GDB remote serial protocol stub for the harts of a machine. Harts are threads; hart 0 is thread 1. Simulated time and
// all harts stop while a hart is halted: the stub answers from within the halted instruction.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "platform/run/control/firmware_watch.h"
#include "platform/run/control/gdb_link.h"

namespace attnvp::firmware_watch {

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

// Output of `monitor` commands (gdb_monitor.cpp).
std::string monitor_cycles(Platform& platform, const std::vector<RiscvProcessor*>& harts);
std::string monitor_queues(Platform& platform);
std::string monitor_engines(Platform& platform);
std::string monitor_events(Platform& platform);

}  // namespace attnvp::firmware_watch
