#include "explore/serve/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "explore/analysis/advice.h"
#include "explore/layers/layers.h"
#include "explore/serve/state.h"
#include "explore/tuning/cache.h"
#include "explore/tuning/tuner.h"
#include "models/memory/storage/host_memory.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"
#include "platform/report/page/page.h"
#include "platform/report/report.h"
#include "platform/run/platform.h"
#include "platform/schedule/counter.h"
#include "platform/schedule/programs.h"
#include "platform/trace/critical_path.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

namespace {

constexpr std::uint64_t kMostTracedQuickly = 200'000;  // commands, copies counted by bursts
constexpr std::uint64_t kMostTraced = 600'000;
constexpr std::size_t kMostSteps = 400;
constexpr std::size_t kMostKnown = 2000;
constexpr std::size_t kMostRuns = 8;
constexpr int kUnprocessable = 422, kInternalError = 500;

std::uint64_t number_in(const nlohmann::ordered_json& request, const char* name, std::uint64_t by_default) {
  if (!request.contains(name)) return by_default;
  if (!request[name].is_number_unsigned()) {
    throw config::ConfigError(fmt::format("request: member '{}' must be a whole number", name));
  }
  return request[name].get<std::uint64_t>();
}

std::string text_in(const nlohmann::ordered_json& request, const char* name) {
  if (!request.contains(name)) return {};
  if (!request[name].is_string()) throw config::ConfigError(fmt::format("request: member '{}' must be a text", name));
  return request[name].get<std::string>();
}

void note_origin(const ServerState& state, const MachineConfig& machine) {
  text::set_command(to_command(state));
  config::note_machine(machine, state.overrides());
}

// In the form of --tiling.
std::string tiling_text_of(const job::Schedule& schedule) {
  std::string line = job::tiling_line(schedule.tiling);
  std::replace(line.begin(), line.end(), ' ', ',');
  return line;
}

bool is_layered(const LoadedState& job) { return job.network.scope != workload::Scope::kAttention; }

}  // namespace

LoadedState::LoadedState(const ServerState& state) {
  check_access(state);
  machine = config::load_hardware(state.hardware, state.overrides());
  network = workload::load(state.network);
  energy = config::load_energy(machine.energy);
  const schedule::FirmwareImage& firmware = schedule::firmware_of(machine);
  if (state.dataflow == "auto") return;
  schedule = job::parse_dataflow(state.dataflow, firmware);
  if (!state.tiling.empty() && state.tiling != "auto") schedule.tiling = job::parse_tiling(state.tiling, firmware);
}

// A run with the trace of its commands.
struct Simulator::Traced {
  job::RunResult result;
  CommandTrace trace;
  SignallingDescriptors signallers;
  bool is_traced = false;
};

Simulator::Traced Simulator::traced(const LoadedState& job, const job::Schedule& schedule,
                                    std::uint64_t most_commands) const {
  Traced traced;
  const schedule::Job block = job::make_job(job.machine, job.network, schedule);
  traced.is_traced =
      most_commands > 0 && schedule::count_steps(block, job.machine.dma.burst_bytes, most_commands) < most_commands;
  job::Runner runner(job.machine, job.energy, false);
  Context& context = runner.platform().context();
  if (traced.is_traced) context.command_trace = &traced.trace;
  traced.result = runner.run(job.network, schedule, nullptr, {});
  context.command_trace = nullptr;
  traced.signallers = context.signallers;
  return traced;
}

TuningOptions Simulator::tuning() const {
  TuningOptions options;
  options.use_cache = options_.use_cache;
  return options;
}

// As `attnvp run` completes the schedule.
job::Schedule Simulator::completed(const ServerState& state, const LoadedState& job) {
  const std::string key = to_query(state);
  const auto known = completed_.find(key);
  if (known != completed_.end()) return known->second;
  if (completed_.size() >= kMostKnown) completed_.clear();
  TuningOptions options = tuning();
  if (state.tiling == "auto") options.search_longer();
  return completed_[key] = state.dataflow == "auto" ? pick_dataflow(job, options).best().schedule : tune(job, options);
}

// The result of an earlier search, by this process or by another one.
std::optional<job::Schedule> Simulator::known_schedule(const ServerState& state, const LoadedState& job) const {
  const auto known = completed_.find(to_query(state));
  if (known != completed_.end()) return known->second;
  if (job::is_complete(job.schedule) || state.tiling == "auto") return std::nullopt;
  return Cache(job, tuning()).find();
}

// The result of a run as the page shows it.
nlohmann::ordered_json Simulator::page_of(const ServerState& state, const LoadedState& job, const Traced& run,
                                          const Json& request) const {
  report::JsonParts parts{"", true, state.overrides(), config::machine_hash(job.machine), 1};
  std::vector<Json> document{Json::parse(report::to_json(run.result, job.machine.name, parts))};
  report::prepare_for_page(document.front());
  document.front()["hardware_name"] = state.hardware;
  Json out{{"run", document.front()}, {"tiling", tiling_text_of(run.result.schedule)}};
  out["state"] = to_json(state);
  out["query"] = to_query(state);
  out["command"] = to_command(state);
  if (options_.floorplan_svg) out["floorplan"] = options_.floorplan_svg(job.machine);
  if (run.is_traced) {
    const bool has_head = request.contains("head") && request["head"].is_number_unsigned();
    out["gantt"] =
        gantt_json(run.trace, run.signallers, has_head ? request["head"].get<std::int64_t>() : -1, run.result.cycles);
  }
  return out;
}

// {"do": "quick", "previous": tiling}: the job with the previous tile sizes, or with the first ones that fit.
nlohmann::ordered_json Simulator::quick(const ServerState& state, const Json& request) {
  const LoadedState job(state);
  if (is_layered(job) || state.dataflow == "auto") return {{"is_slow", true}};
  if (const std::optional<job::Schedule> known = known_schedule(state, job)) {
    Json out = page_of(state, job, traced(job, *known, kMostTracedQuickly), request);
    out["is_tuned"] = true;
    return out;
  }
  const std::string previous = text_in(request, "previous");
  if (!previous.empty() && !job::is_complete(job.schedule)) {
    try {
      job::Schedule schedule = job.schedule;
      schedule.tiling = job::parse_tiling(previous, *schedule.firmware);
      if (job::is_complete(schedule)) {
        return page_of(state, job, traced(job, schedule, kMostTracedQuickly), request);
      }
    } catch (const config::ConfigError&) {  // of another dataflow, or larger than the layer
    } catch (const job::RunError&) {        // does not fit the machine
    }
  }
  const job::Schedule schedule = first_fit(job);
  return page_of(state, job, traced(job, schedule, kMostTracedQuickly), request);
}

// {"do": "tuned"}: the result of `attnvp run`.
nlohmann::ordered_json Simulator::tuned(const ServerState& state, const Json& request) {
  const LoadedState job(state);
  if (is_layered(job)) return layers(state);
  Json out = page_of(state, job, traced(job, completed(state, job), kMostTraced), request);
  out["is_tuned"] = true;
  return out;
}

nlohmann::ordered_json Simulator::layers(const ServerState& state) {
  const LoadedState job(state);
  LayerOptions options{false, 1, job.schedule.tiling, tuning(), 1, {}};
  const LayerRun run = run_layer(job.machine, job.network, state.dataflow, job.energy, options);
  Json document = Json::parse(to_json(run, job.machine.name, config::machine_hash(job.machine), state.overrides()));
  Json operations = Json::array();
  for (const Json& one : document["operations"]) {
    const Json& r = one["run"];
    const auto count = one.value("count", std::uint64_t{1});
    const auto times = static_cast<double>(count);
    operations.push_back({{"operation", one["operation"]},
                          {"dataflow", r["dataflow"]},
                          {"cycles", count * r["cycles"].get<std::uint64_t>()},
                          {"seconds", times * r["seconds"].get<double>()},
                          {"energy_pj", times * r["energy_pj"]["total"].get<double>()},
                          {"bound", r["bound"]["resource"]},
                          {"share", r["bound"]["share"]}});
  }
  document["operations"] = operations;
  document["dataflow"] = state.dataflow;
  Json out{{"run", document}, {"tiling", ""}, {"is_tuned", true}, {"is_layered", true}};
  out["state"] = to_json(state);
  out["query"] = to_query(state);
  out["command"] = to_command(state);
  if (options_.floorplan_svg) out["floorplan"] = options_.floorplan_svg(job.machine);
  return out;
}

// {"do": "advice"}: changes of the machine; the first one with its simulated effect.
nlohmann::ordered_json Simulator::advice(const ServerState& state) {
  const LoadedState job(state);
  if (is_layered(job)) return {{"advice", Json::array()}};
  Traced run = traced(job, completed(state, job), 0);
  try_advice(run.result, job.machine, job.energy, tuning());
  const Json document = Json::parse(report::to_json(run.result, job.machine.name));
  return {{"advice", document["bound"]["advice"]}, {"is_tried", run.result.bound.advice_tried}};
}

// {"do": "explain", "from": cycle, "to": cycle}: the critical path of the interval.
nlohmann::ordered_json Simulator::explain(const ServerState& state, const Json& request) {
  const LoadedState job(state);
  if (is_layered(job)) throw config::ConfigError("a critical path is of one operation; allowed is scope=attention");
  const Traced run = traced(job, completed(state, job), kMostTraced);
  if (!run.is_traced)
    throw job::RunError("the run has too many commands for a critical path; allowed is a smaller layer");
  const std::uint64_t from = number_in(request, "from", 0);
  const std::uint64_t to = std::min(number_in(request, "to", run.result.cycles), run.result.cycles);
  if (from >= to) throw config::ConfigError(fmt::format("interval {} to {}: allowed is a later end", from, to));
  const trace::CriticalPath path = trace::critical_path(run.trace, run.signallers, from, to, run.result.cycles);
  Json out = trace::to_json(path, run.trace, kMostSteps);
  out["text"] = trace::to_text(path, run.trace, kMostSteps);
  out["command"] = to_command(state, "explain") + fmt::format(" --from {} --to {}", from, to);
  return out;
}

// {"do": "waveform", "name": NAME}: files for GTKWave and Surfer in the working folder.
nlohmann::ordered_json Simulator::waveform(const ServerState& state, const Json& request) {
  const std::string path = output_path(text_in(request, "name"), ".vcd");
  for (const char* ending : {".gtkw", ".names", ".idle", ".sucl"}) output_path(text_in(request, "name"), ending);
  LoadedState job(state);
  if (is_layered(job)) throw config::ConfigError("a waveform is for one operation; allowed is scope=attention");
  job.schedule = completed(state, job);
  note_origin(state, job.machine);
  const std::vector<std::string> files = options_.write_waveform(job, path);
  return {{"files", files},
          {"gtkwave", "gtkwave " + text::shell_word(files.size() > 1 ? files[1] : files[0])},
          {"surfer", "surfer " + text::shell_word(files[0]) + " -c " + text::shell_word(files.back())}};
}

// {"do": "report" or "csv", "states": [...]}: a page, or a table with a row a state.
nlohmann::ordered_json Simulator::documents(const Json& request) {
  if (!request.contains("states") || !request["states"].is_array() || request["states"].empty() ||
      request["states"].size() > kMostRuns) {
    throw config::ConfigError(fmt::format("request: member 'states' must be a list of 1 to {} states", kMostRuns));
  }
  std::vector<std::string> reports;
  std::vector<Json> pages;
  for (const Json& one : request["states"]) {
    const ServerState state = state_of_json(one);
    const LoadedState job(state);
    if (is_layered(job)) throw config::ConfigError("a report is for one operation; allowed is scope=attention");
    note_origin(state, job.machine);
    const Traced run = traced(job, completed(state, job), 0);
    const report::JsonParts parts{"", true, state.overrides(), config::machine_hash(job.machine), 1};
    reports.push_back(report::to_json(run.result, job.machine.name, parts));
    pages.push_back(Json::parse(reports.back()));
    report::prepare_for_page(pages.back());
  }
  const bool is_csv = request["do"] == "csv";
  return {{"text", is_csv ? files::with_origin(files::Form::kCsv, report::runs_csv(reports))
                          : files::with_origin(files::Form::kHtml, report::page(std::move(pages)))}};
}

nlohmann::ordered_json Simulator::handle(const Json& request) {
  text::set_command({});
  const std::string what = text_in(request, "do");
  if (what == "report" || what == "csv") return documents(request);
  if (!request.contains("state")) throw config::ConfigError("request: member 'state' is missing");
  const ServerState state = state_of_json(request["state"]);
  text::set_command(to_command(state));
  if (what == "quick") return quick(state, request);
  if (what == "tuned") return tuned(state, request);
  if (what == "advice") return advice(state);
  if (what == "explain") return explain(state, request);
  if (what == "waveform") return waveform(state, request);
  throw config::ConfigError(
      "request: member 'do' is unknown; allowed: quick, tuned, advice, explain, waveform, report, csv");
}

std::string Simulator::answer(const std::string& request) {
  const auto failed = [](int status, const std::string& why) {
    return Json{{"error", text::printable(why)}, {"status", status}};
  };
  Json answer;
  try {
    answer = {{"ok", handle(Json::parse(request))}};
  } catch (const config::ConfigError& e) {
    answer = failed(kUnprocessable, e.what());
  } catch (const job::RunError& e) {
    answer = failed(kUnprocessable, e.what());
  } catch (const host_memory::Exceeded& e) {
    answer = failed(kUnprocessable, e.what());
  } catch (const std::bad_alloc&) {
    answer = failed(kUnprocessable, "this host has not enough memory for that layer or machine");
  } catch (const std::exception& e) {
    answer = failed(kInternalError, std::string("unexpected failure: ") + e.what());
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attnvp::explore
