// HTTP server of the page, on cpp-httplib, with limits of its own: one request per connection, a deadline for reading
// and writing it, a limit of its size, a fixed number of threads, and a token that every request carries.
#pragma once

#include <httplib.h>

#include <string>

namespace attnvp::explore {

class HttpServer : public httplib::Server {
 public:
  struct ListenAddress {
    std::string host = "127.0.0.1";
    int port = 0;  // 0: a free one
  };
  // Binds the address. Throws config::ConfigError if that is impossible.
  explicit HttpServer(const ListenAddress& address);

  const std::string& token() const { return token_; }
  std::string url() const;  // with the token

  // Serves until stop() of the base class is called.
  void serve() { listen_after_bind(); }

  // Whether the client of the current thread's request has closed its connection.
  static bool client_has_left();

 private:
  bool process_and_close_socket(socket_t socket) override;
  bool is_refused(const httplib::Request& request, httplib::Response& response) const;
  bool has_token(const httplib::Request& request) const;

  ListenAddress address_;
  std::string token_;
};

}  // namespace attnvp::explore
