#include "platform/firmware/gdb_link.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "platform/config/error.h"

namespace attnvp::firmware_watch {

namespace {
constexpr const char* kDigits = "0123456789abcdef";

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
    throw config::ConfigError(fmt::format("--gdb {}: nobody can listen there: {}", port, why));
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
    if (c != '$') continue;  // acknowledgements, and noise
    payload.clear();
    for (c = next(); c >= 0 && c != '#'; c = next()) payload += static_cast<char>(c);
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

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) break;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::uint64_t hex_number(const std::string& text, std::size_t& at) {
  std::uint64_t value = 0;
  for (; at < text.size() && digit(text[at]) >= 0; ++at)
    value = value * 16 + static_cast<std::uint64_t>(digit(text[at]));
  return value;
}

}  // namespace attnvp::firmware_watch
