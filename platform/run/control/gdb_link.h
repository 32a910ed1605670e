// Connection to gdb: one TCP connection on the loopback interface, packets of the GDB remote serial protocol.
#pragma once

#include <cstdint>
#include <string>

namespace attnvp::firmware_watch {

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

}  // namespace attnvp::firmware_watch
