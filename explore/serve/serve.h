// `attnvp serve`: a local web server with one page that runs the platform.
//
// The server (http_server.h) answers requests of the page (serve.cpp) by a pool of simulator processes
// (launcher.h, simulator.h), because a process holds one SystemC simulation at a time and a crash must not end
// the server. A launcher (launcher.h) forks them. Sweeps run in processes of their own (background_sweep.h). A state
// (state.h) is one job; check_access() decides which files it may name.
#pragma once

#include <functional>
#include <string>

#include "explore/serve/simulator.h"

namespace attnvp::explore {

struct ServeOptions {
  std::string host = "127.0.0.1";
  int port = 0;           // 0: a free one
  unsigned jobs = 0;      // simulator processes; 0: one per processor of the host, at least two
  int most_seconds = 60;  // of one simulation
  SimulatorOptions simulator;
  std::function<bool()> is_stopped;                          // polled
  std::function<void(const std::string& url)> is_listening;  // called once
};

// Serves until is_stopped() returns true. Throws config::ConfigError and job::RunError.
void serve(const ServeOptions& options);

}  // namespace attnvp::explore
