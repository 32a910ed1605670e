#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/machine/error.h"
#include "platform/run/control/gdb_server.h"
#include "platform/run/platform.h"

namespace attnvp::firmware_watch {

namespace {
constexpr const char* kDigits = "0123456789abcdef";
constexpr std::size_t kMostPacketBytes = 0x10000;  // four times what qSupported offers

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::uint8_t sum_of(const std::string& text) {
  std::uint8_t sum = 0;
  for (const char c : text) sum = static_cast<std::uint8_t>(sum + static_cast<unsigned char>(c));
  return sum;
}
}  // namespace

GdbLink::GdbLink(std::uint32_t port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool ok = listener_ >= 0 && setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                  bind(listener_, generic, size) == 0 && listen(listener_, 1) == 0 &&
                  getsockname(listener_, generic, &size) == 0;
  if (!ok) {
    const std::string why = std::strerror(errno);
    if (listener_ >= 0) ::close(listener_);
    throw config::ConfigError(fmt::format("--gdb {}: the port cannot be opened: {}", port, why));
  }
  port_ = ntohs(address.sin_port);
}

GdbLink::~GdbLink() {
  close();
  ::close(listener_);
}

void GdbLink::close() {
  if (peer_ >= 0) ::close(peer_);
  peer_ = -1;
  acknowledges_ = true;
}

bool GdbLink::accept(bool wait) {
  if (connected()) return true;
  pollfd ready{listener_, POLLIN, 0};
  while (poll(&ready, 1, wait ? -1 : 0) < 0 && errno == EINTR) {
  }
  if ((ready.revents & POLLIN) == 0) return false;
  peer_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  const int on = 1;
  if (connected()) setsockopt(peer_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return connected();
}

int GdbLink::next() {
  unsigned char c = 0;
  ssize_t n = 0;
  do {
    n = recv(peer_, &c, 1, 0);
  } while (n < 0 && errno == EINTR);
  return n == 1 ? c : -1;
}

void GdbLink::send(const std::string& payload) {
  if (!connected()) return;
  const std::string packet = fmt::format("${}#{:02x}", payload, sum_of(payload));
  for (std::size_t done = 0; done < packet.size();) {
    const ssize_t n = ::send(peer_, packet.data() + done, packet.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return close();
    done += static_cast<std::size_t>(n);
  }
}

bool GdbLink::receive(std::string& payload) {
  while (connected()) {
    int c = next();
    if (c == 3) {
      payload = "\x03";
      return true;
    }
    if (c < 0) break;
    if (c != '$') continue;  // acknowledgements and noise
    payload.clear();
    for (c = next(); c >= 0 && c != '#' && payload.size() < kMostPacketBytes; c = next()) {
      payload += static_cast<char>(c);
    }
    if (c != '#') break;
    const int high = next(), low = next();
    if (low < 0) break;
    const int sum = digit(static_cast<char>(high)) * 16 + digit(static_cast<char>(low));
    if (!acknowledges_) return true;
    const bool good = sum == sum_of(payload);
    if (::send(peer_, good ? "+" : "-", 1, MSG_NOSIGNAL) != 1) break;
    if (good) return true;
  }
  close();
  return false;
}

bool GdbLink::interrupted() {
  if (!connected()) return false;
  pollfd ready{peer_, POLLIN, 0};
  if (poll(&ready, 1, 0) <= 0) return false;
  char c = 0;
  if (recv(peer_, &c, 1, MSG_PEEK) <= 0) {
    close();
    return true;
  }
  if (c == '+' || c == '-') {
    next();
    return false;
  }
  if (c == 3) next();
  return true;
}

std::string to_hex(const void* data, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    const unsigned char c = static_cast<const unsigned char*>(data)[i];
    text += kDigits[c >> 4];
    text += kDigits[c & 15];
  }
  return text;
}

bool PacketText::next_is(const char* literal) {
  const std::size_t size = std::strlen(literal);
  if (!good_ || text_.compare(std::min(at_, text_.size()), size, literal) != 0) return false;
  at_ += size;
  return true;
}

void PacketText::literal(const char* literal) { good_ = next_is(literal); }

std::uint32_t PacketText::number() {
  constexpr std::size_t kMostDigits = 8;
  std::uint32_t value = 0;
  const std::size_t start = at_;
  for (; at_ < text_.size() && digit(text_[at_]) >= 0; ++at_) {
    value = value * 16 + static_cast<std::uint32_t>(digit(text_[at_]));
  }
  good_ = good_ && at_ > start && at_ - start <= kMostDigits;
  return value;
}

std::string PacketText::bytes(std::size_t count) {
  std::string all;
  good_ = good_ && at_ <= text_.size() && (text_.size() - at_) / 2 >= count;
  for (; good_ && all.size() < count; at_ += 2) {
    const int high = digit(text_[at_]), low = digit(text_[at_ + 1]);
    good_ = high >= 0 && low >= 0;
    all += static_cast<char>(high * 16 + low);
  }
  return all;
}

std::string PacketText::bytes_to_end() {
  std::string all = bytes((text_.size() - std::min(at_, text_.size())) / 2);
  good_ = ended();
  return all;
}

// Output of gdb's `monitor` commands: module signals, event tokens, waiting modules.

namespace {

std::string value_of(const Signal& s) {
  if (s.value() == Signal::kNone) return "-";
  if (s.kind() == Signal::SignalKind::kReal) return fmt::format("{}", Signal::real_of(s.value()));
  if (s.kind() == Signal::SignalKind::kEnum) {
    for (std::uint64_t i = 0; s.names()[i] != nullptr; ++i) {
      if (i == s.value()) return s.names()[i];
    }
  }
  return s.bits() > 32 ? fmt::format("{:#x}", s.value()) : fmt::format("{}", s.value());
}

template <class Wanted>
std::string signals(Platform& platform, Wanted wanted) {
  std::string text;
  for_each_module(platform, [&](Module& module) {
    std::string line;
    for (const Signal* s : module.signals()) {
      if (wanted(module, *s)) line += fmt::format(" {}={}", s->name(), value_of(*s));
    }
    if (!line.empty()) text += fmt::format("{}:{}\n", module.name(), line);
  });
  return text.empty() ? "nothing\n" : text;
}

}  // namespace

std::string monitor_cycles(Platform& platform, const std::vector<RiscvProcessor*>& harts) {
  std::string text = fmt::format("platform: cycle {}\n", platform.context().clock.now());
  for (std::size_t i = 0; i < harts.size(); ++i) {
    riscv::Hart& hart = harts[i]->core().hart();
    text += fmt::format("hart {}: cycle {} of its clock (cycle {} of the platform's), {} instructions\n", i,
                        hart.cycle(), harts[i]->platform_cycle(hart.cycle()), hart.retired());
  }
  return text;
}

std::string monitor_queues(Platform& platform) {
  return signals(platform, [](const Module& /*module*/, const Signal& s) {
    return s.name().find("level") != std::string::npos || s.name().find("queue") != std::string::npos;
  });
}

std::string monitor_engines(Platform& platform) {
  return signals(platform, [](const Module& module, const Signal& /*s*/) {
    const std::string name = module.name();
    return name.find(".mac") != std::string::npos || name.find(".vec") != std::string::npos ||
           name.find(".dma") != std::string::npos;
  });
}

std::string monitor_events(Platform& platform) {
  std::string text;
  for (std::size_t c = 0; c < platform.clusters.size(); ++c) {
    const EventUnit& events = *platform.clusters[c]->events;
    for (std::uint32_t e = 0; e < platform.machine().events.events; ++e) {
      if (events.tokens(e) > 0) text += fmt::format("cluster {} event {}: {} tokens\n", c, e, events.tokens(e));
    }
  }
  for (const std::string& clause : platform.waiting()) text += clause + "\n";
  return text.empty() ? "no tokens, and nobody waits\n" : text;
}

}  // namespace attnvp::firmware_watch
