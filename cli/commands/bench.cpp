// `attnvp bench`: speed of the simulator, as ratios and rates measured within one process.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>

#include "benchmarks/native_attention.h"
#include "cli/commands.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "explore/tuning/tuner.h"
#include "models/arith/half.h"
#include "models/memory/banked_dram/traffic.h"
#include "models/registry.h"
#include "platform/base/origin.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/report/table.h"
#include "platform/run/job.h"
#include "platform/run/platform.h"
#include "platform/streaming/stream_run.h"
#include "platform/trace/session.h"
#include "platform/trace/waveform.h"

namespace attnvp::cli {

namespace {

// Columns are separated by at least two spaces; a label may be indented.
std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t text = line.find_first_not_of(' ', at);
    if (text == std::string::npos) break;
    const std::size_t end = std::min(line.find("  ", text), line.size());
    columns.push_back(line.substr(columns.empty() ? at : text, end - (columns.empty() ? at : text)));
    at = end;
  }
  return columns;
}

double seconds_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  for (const auto& [name, factor] :
       {std::pair{" s", 1.0}, std::pair{" ms", 1e-3}, std::pair{" us", 1e-6}, std::pair{" ns", 1e-9}}) {
    if (unit == name) return value * factor;
  }
  return 0;
}

}  // namespace

Figures parse_figures(const std::string& table) {
  Figures figures;
  std::istringstream lines(table);
  std::string line;
  for (int number = 0; std::getline(lines, line); ++number) {
    const std::vector<std::string> columns = columns_of(line);
    if (number < 2 || columns.size() != 3) continue;  // heading and rule
    figures.push_back({columns[0], seconds_of(columns[1]), columns[1], columns[2]});
  }
  return figures;
}

Figures better(const Figures& a, const Figures& b) {
  Figures best = a;
  for (BenchFigure& figure : best) {
    for (const BenchFigure& other : b) {
      if (other.label == figure.label && other.seconds > 0 && other.seconds < figure.seconds) figure = other;
    }
  }
  return best;
}

namespace {

struct BenchArguments {
  std::string hardware = "edge";
  std::string network = "bert-base";
  std::string tiling;    // empty: chosen
  double seconds = 1.0;  // for each measurement
  std::string against;   // another build of this program to compare with
};

using Seconds = std::chrono::duration<double>;

// Best time of one call within the budget, at least three calls: the least disturbed on a loaded machine.
double best_seconds(double budget, const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  double best = 1e300;
  for (int calls = 0; calls < 3 || Seconds(std::chrono::steady_clock::now() - start).count() < budget; ++calls) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, Seconds(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

std::vector<float> widened(const std::vector<arith::Half>& halves) {
  std::vector<float> floats(halves.size());
  arith::floats_from_halves(halves.data(), floats.data(), halves.size());
  return floats;
}

// The memory-free streaming graph at N=512: best time of a simulation, and transferred elements.
struct StreamRate {
  double seconds = 0;
  std::uint64_t transfers = 0;
};
StreamRate stream_rate(double budget) {
  const stream::Graph graph = stream::load_graph("memory-free", 512, 1);
  stream::StreamRunner runner(graph, config::load_energy(graph.energy), 1);
  stream::StreamRunner::StreamOptions options;
  options.check_golden = false;
  StreamRate rate;
  rate.seconds = best_seconds(budget, [&] { rate.transfers = runner.run(options).transfers; });
  return rate;
}

// Single-burst requests served by a channel of LPDDR4-3200 in a second of host time.
double dram_rate(double budget, std::uint64_t step_bytes) {
  BankedConfig part;
  config::apply_dram_part(part, "lpddr4-3200");
  TrafficConfig traffic;
  traffic.requests = 100000;
  traffic.bytes = part.burst_bytes();
  traffic.step_bytes = step_bytes;
  return static_cast<double>(traffic.requests) / best_seconds(budget, [&] { DramTraffic(part, traffic).run(); });
}

// Figures measured by the program at `path`; throws config::ConfigError on failure.
Figures figures_of(const std::string& path, const BenchArguments& a) {
  if (::access(path.c_str(), X_OK) != 0) {
    throw config::ConfigError(fmt::format("--against: '{}' is not a program that can be run", path));
  }
  const std::string program = path.find('/') == std::string::npos ? "./" + path : path;
  std::string command = fmt::format("{} bench --hw {} --net {} --seconds {}", text::shell_word(program),
                                    text::shell_word(a.hardware), text::shell_word(a.network), a.seconds);
  if (!a.tiling.empty()) command += " --tiling " + text::shell_word(a.tiling);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string table;
  std::array<char, 4096> piece{};
  for (std::size_t n = 0; pipe != nullptr && (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    table.append(piece.data(), n);
  }
  const int status = pipe == nullptr ? -1 : ::pclose(pipe);
  Figures figures = parse_figures(table);
  if (status != 0 || figures.empty()) {
    throw config::ConfigError(fmt::format("--against: '{} bench' gave no figures (status {})", path, status));
  }
  return figures;
}

// `attnvp run --data timing` with tiles given, from its start to its end.
double process_seconds(const BenchArguments& a, const job::Tiling& tiling) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format(
      "exec {} run --data timing --no-advice --hw {} --net {} --tiling {} >/dev/null", text::shell_word(program),
      text::shell_word(a.hardware), text::shell_word(a.network), job::tiling_option(tiling));
  return best_seconds(a.seconds, [&] {
    if (std::system(command.c_str()) != 0) throw config::ConfigError("a timing run of this program failed");
  });
}

Figures measure(const BenchArguments& a) {
  const MachineConfig machine = config::load_hardware(a.hardware);
  const workload::Workload n = workload::load(a.network);
  const config::EnergyTable energy = config::load_energy(machine.energy);
  const job::Schedule open = job::parse_dataflow("mas");
  job::Schedule given = open;
  if (!a.tiling.empty()) given.tiling = job::parse_tiling(a.tiling);
  const job::Schedule mas = explore::tune({machine, n, given, energy});
  const job::Tensors tensors = job::random_tensors(n, 1);

  const double process = process_seconds(a, mas.tiling);
  double timing = 0;
  std::uint64_t events = 0;
  std::string waveform, compressed;
  double traced = 0, traced_fst = 0;
  {
    job::Runner runner(machine, energy, false);
    timing = best_seconds(a.seconds, [&] { events = runner.run(n, mas, nullptr, {}).events; });
    const auto trace = [&] {
      trace::TraceRequest request;
      request.waveform = true;
      trace::Session session(request);
      job::RunOptions options;
      options.trace = &session;
      runner.run(n, mas, nullptr, options);
      waveform = session.vcd();
    };
    traced = best_seconds(a.seconds, trace);
    traced_fst = best_seconds(a.seconds, [&] {
      trace();
      compressed = trace::fst_from_vcd(waveform);
    });
  }
  // The whole search without cache: candidates, bounds and simulations.
  double searching = 0;
  std::uint64_t evaluations = 0;
  {
    explore::TuningOptions options;
    options.strategy = "mcts";
    options.evaluations = 200;
    const explore::TuningResult result = explore::search({machine, n, open, energy}, options);
    searching = result.seconds;
    evaluations = result.log.size();
  }
  double full = 0, checked = 0;
  {
    job::Runner runner(machine, energy, true);
    job::RunOptions options;
    options.check_golden = false;
    full = best_seconds(a.seconds, [&] { runner.run(n, mas, &tensors, options); });
    checked = best_seconds(a.seconds, [&] { runner.run(n, mas, &tensors, {}); });
  }
  // The same run with the RTL of the VEC engines, if it is built with that width.
  double rtl = 0;
  std::uint64_t clocked = 0;
  MachineConfig with_rtl = machine;
  with_rtl.vec.kind = "rtl";
  if (kind_problem(with_rtl).empty()) {
    job::Runner runner(with_rtl, energy, true);
    job::RunOptions options;
    options.check_golden = false;
    rtl =
        best_seconds(a.seconds, [&] { clocked = runner.run(n, mas, &tensors, options).sum("rtl", "clocked_cycles"); });
  }
  const std::vector<float> q = widened(tensors.q), k = widened(tensors.k), v = widened(tensors.v);
  std::vector<float> o(q.size());
  const workload::Extents e = n.extents();
  const attnvp::bench::NativeShape shape{std::size_t{e.batch} * e.heads, e.seq_q, e.seq_kv, e.emb};
  const double native =
      best_seconds(a.seconds, [&] { attnvp::bench::native_attention(shape, q.data(), k.data(), v.data(), o.data()); });

  Figures figures;
  const auto row = [&figures](std::string label, double seconds, std::string time, std::string rate) {
    figures.push_back({std::move(label), seconds, std::move(time), std::move(rate)});
  };
  const auto time = [](double s) { return report::with_prefix(s, "s"); };
  const auto timed = [&](std::string label, double seconds, std::string rate) {
    row(std::move(label), seconds, time(seconds), std::move(rate));
  };
  timed("native attention (Eigen, FP32, one thread)", native, "1.00x");
  timed("full simulation, golden check left out", full, fmt::format("{:.2f}x native", full / native));
  timed("golden check", checked - full, fmt::format("{:.2f}x the full simulation", (checked - full) / full));
  timed("timing simulation, not elaborated again", timing, fmt::format("{:.0f} runs/s", 1 / timing));
  row("  of which simulation events", 0, fmt::format("{} events", events),
      report::with_prefix(static_cast<double>(events) / timing, "events/s"));
  timed("timing simulation with a waveform", traced,
        fmt::format("{:.2f}x untraced, {}", traced / timing,
                    report::with_prefix(static_cast<double>(waveform.size()), "B")));
  timed("  the waveform in FST", traced_fst,
        fmt::format("{:.2f}x untraced, {}", traced_fst / timing,
                    report::with_prefix(static_cast<double>(compressed.size()), "B")));
  timed("process of a timing run with tiles given", process, fmt::format("{:.1f}x the simulation", process / timing));
  timed(fmt::format("tiling search, {} simulations", evaluations), searching,
        fmt::format("{:.0f} evaluations/s", static_cast<double>(evaluations) / searching));
  if (clocked != 0) {
    timed("full simulation with the VEC engines in RTL", rtl, fmt::format("{:.1f}x the models", rtl / full));
    timed(fmt::format("  of which {} RTL cycles", clocked), rtl - full,
          report::with_prefix(static_cast<double>(clocked) / (rtl - full), "cycles/s"));
  }
  const StreamRate streaming = stream_rate(a.seconds);
  timed(fmt::format("streaming graph, {:.2g} M transfers", static_cast<double>(streaming.transfers) * 1e-6),
        streaming.seconds,
        fmt::format("{:.1f} M transfers/s", static_cast<double>(streaming.transfers) * 1e-6 / streaming.seconds));
  const auto dram = [&](const char* label, std::uint64_t step_bytes) {
    const double rate = dram_rate(a.seconds, step_bytes);
    timed(label, 100000 / rate, fmt::format("{:.2f} M requests/s", rate * 1e-6));
  };
  dram("banked DRAM, 100,000 requests of 32 B, stream", 32);
  dram("banked DRAM, 100,000 requests of 32 B, random", 0);
  return figures;
}

Figures patiently(const BenchArguments& a) {
  const Waiting waiting("measuring");
  return measure(a);
}

int bench(const BenchArguments& a) {
  const std::string what =
      fmt::format("{} / mas on {}", workload::load(a.network).name(), config::load_hardware(a.hardware).name);
  report::Table table;
  table.column(what, report::Table::Align::kLeft);
  table.column("time");
  table.column("rate or ratio");
  if (a.against.empty()) {
    for (const BenchFigure& f : patiently(a)) table.row({f.label, f.time, f.rate});
  } else {
    // Alternates, so that changes of the host's load affect both.
    Figures theirs = figures_of(a.against, a);
    Figures ours = patiently(a);
    theirs = better(theirs, figures_of(a.against, a));
    ours = better(ours, patiently(a));
    table.column("there");
    table.column("rate or ratio there");
    table.column("times as fast");
    for (const BenchFigure& f : ours) {
      const auto there =
          std::find_if(theirs.begin(), theirs.end(), [&f](const BenchFigure& t) { return t.label == f.label; });
      const bool known = there != theirs.end();
      const bool times = known && f.seconds > 0 && there->seconds > 0;
      table.row({f.label, f.time, f.rate, known ? there->time : "-", known ? there->rate : "-",
                 times ? fmt::format("{:.2f}", there->seconds / f.seconds) : "-"});
    }
  }
  print(table.text(text::line_width()));
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  const auto a = std::make_shared<BenchArguments>();
  CLI::App& command = *app.add_subcommand("bench", "measure the simulator's own speed");
  add_hardware(command, a->hardware);
  add_network(command, a->network);
  add_text(command, "--tiling", a->tiling,
           "tile sizes: nq=64,nkv=128,..., so that builds are compared at equal work; what is not given is chosen");
  command.add_option("--seconds", a->seconds, "time per measurement")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  add_text(command, "--against", a->against,
           "another build of this program: its figures beside, measured in turn with these");
  add_memory_limit(command);
  command.callback([a, &status] { status = bench(*a); });
}

}  // namespace attnvp::cli
