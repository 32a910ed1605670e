// Body of `attnvp serve`. It is a program of its own, attnvp-serve, because the libraries of a web server would
// lengthen the start of every other command. attnvp replaces itself by that program (launch.cpp), which has the same
// commands and runs the server (server.cpp).
#pragma once

#include <cstdint>
#include <string>

namespace attnvp::cli {

struct ServeArguments {
  std::uint64_t port = 0;
  std::string host = "127.0.0.1";
  std::uint64_t jobs = 0;    // simulator processes; 0: one per processor
  std::uint64_t limit = 60;  // longest simulation of a request, in seconds
  bool no_cache = false;
};

// Returns the exit status. Throws config::ConfigError.
int serve(const ServeArguments& a);

}  // namespace attnvp::cli
