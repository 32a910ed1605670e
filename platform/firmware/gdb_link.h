// The wire to gdb: one TCP connection on the loopback interface, packets of the remote serial protocol.
#pragma once

#include <cstdint>
#include <string>

namespace attnvp::firmware_watch {

class GdbLink {
 public:
  // Listens; 0 takes a free port. Throws config::ConfigError where it cannot.
  explicit GdbLink(std::uint32_t port);
  ~GdbLink();
  GdbLink(const GdbLink&) = delete;
  GdbLink& operator=(const GdbLink&) = delete;

  std::uint32_t port() const { return port_; }
  bool connected() const { return peer_ >= 0; }
  bool accept(bool wait);  // whether there is a connection, or a new one
  void close();

  void send(const std::string& payload);
  // The next packet; false where the connection is gone. An interrupt (Ctrl-C) comes as "\x03".
  bool receive(std::string& payload);
  bool interrupted();  // Ctrl-C has come, or the peer has gone
  void stop_acknowledging() { acknowledges_ = false; }

 private:
  int next();  // byte, or -1
  int listener_ = -1, peer_ = -1;
  std::uint32_t port_ = 0;
  bool acknowledges_ = true;
};

std::string to_hex(const void* data, std::size_t bytes);

// A packet's text from left to right. What is not as it must be makes it bad, and stays so.
class PacketText {
 public:
  PacketText(const std::string& text, std::size_t at) : text_(text), at_(at) {}

  bool good() const { return good_; }
  bool ended() const { return good_ && at_ >= text_.size(); }
  bool next_is(const char* literal);     // moves behind it where it is next
  void literal(const char* literal);     // must be next
  std::uint32_t number();                // one to eight digits in hexadecimal
  std::string bytes(std::size_t count);  // two digits each
  std::string bytes_to_end();

 private:
  const std::string& text_;
  std::size_t at_;
  bool good_ = true;
};

}  // namespace attnvp::firmware_watch
