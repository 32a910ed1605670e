#include "platform/run/control/gdb_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "models/control/riscv/hart.h"
#include "platform/base/text.h"
#include "platform/run/platform.h"

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

// Word `i` of register bytes, little-endian.
std::uint32_t word_of(const std::string& bytes, std::uint32_t i) {
  std::uint32_t value = 0;
  if (bytes.size() >= (i + 1) * sizeof value) std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
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
  if (halt_next_) {  // a debugger has connected; it asks for the reason
    halt_next_ = false;
    stopped_ = selected_ = hart;
    reason_ = "T05";
    return converse();
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
  link_.send(stop_reply());
  converse();
}

void GdbServer::converse() {
  const std::size_t hart = stopped_;
  stepping_ = kNobody;
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

// vCont;s:1;c: the first action that matches a thread applies. False: bad packet.
bool GdbServer::resume(const std::string& packet) {
  PacketText text(packet, std::strlen("vCont"));
  std::size_t stepping = kNobody;
  while (text.good() && !text.ended()) {
    text.literal(";");
    const bool step_with_signal = text.next_is("S"), with_signal = step_with_signal || text.next_is("C");
    const bool step = step_with_signal || (!with_signal && text.next_is("s"));
    if (with_signal) text.bytes(1);  // harts accept no signals
    if (!with_signal && !step) text.literal("c");
    std::size_t hart = stopped_;
    if (text.next_is(":") && !text.next_is("-1")) {
      const std::uint32_t thread = text.number();
      if (thread > harts_.size()) return false;
      if (thread > 0) hart = thread - 1;
    }
    if (step && stepping == kNobody) stepping = hart;
  }
  if (!text.ended()) return false;
  stepping_ = stepping;
  return true;
}

// Handles a packet that changes state; the whole packet is parsed before the change.
std::string GdbServer::change(const std::string& p) {
  PacketText text(p, 1);
  if (p[0] == 'G') {
    const std::string bytes = text.bytes_to_end();
    if (!text.good() || bytes.size() != (kPc + 1) * sizeof(std::uint32_t)) return "E01";
    for (std::uint32_t i = 0; i <= kPc; ++i) set_register(i, word_of(bytes, i));
    return "OK";
  }
  if (p[0] == 'P') {
    const std::uint32_t number = text.number();
    text.literal("=");
    const std::string bytes = text.bytes(sizeof(std::uint32_t));
    return text.ended() && set_register(number, word_of(bytes, 0)) ? "OK" : "E01";
  }
  const std::uint32_t address = text.number();  // packet M
  text.literal(",");
  const std::uint32_t size = text.number();
  text.literal(":");
  const std::string bytes = text.bytes(size);
  if (!text.ended()) return "E01";
  return bytes.empty() || write(address, bytes) ? "OK" : "E01";
}

bool GdbServer::answer(const std::string& p) {
  PacketText text(p, 1);
  const auto reply = [this](const std::string& payload) {
    link_.send(payload);
    return true;
  };
  switch (p.empty() ? '\0' : p[0]) {
    case '?':
      return reply(stop_reply());
    case '\x03':
      return true;
    case 'c':
    case 's':
      if (!text.ended()) {  // from that address
        const std::uint32_t pc = text.number();
        if (!text.ended()) return reply("E01");
        hart().set_pc(pc);
      }
      stepping_ = p[0] == 's' ? selected_ : kNobody;
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
      const bool registers = text.next_is("g");
      if (!registers) text.literal("c");
      const std::uint32_t thread = text.next_is("-1") ? 0 : text.number();
      if (!text.ended() || thread > harts_.size()) return reply("E01");
      if (thread > 0 && registers) selected_ = thread - 1;
      return reply("OK");
    }
    case 'T': {
      const std::uint32_t thread = text.number();
      return reply(text.ended() && thread >= 1 && thread <= harts_.size() ? "OK" : "E01");
    }
    case 'g':
      return reply(registers());
    case 'p': {
      const std::uint32_t number = text.number();
      return reply(text.ended() ? register_value(number) : "E01");
    }
    case 'G':
    case 'P':
    case 'M':
      return reply(change(p));
    case 'm': {
      const std::uint32_t address = text.number();
      text.literal(",");
      std::string bytes(std::min(text.number(), kMostBytes), '\0');
      const bool asked = text.ended() && !bytes.empty();
      return reply(asked && read(address, bytes) ? to_hex(bytes.data(), bytes.size()) : "E01");
    }
    case 'Z':
    case 'z':
      return reply(points(p));
    case 'v':
      if (p == "vCont?") return reply("vCont;c;C;s;S");
      if (!starts_with(p, "vCont;")) return reply("");
      return resume(p) ? false : reply("E01");
    default:
      return reply(query(p));
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
  PacketText text(p, 0);
  if (text.next_is("qThreadExtraInfo,")) {
    const std::uint32_t thread = text.number();
    if (!text.ended() || thread < 1 || thread > harts_.size()) return "E01";
    const std::string name = harts_[thread - 1]->name();
    return to_hex(name.data(), name.size());
  }
  if (text.next_is("qXfer:features:read:target.xml:")) {
    const std::size_t offset = text.number();
    text.literal(",");
    const std::size_t bytes = text.number();
    if (!text.ended()) return "E01";
    const std::string xml = target_description();
    if (offset >= xml.size()) return "l";
    return (offset + bytes < xml.size() ? "m" : "l") + xml.substr(offset, bytes);
  }
  if (text.next_is("qRcmd,")) {
    const std::string command = text.bytes_to_end();
    if (!text.good()) return "E01";
    const std::string said = monitor(command);
    return said.empty() ? "OK" : to_hex(said.data(), said.size());
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
  if (riscv::RiscvMemory* memory = hart().memory_at(address, size)) return memory->peek(address, bytes.data(), size);
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
  if (riscv::RiscvMemory* memory = hart().memory_at(address, size)) return memory->poke(address, bytes.data(), size);
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
  if (p.size() < 2) return "E01";
  PacketText text(p, 2);
  text.literal(",");
  const std::uint32_t address = text.number();
  text.literal(",");
  const std::uint32_t bytes = text.number();
  if (!text.ended() || bytes == 0 || bytes > kMostBytes) return "E01";
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
