#include "platform/firmware/gdb_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "models/riscv/instruction_log.h"
#include "platform/elaboration/platform.h"
#include "platform/text/complaint.h"

namespace attnvp::firmware_watch {

namespace {

constexpr std::uint32_t kPc = 32, kFirstCsr = 33, kMostBytes = 0x2000;

struct CsrName {
  const char* name;
  std::uint32_t number;
};
constexpr CsrName kCsrs[] = {{"mstatus", 0x300},   {"misa", 0x301},   {"mie", 0x304},      {"mtvec", 0x305},
                             {"mscratch", 0x340},  {"mepc", 0x341},   {"mcause", 0x342},   {"mtval", 0x343},
                             {"mip", 0x344},       {"mcycle", 0xB00}, {"minstret", 0xB02}, {"mcycleh", 0xB80},
                             {"minstreth", 0xB82}, {"mhartid", 0xF14}};

std::string target_description() {
  static const char* const kNames[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                       "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                       "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
  std::string xml =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
      "<architecture>riscv:rv32</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">";
  for (std::uint32_t i = 0; i < 32; ++i) {
    xml += fmt::format("<reg name=\"{}\" bitsize=\"32\" type=\"int\" regnum=\"{}\"/>", kNames[i], i);
  }
  xml +=
      "<reg name=\"pc\" bitsize=\"32\" type=\"code_ptr\" regnum=\"32\"/></feature>"
      "<feature name=\"org.gnu.gdb.riscv.csr\">";
  std::uint32_t number = kFirstCsr;
  for (const CsrName& csr : kCsrs) {
    xml += fmt::format("<reg name=\"{}\" bitsize=\"32\" type=\"int\" regnum=\"{}\"/>", csr.name, number++);
  }
  return xml + "</feature></target>";
}

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

}  // namespace

void GdbServer::begin(Platform& platform, const std::vector<RiscvProcessor*>& harts) {
  platform_ = &platform;
  harts_ = harts;
  selected_ = stopped_ = 0;
  fmt::print(stderr, "attnvp: {} on port {}\n", wait_ ? "waits for gdb" : "gdb may connect", link_.port());
  std::fflush(stderr);
  halt_next_ = link_.accept(wait_);
}

void GdbServer::before(std::size_t hart, std::uint32_t pc) {
  if (--until_poll_ == 0) {
    until_poll_ = kPoll;
    if (!link_.connected()) {
      halt_next_ = halt_next_ || link_.accept(false);
    } else if (link_.interrupted()) {
      return halt(hart, "T02");
    }
  }
  if (!link_.connected()) return;
  if (halt_next_) {
    halt_next_ = false;
    return halt(hart, "T05");
  }
  for (Watchpoint& w : watchpoints_) {
    if (w.what == Watches::kReads || !shared(w.address)) continue;
    std::string now(w.bytes, '\0');
    if (!read(w.address, now) || now == w.last) continue;
    w.last = now;
    return halt(hart, fmt::format("T05watch:{:x};", w.address));
  }
  const bool again = resumed_ == hart && resumed_pc_ == pc;
  if (resumed_ == hart) resumed_ = kNobody;
  if (!again && breakpoints_.count(pc) != 0) halt(hart, "T05swbreak:;");
}

void GdbServer::after(std::size_t hart, const riscv::Executed& e) {
  if (!link_.connected()) return;
  if (tracing_) {
    std::fputs(riscv::log_line(static_cast<std::uint32_t>(hart), harts_[hart]->core().hart(), e).c_str(), stderr);
  }
  for (const Watchpoint& w : watchpoints_) {
    if (e.bytes == 0 || e.address >= w.address + w.bytes || w.address >= e.address + e.bytes) continue;
    if (w.what == Watches::kBoth) return halt(hart, fmt::format("T05awatch:{:x};", w.address));
    if (w.what == Watches::kReads && !e.store) return halt(hart, fmt::format("T05rwatch:{:x};", w.address));
    if (w.what == Watches::kWrites && e.store) return halt(hart, fmt::format("T05watch:{:x};", w.address));
  }
  if (stepping_ == hart) {
    stepping_ = kNobody;
    halt(hart, "T05");
  }
}

void GdbServer::end(bool finished, const std::string& why) {
  if (!link_.connected()) return;
  if (finished) return link_.send("W00");
  const std::string text = fmt::format("nothing happens any more: {}\n", why);
  link_.send("O" + to_hex(text.data(), text.size()));
  halt(stopped_, "T06");
  link_.send("W01");
}

std::string GdbServer::stop_reply() const { return fmt::format("{}thread:{:x};", reason_, stopped_ + 1); }

void GdbServer::halt(std::size_t hart, const std::string& reason) {
  stopped_ = selected_ = hart;
  reason_ = reason;
  stepping_ = kNobody;
  link_.send(stop_reply());
  std::string packet;
  while (link_.receive(packet) && answer(packet)) {
  }
  for (Watchpoint& w : watchpoints_) {
    w.last.assign(w.bytes, '\0');
    if (shared(w.address)) read(w.address, w.last);
  }
  resumed_ = hart;
  resumed_pc_ = harts_[hart]->core().hart().pc();
}

void GdbServer::resume(const std::string& packet) {
  // vCont;s:1;c: the first action that fits a thread is the one.
  stepping_ = kNobody;
  const std::size_t step = packet.find(";s");
  if (step == std::string::npos) return;
  stepping_ = stopped_;
  if (step + 2 < packet.size() && packet[step + 2] == ':') {
    std::size_t at = step + 3;
    if (packet[at] != '-') stepping_ = std::min<std::size_t>(hex_number(packet, at) - 1, harts_.size() - 1);
  }
}

bool GdbServer::answer(const std::string& p) {
  std::size_t at = 1;
  switch (p.empty() ? '\0' : p[0]) {
    case '?':
      link_.send(stop_reply());
      return true;
    case '\x03':
      return true;
    case 'c':
      stepping_ = kNobody;
      return false;
    case 's':
      stepping_ = selected_;
      return false;
    case 'D':
      breakpoints_.clear();
      watchpoints_.clear();
      link_.send("OK");
      link_.close();
      return false;
    case 'k':
      text::complain("the debugger has ended the run");
      std::_Exit(1);
    case 'H': {
      at = 2;
      const bool any = p.size() > 2 && p[2] == '-';
      const std::uint64_t thread = any ? 0 : hex_number(p, at);
      if (thread > harts_.size()) {
        link_.send("E01");
        return true;
      }
      if (thread > 0 && p[1] == 'g') selected_ = thread - 1;
      link_.send("OK");
      return true;
    }
    case 'T': {
      const std::uint64_t thread = hex_number(p, at);
      link_.send(thread >= 1 && thread <= harts_.size() ? "OK" : "E01");
      return true;
    }
    case 'g':
      link_.send(registers());
      return true;
    case 'G': {
      const std::string bytes = from_hex(p.substr(1));
      for (std::uint32_t i = 0; i <= kPc && 4 * i + 4 <= bytes.size(); ++i) {
        std::uint32_t value = 0;
        bytes.copy(reinterpret_cast<char*>(&value), 4, 4 * i);
        set_register(i, value);
      }
      link_.send("OK");
      return true;
    }
    case 'p':
      link_.send(register_value(static_cast<std::uint32_t>(hex_number(p, at))));
      return true;
    case 'P': {
      const auto number = static_cast<std::uint32_t>(hex_number(p, at));
      const std::string bytes = from_hex(p.substr(std::min(at + 1, p.size())));
      std::uint32_t value = 0;
      bytes.copy(reinterpret_cast<char*>(&value), 4);
      link_.send(set_register(number, value) ? "OK" : "E01");
      return true;
    }
    case 'm': {
      const auto address = static_cast<std::uint32_t>(hex_number(p, at));
      std::string bytes(std::min<std::uint64_t>(hex_number(p, ++at), kMostBytes), '\0');
      link_.send(read(address, bytes) ? to_hex(bytes.data(), bytes.size()) : "E01");
      return true;
    }
    case 'M': {
      const auto address = static_cast<std::uint32_t>(hex_number(p, at));
      hex_number(p, ++at);
      link_.send(write(address, from_hex(p.substr(std::min(at + 1, p.size())))) ? "OK" : "E01");
      return true;
    }
    case 'Z':
    case 'z':
      link_.send(points(p));
      return true;
    case 'v':
      if (p == "vCont?") {
        link_.send("vCont;c;C;s;S");
      } else if (starts_with(p, "vCont;")) {
        resume(p);
        return false;
      } else {
        link_.send("");
      }
      return true;
    default:
      link_.send(query(p));
      return true;
  }
}

std::string GdbServer::query(const std::string& p) {
  if (starts_with(p, "qSupported")) {
    return "PacketSize=4000;qXfer:features:read+;vContSupported+;swbreak+;hwbreak+;QStartNoAckMode+";
  }
  if (p == "QStartNoAckMode") {
    link_.stop_acknowledging();
    return "OK";
  }
  if (p == "qC") return fmt::format("QC{:x}", selected_ + 1);
  if (p == "qAttached") return "1";
  if (p == "qsThreadInfo") return "l";
  if (p == "qfThreadInfo") {
    std::string all = "m";
    for (std::size_t i = 0; i < harts_.size(); ++i) all += fmt::format("{}{:x}", i > 0 ? "," : "", i + 1);
    return all;
  }
  if (starts_with(p, "qThreadExtraInfo,")) {
    std::size_t at = 17;
    const std::uint64_t thread = hex_number(p, at);
    if (thread < 1 || thread > harts_.size()) return "E01";
    const std::string text = harts_[thread - 1]->name();
    return to_hex(text.data(), text.size());
  }
  const std::string description = "qXfer:features:read:target.xml:";
  if (starts_with(p, description.c_str())) {
    std::size_t at = description.size();
    const std::uint64_t offset = hex_number(p, at), bytes = hex_number(p, ++at);
    const std::string xml = target_description();
    if (offset >= xml.size()) return "l";
    return (offset + bytes < xml.size() ? "m" : "l") + xml.substr(offset, bytes);
  }
  if (starts_with(p, "qRcmd,")) {
    const std::string text = monitor(from_hex(p.substr(6)));
    return text.empty() ? "OK" : to_hex(text.data(), text.size());
  }
  return "";
}

std::string GdbServer::monitor(const std::string& command) {
  if (command == "cycle") return monitor_cycles(*platform_, harts_);
  if (command == "queues") return monitor_queues(*platform_);
  if (command == "engines" || command == "descriptor") return monitor_engines(*platform_);
  if (command == "events") return monitor_events(*platform_);
  if (command == "trace on" || command == "trace off") {
    tracing_ = command == "trace on";
    return {};
  }
  if (command == "reset") {
    for (RiscvProcessor* h : harts_) h->core().hart().set_pc(h->program()->entry());
    return "every hart goes on at its program's entry; engines and events stay as they are\n";
  }
  return "monitor cycle | queues | engines | descriptor | events | trace on | trace off | reset\n";
}

std::string GdbServer::register_value(std::uint32_t number) {
  std::uint32_t value = 0;
  if (number < kPc) {
    value = hart().reg(number);
  } else if (number == kPc) {
    value = hart().pc();
  } else if (number - kFirstCsr < std::size(kCsrs)) {
    hart().csrs().read(kCsrs[number - kFirstCsr].number, hart().now(), value);
  } else {
    return "E01";
  }
  return to_hex(&value, sizeof value);
}

std::string GdbServer::registers() {
  std::string all;
  for (std::uint32_t i = 0; i <= kPc; ++i) all += register_value(i);
  return all;
}

bool GdbServer::set_register(std::uint32_t number, std::uint32_t value) {
  if (number < kPc) {
    hart().set_reg(number, value);
  } else if (number == kPc) {
    hart().set_pc(value);
  } else {
    return number - kFirstCsr < std::size(kCsrs) &&
           hart().csrs().write(kCsrs[number - kFirstCsr].number, value, hart().now());
  }
  return true;
}

bool GdbServer::shared(std::uint32_t address) const {
  return harts_[selected_]->core().hart().memory_at(address, 1) == nullptr;
}

bool GdbServer::read(std::uint32_t address, std::string& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  if (riscv::Memory* memory = hart().memory_at(address, size)) return memory->peek(address, bytes.data(), size);
  std::uint64_t far = 0;
  if (!harts_[selected_]->core().translate(address, far)) return false;
  try {
    platform_->read(far, bytes.data(), bytes.size());
  } catch (const std::out_of_range&) {
    return false;
  }
  return true;
}

bool GdbServer::write(std::uint32_t address, const std::string& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  if (riscv::Memory* memory = hart().memory_at(address, size)) return memory->poke(address, bytes.data(), size);
  std::uint64_t far = 0;
  if (!harts_[selected_]->core().translate(address, far)) return false;
  try {
    platform_->write(far, bytes.data(), bytes.size());
  } catch (const std::out_of_range&) {
    return false;
  }
  return true;
}

std::string GdbServer::points(const std::string& p) {
  if (p.size() < 4) return "E01";
  std::size_t at = 3;
  const auto address = static_cast<std::uint32_t>(hex_number(p, at));
  const auto bytes = static_cast<std::uint32_t>(hex_number(p, ++at));
  const bool set = p[0] == 'Z';
  if (p[1] == '0' || p[1] == '1') {
    if (set) {
      breakpoints_.insert(address);
    } else {
      breakpoints_.erase(address);
    }
    return "OK";
  }
  if (p[1] < '2' || p[1] > '4') return "";
  const auto what = static_cast<Watches>(p[1]);
  if (set) {
    watchpoints_.push_back({what, address, bytes, {}});
  } else {
    watchpoints_.erase(std::remove_if(watchpoints_.begin(), watchpoints_.end(),
                                      [&](const Watchpoint& w) { return w.what == what && w.address == address; }),
                       watchpoints_.end());
  }
  return "OK";
}

}  // namespace attnvp::firmware_watch
