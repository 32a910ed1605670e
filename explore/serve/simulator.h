// Simulator of the server's worker processes: answers requests of the page about states. An answer with `is_tuned` is
// that of `attnvp run` and is the same in every process. A quick answer is tuned if an earlier request has tuned the
// state.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "explore/serve/state.h"
#include "explore/tuning/tuner.h"
#include "models/sim/stall_attribution.h"
#include "models/sim/trace/command_trace.h"
#include "platform/run/job.h"

namespace attnvp::explore {

// A loaded state.
struct LoadedState : Problem {                     // parameters are open where the state has no tiling
  explicit LoadedState(const ServerState& state);  // throws config::ConfigError
};

struct SimulatorOptions {
  bool use_cache = true;  // of tile sizes, explore/tuning/cache.h
  // Supplied by the command line, which owns them.
  std::function<std::string(const MachineConfig& machine)> floorplan_svg;
  // Runs the job and writes a waveform; returns the files, the waveform first, then GTKWave's view.
  std::function<std::vector<std::string>(const LoadedState& job, const std::string& path)> write_waveform;
};

class Simulator {
 public:
  explicit Simulator(SimulatorOptions options) : options_(std::move(options)) {}

  // Request: {"do": NAME, "state": {...}, ...}; the names are in simulator.cpp. Answer: {"ok": ...}, or {"error":
  // SENTENCE, "status": of HTTP}. Never throws.
  std::string answer(const std::string& request);

 private:
  using Json = nlohmann::ordered_json;
  struct Traced;
  Json handle(const Json& request);
  Json quick(const ServerState& state, const Json& request);
  Json tuned(const ServerState& state, const Json& request);
  Json advice(const ServerState& state);
  Json explain(const ServerState& state, const Json& request);
  Json waveform(const ServerState& state, const Json& request);
  Json documents(const Json& request);
  Json layers(const ServerState& state);

  TuningOptions tuning() const;
  job::Schedule completed(const ServerState& state, const LoadedState& job);
  std::optional<job::Schedule> known_schedule(const ServerState& state, const LoadedState& job) const;
  Traced traced(const LoadedState& job, const job::Schedule& schedule, std::uint64_t most_commands) const;
  Json page_of(const ServerState& state, const LoadedState& job, const Traced& run, const Json& request) const;

  const SimulatorOptions options_;
  std::map<std::string, job::Schedule> completed_;  // by the state's query
};

// Gantt chart of one head for the page: commands and waits of the time in which the head is computed.

// {head, heads, cycles, window: [from, to], tracks, operations, causes, slices: [track, from, to, operation, head, row
// block, command], waits: [track, from, to, cause, command]}. `head` counts heads of all batches; a head that is not in
// the trace selects the middle one. If there are too many commands, only those of the head are listed, and then only
// the first ones.
nlohmann::ordered_json gantt_json(const CommandTrace& trace, const SignallingDescriptors& signallers, std::int64_t head,
                                  std::uint64_t cycles);

}  // namespace attnvp::explore
