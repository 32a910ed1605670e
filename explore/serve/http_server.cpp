#include "explore/serve/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "platform/machine/error.h"

namespace attnvp::explore {

namespace {

constexpr std::size_t kMostBodyBytes = 64 << 10;
constexpr std::size_t kMostRequestBytes = kMostBodyBytes + (32 << 10);  // with its header
constexpr auto kReadTime = std::chrono::seconds(10);
constexpr auto kWriteTime = std::chrono::seconds(30);
constexpr std::size_t kThreads = 48;
constexpr std::size_t kMostQueued = 64;
constexpr int kBacklog = 256;  // connections that wait in the kernel

thread_local int current_socket = -1;

int milliseconds_until(std::chrono::steady_clock::time_point end) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

// A connection that ends at a deadline, however few bytes at a time its client sends or takes.
class Connection : public httplib::Stream {
 public:
  explicit Connection(int socket) : socket_(socket), read_end_(std::chrono::steady_clock::now() + kReadTime) {}

  bool is_readable() const override { return wait(POLLIN, read_end_); }
  bool is_writable() const override { return wait(POLLOUT, std::chrono::steady_clock::now() + kWriteTime); }
  ssize_t read(char* to, size_t bytes) override {
    if (received_ >= kMostRequestBytes || !is_readable()) return -1;
    const ssize_t n = ::recv(socket_, to, std::min(bytes, kMostRequestBytes - received_), 0);
    if (n > 0) received_ += static_cast<std::size_t>(n);
    return n;
  }
  ssize_t write(const char* from, size_t bytes) override {
    if (write_end_ == std::chrono::steady_clock::time_point())
      write_end_ = std::chrono::steady_clock::now() + kWriteTime;
    if (!wait(POLLOUT, write_end_)) return -1;
    return ::send(socket_, from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return socket_; }

 private:
  bool wait(short events, std::chrono::steady_clock::time_point end) const {
    pollfd wanted{socket_, events, 0};
    int ready = 0;
    do {
      ready = ::poll(&wanted, 1, milliseconds_until(end));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  }

  int socket_;
  std::chrono::steady_clock::time_point read_end_, write_end_;
  std::size_t received_ = 0;
};

// Takes what the client still sends, so that the answer is not lost by a reset of the connection.
void close_gently(int socket) {
  constexpr std::size_t kMostBytes = 1 << 20;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  ::shutdown(socket, SHUT_WR);
  char buffer[4096];
  for (std::size_t taken = 0; taken < kMostBytes && std::chrono::steady_clock::now() < end;) {
    pollfd wanted{socket, POLLIN, 0};
    if (::poll(&wanted, 1, milliseconds_until(end)) <= 0) break;
    const ssize_t n = ::recv(socket, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    taken += static_cast<std::size_t>(n);
  }
  ::close(socket);
}

// Fixed number of threads. A full queue stops the acceptance of connections, which wait in the kernel's backlog.
class BoundedQueue : public httplib::TaskQueue {
 public:
  BoundedQueue() {
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { work(); });
  }
  void enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.size() < kMostQueued || is_ended_; });
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      is_ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !tasks_.empty() || is_ended_; });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      changed_.notify_all();
      task();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool is_ended_ = false;
  std::vector<std::thread> threads_;
};

std::string random_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    throw config::ConfigError("serve: the host gives no random numbers for the token");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

// The time does not depend on the first differing character.
bool is_equal(const std::string& a, const std::string& b) {
  unsigned char different = a.size() != b.size();
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) different |= static_cast<unsigned char>(a[i] ^ b[i]);
  return different == 0;
}

bool is_loopback(const std::string& host) { return host == "127.0.0.1" || host == "localhost" || host == "::1"; }

}  // namespace

HttpServer::HttpServer(const ListenAddress& address) : address_(address), token_(random_token()) {
  set_payload_max_length(kMostBodyBytes);
  set_tcp_nodelay(true);
  new_task_queue = [] { return new BoundedQueue; };  // the base class deletes it
  set_default_headers({{"Cache-Control", "no-store"},
                       {"Referrer-Policy", "no-referrer"},
                       {"X-Content-Type-Options", "nosniff"},
                       {"X-Frame-Options", "DENY"}});
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    return is_refused(request, response) ? HandlerResponse::Handled : HandlerResponse::Unhandled;
  });
  if (address_.port == 0) {
    address_.port = bind_to_any_port(address_.host);
  } else if (!bind_to_port(address_.host, address_.port)) {
    address_.port = -1;
  }
  if (address_.port <= 0) {
    throw config::ConfigError(fmt::format("--port {}: {} cannot be used: {}; allowed is a free port, or 0 for any",
                                          address.port, address.host, std::strerror(errno)));
  }
  ::listen(svr_sock_, kBacklog);  // cpp-httplib's own is 5
}

std::string HttpServer::url() const {
  const bool is_v6 = address_.host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}/?token={}", is_v6 ? "[" + address_.host + "]" : address_.host, address_.port,
                     token_);
}

bool HttpServer::client_has_left() {
  char byte = 0;
  return current_socket >= 0 && ::recv(current_socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool HttpServer::has_token(const httplib::Request& request) const {
  const std::string bearer = "Bearer ", header = request.get_header_value("Authorization");
  if (header.compare(0, bearer.size(), bearer) == 0) return is_equal(header.substr(bearer.size()), token_);
  return request.path == "/" && is_equal(request.get_param_value("token"), token_);
}

bool HttpServer::is_refused(const httplib::Request& request, httplib::Response& response) const {
  const auto refuse = [&](int status, const char* why) {
    response.status = status;
    response.set_content(std::string(why) + "\n", "text/plain");
    return true;
  };
  if (!has_token(request))
    return refuse(403, "the token is wrong or missing; open the address that attnvp serve prints");
  // A page of another site reaches this server under its own name only (DNS rebinding).
  const std::string host = request.get_header_value("Host");
  const bool is_own = host == fmt::format("127.0.0.1:{}", address_.port) ||
                      host == fmt::format("localhost:{}", address_.port) ||
                      host == fmt::format("[::1]:{}", address_.port);
  if (is_loopback(address_.host) && !is_own) return refuse(403, "the header Host names another machine");
  if (request.method == "GET") return false;
  if (request.method != "POST") return refuse(405, "allowed methods are GET and POST");
  if (request.has_header("Transfer-Encoding") || !request.has_header("Content-Length")) {
    return refuse(411, "a body needs the header Content-Length");
  }
  if (request.has_header("Content-Encoding")) return refuse(415, "a body must not be compressed");
  if (request.get_header_value("Content-Type").compare(0, 16, "application/json") != 0) {
    return refuse(415, "a body must be of type application/json");
  }
  const std::string length = request.get_header_value("Content-Length");
  const bool is_number =
      !length.empty() && length.size() < 10 && length.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || std::stoul(length) > kMostBodyBytes) return refuse(413, "a body has at most 65536 bytes");
  return false;
}

bool HttpServer::process_and_close_socket(socket_t socket) {
  Connection connection(socket);
  current_socket = socket;
  bool is_closed = false;
  const bool is_done = process_request(connection, true, is_closed, nullptr);
  current_socket = -1;
  close_gently(socket);
  return is_done;
}

}  // namespace attnvp::explore
