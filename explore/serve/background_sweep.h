// Sweeps that run while the page is open, each in a process of its own (explore/sweep). Their results are databases in
// the working folder, equal to those of `attnvp sweep` for the same file. A paused sweep is resumed from its database.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "explore/serve/launcher.h"
#include "explore/serve/state.h"

namespace attnvp::explore {

// Axes of a sweep around a state: a key of the machine, `dataflow` or `network`, with its values.
struct SweepRequest {
  std::string name;  // of the files NAME.yaml and NAME.db
  ServerState state;
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
};
SweepRequest sweep_request_of(const nlohmann::ordered_json& json);  // checks the names
std::string to_yaml(const SweepRequest& request);                   // of a sweep file

class BackgroundSweeps {
 public:
  BackgroundSweeps(Launcher& launcher, unsigned jobs) : launcher_(launcher), jobs_(jobs) {}
  ~BackgroundSweeps();
  BackgroundSweeps(const BackgroundSweeps&) = delete;
  BackgroundSweeps& operator=(const BackgroundSweeps&) = delete;

  // Writes the sweep file and starts its process. Throws config::ConfigError: too many sweeps, or a name in use.
  nlohmann::ordered_json start(const SweepRequest& request);
  void pause(const std::string& name);
  void resume(const std::string& name);
  // {name, is_running, jobs, done, failed, error, command, axes, rows, front}: each row has its axes' values, cycles,
  // seconds, energy, area and power. `goals`: of these numbers, least is best.
  nlohmann::ordered_json status(const std::string& name, const std::vector<std::string>& goals);
  nlohmann::ordered_json names();

  // Body of a sweep's process.
  static void run(int socket);

 private:
  struct Sweep {
    SweepRequest request;
    Launcher::Child child;
    std::string text;  // latest progress, as JSON
    bool is_running = false;
  };
  Sweep& find(const std::string& name);
  void launch(Sweep& sweep);
  void read_progress(Sweep& sweep);
  void end(Sweep& sweep);

  Launcher& launcher_;
  const unsigned jobs_;
  std::mutex mutex_;
  std::map<std::string, Sweep> sweeps_;
};

}  // namespace attnvp::explore
