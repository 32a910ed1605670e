// `attnvp search`: searches the best tile sizes of a layer on a machine.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "explore/layers/convergence.h"
#include "explore/layers/layers.h"
#include "explore/tuning/tuner.h"
#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"
#include "platform/report/json.h"
#include "platform/report/table.h"

namespace attnvp::cli {

namespace {

using explore::Objective;

constexpr std::uint64_t kDefaultBudget = 400;

struct SearchArguments : JobArguments {
  std::string dataflow;
  std::string objective = "cycles";  // cycles, energy or edp
  std::string strategy = "descent";  // descent, grid, ga or mcts
  std::uint64_t budget = 0;          // evaluations; 0: as many as the strategy needs (grid), 400 otherwise
  unsigned jobs = 0;                 // processes; 0: one for each host processor
  double seconds = 0;                // limit of wall time; 0: none
  std::string csv, svg;              // convergence files
  std::string save;                  // file for the best tiling, readable by --tiling
};

Objective objective_of(const std::string& name) {
  for (const Objective o : {Objective::kCycles, Objective::kEnergy, Objective::kEdp}) {
    if (name == explore::name_of(o)) return o;
  }
  throw config::ConfigError(
      fmt::format("--objective: found {}; allowed: cycles, energy, edp", config::in_quotes(name)));
}

std::string cost_text(Objective objective, double cost) {
  if (objective == Objective::kCycles) return report::with_commas(static_cast<unsigned long long>(cost));
  if (objective == Objective::kEnergy) return report::with_prefix(cost * 1e-12, "J");
  return report::with_prefix(cost, "Js");
}

std::string tiling_yaml(const explore::Problem& p, const explore::TuningResult& r, Objective objective) {
  std::string out =
      fmt::format("# {} under {} on {}: {} cycles, best of {} (search, objective {})\n", p.network.name(),
                  p.schedule.text, p.machine.name, report::with_commas(static_cast<unsigned long long>(r.best.cycles)),
                  r.is_complete ? "all tilings in the space" : fmt::format("{} tilings", r.log.size()),
                  explore::name_of(objective));
  for (const auto& [key, value] : job::tiling_text(r.best.schedule.tiling)) out += fmt::format("{}: {}\n", key, value);
  return out;
}

std::string to_json(const explore::Problem& p, const SearchArguments& a, const explore::TuningResult& r) {
  nlohmann::ordered_json j = report::json_document();
  j["hardware"] = p.machine.name;
  report::add_machine(j, config::machine_hash(p.machine), a.settings);
  j["network"] = p.network.name();
  j["dataflow"] = p.schedule.text;
  j["objective"] = a.objective;
  j["unit"] = explore::unit_of(objective_of(a.objective));
  j["strategy"] = a.strategy;
  j["seed"] = a.seed;
  j["best"] = r.best.cost.first;
  j["lower_bound"] = r.bound;
  j["gap"] = r.gap();
  j["complete"] = r.is_complete;
  j["cycles"] = static_cast<std::uint64_t>(r.best.cycles);
  j["energy_pj"] = r.best.energy_pj;
  for (const auto& [key, value] : job::tiling_text(r.best.schedule.tiling)) j["tiling"][key] = value;
  j["points"] = r.points;
  j["evaluations"] = r.log.size();
  j["interrupted"] = r.is_stopped;
  j["simulation"] = {{"wall_seconds", r.seconds}};
  return report::json_text(j);
}

std::string to_text(const explore::Problem& p, Objective objective, const explore::TuningResult& r) {
  std::string out;
  const auto line = [&out](const char* name, const std::string& value) {
    out += fmt::format("{:<13}{}\n", name, value);
  };
  line("machine", p.machine.name);
  line("network", p.network.name());
  line("dataflow", p.schedule.text);
  line("best found",
       fmt::format("{} {}", cost_text(objective, r.best.cost.first), objective == Objective::kCycles ? "cycles" : ""));
  if (r.bound > 0) line("lower bound", cost_text(objective, r.bound));
  line("gap", fmt::format("{}{}", r.bound > 0 ? fmt::format("{:.3f}%", 100 * r.gap()) : "unknown",
                          r.is_complete ? "; no tiling of the space is better (all were evaluated)" : ""));
  line("tiling", job::tiling_line(r.best.schedule.tiling));
  line("cycles", report::with_commas(static_cast<unsigned long long>(r.best.cycles)));
  line("energy", report::with_prefix(r.best.energy_pj * 1e-12, "J"));
  line("evaluations",
       fmt::format("{} of {} tilings, {:.0f}/s{}", r.log.size(), r.points,
                   static_cast<double>(r.log.size()) / r.seconds, r.is_stopped ? "; ended before its budget" : ""));
  return out;
}

explore::TuningOptions options_of(const SearchArguments& a) {
  explore::TuningOptions options;
  options.objective = objective_of(a.objective);
  options.strategy = a.strategy;
  options.seed = a.seed;
  options.jobs = a.jobs;
  options.evaluations = a.budget > 0 ? a.budget : a.strategy == "grid" ? UINT64_MAX : kDefaultBudget;
  return options;
}

std::string gap_text(double bound, double gap) { return bound > 0 ? fmt::format("{:.3f}%", 100 * gap) : "unknown"; }

std::string to_text(const Prepared& p, Objective objective, const explore::LayerSearch& all) {
  report::Table table;
  for (const char* title : {"operation", "dataflow"}) table.column(title, report::Table::Align::kLeft);
  for (const char* title : {"times", "best", "lower bound", "gap", "evaluations"}) table.column(title);
  table.column("tiling", report::Table::Align::kLeft);
  for (const explore::OperationSearch& o : all.operations) {
    const explore::TuningResult& r = o.result;
    table.row({p.network.scope == workload::Scope::kModel ? o.group + ", " + o.name : o.name, o.schedule.text,
               fmt::format("{}", o.times), cost_text(objective, r.best.cost.first),
               r.bound > 0 ? cost_text(objective, r.bound) : "", gap_text(r.bound, r.gap()),
               fmt::format("{} of {}{}", r.log.size(), r.points,
                           r.is_complete  ? ""
                           : r.is_stopped ? ", ended"
                                          : ""),
               job::tiling_line(r.best.schedule.tiling)});
  }
  table.row({"sum", "", "", cost_text(objective, all.best), all.bound > 0 ? cost_text(objective, all.bound) : "",
             gap_text(all.bound, all.gap()), "", ""});
  return fmt::format("{} on {}, least {}\n\n{}", p.network.name(), p.machine.name, explore::name_of(objective),
                     table.text(text::line_width()));
}

std::string to_json(const Prepared& p, const SearchArguments& a, const explore::LayerSearch& all) {
  nlohmann::ordered_json j = report::json_document();
  j["hardware"] = p.machine.name;
  report::add_machine(j, config::machine_hash(p.machine), a.settings);
  j["network"] = p.network.name();
  j["objective"] = a.objective;
  j["unit"] = explore::unit_of(objective_of(a.objective));
  j["strategy"] = a.strategy;
  j["seed"] = a.seed;
  j["best"] = all.best;
  j["lower_bound"] = all.bound;
  j["gap"] = all.gap();
  bool is_stopped = false;
  j["operations"] = nlohmann::ordered_json::array();
  for (const explore::OperationSearch& o : all.operations) {
    const explore::TuningResult& r = o.result;
    nlohmann::ordered_json one{{"group", o.group},
                               {"operation", o.name},
                               {"dataflow", o.schedule.text},
                               {"times", o.times},
                               {"best", r.best.cost.first},
                               {"lower_bound", r.bound},
                               {"gap", r.gap()},
                               {"complete", r.is_complete},
                               {"cycles", static_cast<std::uint64_t>(r.best.cycles)},
                               {"energy_pj", r.best.energy_pj},
                               {"points", r.points},
                               {"evaluations", r.log.size()}};
    for (const auto& [key, value] : job::tiling_text(r.best.schedule.tiling)) one["tiling"][key] = value;
    j["operations"].push_back(one);
    is_stopped = is_stopped || r.is_stopped;
  }
  j["interrupted"] = is_stopped;
  return report::json_text(j);
}

int search_layers(const SearchArguments& a, const Prepared& p) {
  for (const auto& [option, value] : {std::pair{"--csv", &a.csv}, {"--svg", &a.svg}, {"--save", &a.save}}) {
    if (value->empty()) continue;
    throw config::ConfigError(fmt::format("{} is for a single operation; {} has several", option, p.network.name()));
  }
  files::Outputs outputs;
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  const Interruption interruption;
  explore::LayerSearchOptions options{options_of(a), a.seconds, [] { return Interruption::happened(); }, {}};
  explore::LayerSearch all;
  {
    ProgressBar bar;
    options.progress = [&](const std::string& operation, const explore::TuningProgress& now) {
      bar.update(now.evaluations, now.budget == UINT64_MAX ? 0 : now.budget, operation);
    };
    all = explore::search_layers(p.machine, p.network, default_dataflow(a.dataflow, p.network, p.machine), p.energy,
                                 options);
  }
  const std::string json = to_json(p, a, all);
  config::note_machine(p.machine, a.settings);
  files::note("seed", fmt::format("{}", a.seed));
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  outputs.commit();
  print(a.json == "-" ? json : to_text(p, options.tuning.objective, all));
  return Interruption::happened() ? kInterruptedStatus : 0;
}

int search(const SearchArguments& a) {
  const Objective objective = objective_of(a.objective);
  const Prepared p = prepare(a);
  if (p.network.scope != workload::Scope::kAttention) return search_layers(a, p);
  const MachineConfig& machine = p.machine;
  const workload::Workload network = p.network.folded();
  const explore::Problem problem{
      machine, network, job::parse_dataflow(default_dataflow(a.dataflow, network, machine), p.firmware()), p.energy};
  files::Outputs outputs;
  files::Output* const csv_file = outputs.open("--csv", a.csv);
  files::Output* const svg_file = outputs.open("--svg", a.svg);
  files::Output* const tiling_file = outputs.open("--save", a.save);
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);

  explore::TuningOptions options = options_of(a);
  const Interruption interruption;
  const auto start = std::chrono::steady_clock::now();
  options.is_stopped = [&] {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return Interruption::happened() || (a.seconds > 0 && taken.count() > a.seconds);
  };
  explore::TuningResult result;
  {
    ProgressBar bar;
    options.progress = [&](const explore::TuningProgress& now) {
      const std::uint64_t total = now.budget == UINT64_MAX ? 0 : now.budget;
      bar.update(now.evaluations, total,
                 "best " + (now.least_cost < explore::kNoLimit ? cost_text(objective, now.least_cost) : "none"));
    };
    result = explore::search(problem, options);
  }
  const std::string json = to_json(problem, a, result);
  config::note_machine(machine, a.settings);
  files::note("tiling", job::tiling_line(result.best.schedule.tiling));
  files::note("seed", fmt::format("{}", a.seed));
  if (csv_file != nullptr) csv_file->write(explore::convergence_csv(result), files::Form::kCsv);
  if (svg_file != nullptr) {
    const std::string title =
        fmt::format("{}, {} on {}: {}", problem.network.name(), problem.schedule.text, machine.name, a.strategy);
    svg_file->write(explore::convergence_svg(result, objective, title), files::Form::kSvg);
  }
  if (tiling_file != nullptr) tiling_file->write(tiling_yaml(problem, result, objective), files::Form::kHash);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  outputs.commit();
  print(a.json == "-" ? json : to_text(problem, objective, result));
  return Interruption::happened() ? kInterruptedStatus : 0;
}

}  // namespace

void add_search(CLI::App& app, int& status) {
  const auto a = std::make_shared<SearchArguments>();
  CLI::App& command = *app.add_subcommand("search", "the best tiling for a layer on a machine");
  add_hardware(command, a->hardware);
  add_network(command, a->network);
  add_dataflow(command, a->dataflow, "dataflow[:option=value,...]");
  add_settings(command, a->settings);
  command.add_option("--objective", a->objective, "what is to be least")
      ->check(one_of({"cycles", "energy", "edp"}))
      ->capture_default_str();
  command.add_option("--strategy", a->strategy, "how to search")
      ->check(one_of({"descent", "grid", "ga", "mcts"}))
      ->capture_default_str();
  command.add_option("--budget", a->budget, "evaluations; 0: all for grid, 400 otherwise")
      ->check(whole_number())
      ->capture_default_str();
  unquoted(
      command.add_option("--jobs,-j", a->jobs,
                         "processes, of grid and ga; 0: as many as the host has processors. The result is the same"))
      ->check(within(0, 1024))
      ->capture_default_str();
  command.add_option("--time", a->seconds, "end after so many seconds with the best so far; 0: no limit")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command.add_option("--seed", a->seed, "seed")->check(whole_number())->capture_default_str();
  add_output(command, "--csv", a->csv, "write the convergence as CSV");
  add_output(command, "--svg", a->svg, "write the convergence as a plot");
  add_output(command, "--save", a->save, "write the best tiling, as --tiling reads it");
  add_json(command, a->json);
  add_memory_limit(command);
  command.callback([a, &status] { status = search(*a); });
}

}  // namespace attnvp::cli
