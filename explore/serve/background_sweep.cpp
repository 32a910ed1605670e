#include "explore/serve/background_sweep.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "explore/analysis/analysis.h"
#include "explore/serve/state.h"
#include "explore/sweep/sweep.h"
#include "platform/base/files.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/words.h"
#include "platform/workload/workload.h"

namespace attnvp::explore {

namespace {

using config::ConfigError;
using nlohmann::ordered_json;

constexpr std::size_t kMostAxes = 3, kMostValues = 64, kMostJobsOfPage = 4096, kMostSweeps = 20;
const char* const kShown[] = {"cycles", "seconds", "energy_pj.total", "power_w.total", "area_mm2.total"};

std::string quoted(const std::string& text) { return ordered_json(text).dump(); }

bool is_choice(const std::string& key) { return key == "dataflow" || key == "network" || key == "hardware"; }

// Key of a setting that an axis replaces is left out of `set`.
bool is_axis(const SweepRequest& request, const std::string& key) {
  return std::any_of(request.axes.begin(), request.axes.end(), [&](const auto& axis) { return axis.first == key; });
}

void check_state(const ServerState& state) {
  check_access(state);
  if (workload::load(state.network).scope != workload::Scope::kAttention) {
    throw ConfigError("a sweep is of one operation; allowed is scope=attention");
  }
}

void check_axis(const SweepRequest& request, const std::string& key, const std::vector<std::string>& values) {
  if (values.empty() || values.size() > kMostValues) {
    throw ConfigError(
        fmt::format("axis {}: has {} values; allowed are 1 to {}", config::in_quotes(key), values.size(), kMostValues));
  }
  for (const std::string& value : values) {
    if (!is_choice(key)) {
      check_setting_access(key, value);
      continue;
    }
    ServerState changed = request.state;
    (key == "dataflow" ? changed.dataflow : key == "network" ? changed.network : changed.hardware) = value;
    check_state(changed);
  }
}

}  // namespace

SweepRequest sweep_request_of(const ordered_json& json) {
  const bool is_complete = json.is_object() && json.contains("name") && json["name"].is_string() &&
                           json.contains("state") && json.contains("axes") && json["axes"].is_object();
  if (!is_complete) throw ConfigError("sweep: found no object with 'name', 'state' and 'axes'");
  SweepRequest request{json["name"].get<std::string>(), state_of_json(json["state"]), {}};
  output_path(request.name, ".db");
  check_state(request.state);
  if (json["axes"].empty() || json["axes"].size() > kMostAxes) {
    throw ConfigError(fmt::format("sweep: has {} axes; allowed are 1 to {}", json["axes"].size(), kMostAxes));
  }
  std::size_t jobs = 1;
  for (const auto& [key, list] : json["axes"].items()) {
    std::vector<std::string> values;
    if (!list.is_array()) throw ConfigError(fmt::format("axis {}: found no list", config::in_quotes(key)));
    for (const ordered_json& value : list) {
      if (!value.is_string())
        throw ConfigError(fmt::format("axis {}: every value must be a text", config::in_quotes(key)));
      values.push_back(value.get<std::string>());
    }
    check_axis(request, key, values);
    jobs *= values.size();
    request.axes.emplace_back(key, std::move(values));
  }
  if (jobs > kMostJobsOfPage)
    throw ConfigError(fmt::format("sweep: has {} jobs; allowed are {}", jobs, kMostJobsOfPage));
  return request;
}

std::string to_yaml(const SweepRequest& request) {
  const ServerState& s = request.state;
  std::string yaml =
      fmt::format("# {}: a sweep of attnvp serve; `attnvp sweep FILE` runs it\nkind: grid\n", request.name);
  for (const auto& [key, value] :
       {std::pair("hardware", s.hardware), std::pair("network", s.network), std::pair("dataflow", s.dataflow)}) {
    if (!is_axis(request, key)) yaml += fmt::format("{}: {}\n", key, quoted(value));
  }
  if (!s.tiling.empty()) yaml += fmt::format("tiling: {}\n", quoted(s.tiling));
  yaml += "axes:\n";
  for (const auto& [key, values] : request.axes) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + quoted(value);
    yaml += fmt::format("  {}: [{}]\n", key, list);
  }
  std::string set;
  for (const auto& [key, value] : s.settings) {
    if (!is_axis(request, key)) set += fmt::format("  {}: {}\n", key, quoted(value));
  }
  return set.empty() ? yaml : yaml + "set:\n" + set;
}

// Reads {"sweep": FILE, "database": FILE, "jobs": N} and sends progress. It ends when the server closes the socket; the
// rows so far are kept.
void BackgroundSweeps::run(int socket) {
  std::string order;
  if (!receive_message(socket, order)) return;
  constexpr int kNiceness = 10;  // simulations of the page come first
  ::setpriority(PRIO_PROCESS, 0, kNiceness);
  const auto send = [&](const SweepProgress& p, const std::string& error, bool is_done) {
    ordered_json progress{{"jobs", p.jobs},
                          {"done", p.jobs - p.left() - std::min<std::uint64_t>(p.failures.size(), p.jobs - p.left())},
                          {"failed", p.failures.size()},
                          {"crashed", p.crashed},
                          {"error", error},
                          {"is_done", is_done}};
    if (!p.failures.empty()) progress["failure"] = p.failures.front();
    return send_message(socket, progress.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  };
  SweepProgress progress;
  try {
    const ordered_json json = ordered_json::parse(order);
    text::set_command({});  // rows have the command of their job
    const SweepPlan plan = make_plan(load_sweep(json.at("sweep").get<std::string>()));
    SweepOptions options;
    options.database = json.at("database").get<std::string>();
    options.jobs = json.at("jobs").get<unsigned>();
    bool is_left = false;
    options.progress = [&](const SweepProgress& p) { is_left = !send(p, "", false); };
    options.stop = [&] {
      pollfd wanted{socket, POLLIN, 0};
      return is_left || ::poll(&wanted, 1, 0) > 0;  // a message, or the end of the server
    };
    progress = run_sweep(plan, options);
    send(progress, "", true);
  } catch (const std::exception& e) {
    send(progress, text::printable(e.what()), true);
  }
}

BackgroundSweeps::~BackgroundSweeps() {
  for (auto& [name, sweep] : sweeps_) end(sweep);
}

void BackgroundSweeps::end(Sweep& sweep) {
  if (sweep.child.pid < 0) return;
  ::close(sweep.child.socket);
  sweep.child = {};
  sweep.is_running = false;
}

void BackgroundSweeps::launch(Sweep& sweep) {
  sweep.child = launcher_.start(Launcher::WorkerRole::kSweep);
  sweep.is_running = true;
  const ordered_json order{
      {"sweep", sweep.request.name + ".yaml"}, {"database", sweep.request.name + ".db"}, {"jobs", jobs_}};
  send_message(sweep.child.socket, order.dump());
}

void BackgroundSweeps::read_progress(Sweep& sweep) {
  while (sweep.child.pid >= 0) {
    pollfd wanted{sweep.child.socket, POLLIN, 0};
    if (::poll(&wanted, 1, 0) <= 0) return;
    std::string text;
    if (!receive_message(sweep.child.socket, text)) {
      end(sweep);
      return;
    }
    sweep.text = text;
    if (ordered_json::parse(text).value("is_done", false)) end(sweep);
  }
}

BackgroundSweeps::Sweep& BackgroundSweeps::find(const std::string& name) {
  const auto known = sweeps_.find(name);
  if (known == sweeps_.end()) throw ConfigError(fmt::format("sweep {} is unknown", config::in_quotes(name)));
  return known->second;
}

ordered_json BackgroundSweeps::start(const SweepRequest& request) {
  const std::lock_guard lock(mutex_);
  if (sweeps_.size() >= kMostSweeps)
    throw ConfigError(fmt::format("{} sweeps are known; allowed are no more", kMostSweeps));
  for (const char* ending : {".yaml", ".db"}) {
    if (std::filesystem::exists(output_path(request.name, ending))) {
      throw ConfigError(fmt::format("file '{}{}' exists; allowed is another name for the sweep", request.name, ending));
    }
  }
  files::write_file_atomically(request.name + ".yaml", to_yaml(request));
  Sweep& sweep = sweeps_[request.name];
  sweep.request = request;
  launch(sweep);
  return {{"name", request.name}};
}

void BackgroundSweeps::pause(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Sweep& sweep = find(name);
  read_progress(sweep);
  if (sweep.child.pid >= 0) send_message(sweep.child.socket, "pause");
}

void BackgroundSweeps::resume(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Sweep& sweep = find(name);
  read_progress(sweep);
  if (sweep.child.pid < 0) launch(sweep);
}

ordered_json BackgroundSweeps::names() {
  const std::lock_guard lock(mutex_);
  ordered_json names = ordered_json::array();
  for (const auto& [name, sweep] : sweeps_) names.push_back(name);
  return names;
}

ordered_json BackgroundSweeps::status(const std::string& name, const std::vector<std::string>& goals) {
  for (const std::string& goal : goals) {
    if (std::find(std::begin(kShown), std::end(kShown), goal) == std::end(kShown)) {
      throw ConfigError(fmt::format("goal {}: allowed: {}", config::in_quotes(goal), fmt::join(kShown, ", ")));
    }
  }
  const std::lock_guard lock(mutex_);
  Sweep& sweep = find(name);
  read_progress(sweep);
  ordered_json out = sweep.text.empty() ? ordered_json::object() : ordered_json::parse(sweep.text);
  out["name"] = name;
  out["is_running"] = sweep.is_running;
  out["command"] = fmt::format("attnvp sweep {}.yaml", name);
  out["rows"] = ordered_json::array();
  out["front"] = ordered_json::array();
  for (const auto& [key, values] : sweep.request.axes) out["axes"].push_back(key);
  const std::string database = name + ".db";
  if (!std::filesystem::exists(database)) return out;
  try {
    const Selection selection(database, "");
    std::vector<Goal> measures;
    for (const std::string& goal : goals) measures.emplace_back(goal, "goal");
    std::vector<std::vector<double>> costs;
    for (const SqlRow& row : selection.rows()) {
      ordered_json one{{"axes", ordered_json::array()}};
      for (const auto& axis : sweep.request.axes) one["axes"].push_back(selection.text(row, column_index(axis.first)));
      for (const char* shown : kShown) one[shown] = selection.number(row, column_index(shown));
      std::vector<double>& cost = costs.emplace_back();
      for (const Goal& goal : measures) cost.push_back(goal.cost(row));
      out["rows"].push_back(std::move(one));
    }
    out["front"] = pareto_front(costs);
  } catch (const ConfigError& e) {  // no row yet, or the database is being created
    out["note"] = text::printable(e.what());
  }
  return out;
}

}  // namespace attnvp::explore
