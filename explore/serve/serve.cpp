#include "explore/serve/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "explore/serve/background_sweep.h"
#include "explore/serve/http_server.h"
#include "explore/serve/launcher.h"
#include "explore/serve/state.h"
#include "models/memory/storage/host_memory.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/report/page/page.h"
#include "platform/run/schedule.h"

namespace attnvp::explore {

namespace serve_files {  // made by cmake/embed.cmake
extern const std::string_view html, css, controls, gantt, results, sweep, share, script;
}  // namespace serve_files

namespace {

using nlohmann::ordered_json;

constexpr unsigned kMostProcesses = 64;
constexpr int kSlowFactor = 5;  // exports and explanations may take so many times the limit of a simulation

unsigned processes_of(const ServeOptions& options) {
  const unsigned wanted = options.jobs > 0 ? options.jobs : std::max(2U, std::thread::hardware_concurrency());
  return std::min(wanted, kMostProcesses);
}

// Answers the requests of the simulator's socket until the server closes it.
void simulate(const SimulatorOptions& options, unsigned processes, int socket) {
  host_memory::set_limit(host_memory::limit() / processes);
  Simulator simulator(options);
  std::string request;
  while (receive_message(socket, request) && send_message(socket, simulator.answer(request))) {
  }
}

std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// The page: one document with its scripts and styles. `nonce`: of the content security policy.
std::string serve_page(const std::string& nonce) {
  return text::fill(serve_files::html, {{"NONCE", nonce},
                                        {"CSS", report::page_files::css},
                                        {"OWNCSS", serve_files::css},
                                        {"CHART", report::page_files::chart},
                                        {"COMMON", report::page_files::common},
                                        {"PLOTS", report::page_files::plots},
                                        {"CONTROLS", serve_files::controls},
                                        {"GANTT", serve_files::gantt},
                                        {"RESULTS", serve_files::results},
                                        {"SWEEP", serve_files::sweep},
                                        {"SHARE", serve_files::share},
                                        {"SCRIPT", serve_files::script}});
}

class Api {
 public:
  Api(const ServeOptions& options, Launcher& launcher, HttpServer& server)
      : options_(options),
        server_(server),
        pool_(launcher, processes_of(options)),
        sweeps_(launcher, std::max(1U, processes_of(options) - 1)) {
    server.Get("/", [this](const httplib::Request&, httplib::Response& response) { page(response); });
    get("/api/catalogue", [](const ordered_json&) { return catalogue_json(); });
    post("/api/machine", [](const ordered_json& request) { return machine_json(state_of_json(request.at("state"))); });
    post("/api/state", [](const ordered_json& request) { return convert(request); });
    server.Post("/api/simulate", [this](const httplib::Request& request, httplib::Response& response) {
      guarded(response, [&] { response.set_content(simulated(request.body), "application/json"); });
    });
    get("/api/sweeps", [this](const ordered_json&) { return sweeps_.names(); });
    server.Post("/api/sweep", [this](const httplib::Request& request, httplib::Response& response) {
      guarded(response, [&] { response.set_content(text_of(sweep(body_of(request))), "application/json"); });
    });
  }

  void stop() {
    is_stopping_ = true;
    server_.stop();
  }

 private:
  using Handler = std::function<ordered_json(const ordered_json& request)>;

  static ordered_json object_of(const std::string& body) {
    ordered_json object = ordered_json::parse(body);
    if (!object.is_object()) throw config::ConfigError("request: found no object");
    return object;
  }
  static ordered_json body_of(const httplib::Request& request) { return object_of(request.body); }

  void page(httplib::Response& response) const {
    const std::string nonce = server_.token().substr(0, 16);
    response.set_header(
        "Content-Security-Policy",
        fmt::format("default-src 'none'; script-src 'nonce-{}'; style-src 'unsafe-inline'; img-src data: "
                    "blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
                    "'none'",
                    nonce));
    response.set_content(serve_page(nonce), "text/html; charset=utf-8");
  }

  // The state in all of its forms, of one of them.
  static ordered_json convert(const ordered_json& request) {
    const auto text = [&](const char* name) { return request.at(name).get<std::string>(); };
    const ServerState state = request.contains("query")  ? state_of_query(text("query"))
                              : request.contains("yaml") ? state_of_yaml(text("yaml"))
                                                         : state_of_json(request.at("state"));
    return {{"state", to_json(state)},
            {"query", to_query(state)},
            {"yaml", to_yaml(state)},
            {"command", to_command(state)}};
  }

  // The body is passed to a simulator process as it is; only its limits depend on it.
  std::string simulated(const std::string& body) {
    const ordered_json request = ordered_json::parse(body);
    if (!request.is_object()) throw config::ConfigError("request: found no object");
    const std::string what =
        request.contains("do") && request["do"].is_string() ? request["do"].get<std::string>() : "";
    const bool is_long = what == "report" || what == "csv" || what == "waveform" || what == "explain";
    SimulationPool::SimulationCall call;
    call.request = body;
    call.is_quick = what == "quick";
    call.seconds = options_.most_seconds * (is_long ? kSlowFactor : 1);
    call.is_abandoned = [this] { return is_stopping_ || HttpServer::client_has_left(); };
    const std::string answer = pool_.call(call);
    constexpr std::string_view kOk = "{\"ok\":";
    if (answer.compare(0, kOk.size(), kOk) == 0) return answer.substr(kOk.size(), answer.size() - kOk.size() - 1);
    const ordered_json failure = ordered_json::parse(answer);
    throw CallError(failure.value("status", 500), failure.value("error", ""));
  }

  ordered_json sweep(const ordered_json& request) {
    const std::string what = request.at("do").get<std::string>();
    if (what == "start") {
      const std::lock_guard lock(mutex_);
      return sweeps_.start(sweep_request_of(request));
    }
    const std::string name = request.at("name").get<std::string>();
    if (what == "pause") {
      sweeps_.pause(name);
    } else if (what == "resume") {
      sweeps_.resume(name);
    } else if (what != "status") {
      throw config::ConfigError("request: member 'do' is unknown; allowed: start, status, pause, resume");
    }
    std::vector<std::string> goals;
    for (const ordered_json& goal : request.value("goals", ordered_json::array({"cycles", "energy_pj.total"}))) {
      goals.push_back(goal.get<std::string>());
    }
    return sweeps_.status(name, goals);
  }

  void get(const char* path, const Handler& handler) {
    server_.Get(path, [this, handler](const httplib::Request&, httplib::Response& response) {
      guarded(response, [&] {
        const std::lock_guard lock(mutex_);
        response.set_content(text_of(handler({})), "application/json");
      });
    });
  }
  void post(const char* path, const Handler& handler) {
    server_.Post(path, [this, handler](const httplib::Request& request, httplib::Response& response) {
      guarded(response, [&] {
        const ordered_json body = body_of(request);
        const std::lock_guard lock(mutex_);
        response.set_content(text_of(handler(body)), "application/json");
      });
    });
  }

  template <class Work>
  void guarded(httplib::Response& response, const Work& work) {
    const auto failed = [&](int status, const std::string& why) {
      response.status = status;
      response.set_content(text_of({{"error", text::printable(why)}}), "application/json");
    };
    try {
      work();
    } catch (const CallError& e) {
      failed(e.status, e.what());
    } catch (const config::ConfigError& e) {
      failed(422, e.what());
    } catch (const job::RunError& e) {
      failed(422, e.what());
    } catch (const nlohmann::json::exception&) {
      failed(400, "the body is not the JSON that this address takes");
    } catch (const std::exception& e) {
      failed(500, std::string("unexpected failure: ") + e.what());
    }
  }

  const ServeOptions& options_;
  HttpServer& server_;
  SimulationPool pool_;
  BackgroundSweeps sweeps_;
  std::mutex mutex_;  // loaders of configurations are used by one thread at a time
  std::atomic<bool> is_stopping_ = false;
};

}  // namespace

void serve(const ServeOptions& options) {
  const unsigned processes = processes_of(options);
  Launcher launcher([&](Launcher::WorkerRole role, int socket) {
    if (role == Launcher::WorkerRole::kSweep) return BackgroundSweeps::run(socket);
    simulate(options.simulator, processes, socket);
  });
  HttpServer server({options.host, options.port});
  Api api(options, launcher, server);
  std::atomic<bool> is_ended = false;
  std::thread watcher([&] {
    while (!is_ended && !(options.is_stopped && options.is_stopped())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    api.stop();
  });
  if (options.is_listening) options.is_listening(server.url());
  server.serve();
  is_ended = true;
  watcher.join();
}

}  // namespace attnvp::explore
