// `attnvp compare`: one layer with several dataflows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "explore/layers/layers.h"
#include "explore/processes/processes.h"
#include "explore/tuning/tuner.h"
#include "firmware/runtime/dataflow.h"
#include "models/control/config.h"
#include "platform/base/files.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/words.h"
#include "platform/report/page/page.h"
#include "platform/report/report.h"
#include "platform/run/results/accounting.h"
#include "platform/schedule/demand.h"
#include "platform/schedule/programs.h"
#include "platform/workload/workload.h"

namespace attnvp::cli {

namespace {

using nlohmann::json;

struct CompareArguments : JobArguments {
  std::vector<std::string> dataflows;  // empty: all
  unsigned jobs = 0;                   // processes; 0: one for each host processor
  std::string csv;                     // one row for each run
  std::string html;                    // a page with charts
  bool tilings = false;                // print tile sizes
};

// Result of a dataflow's process.
struct DataflowOutcome {
  report::ComparisonRow row;
  job::RunResult spent;  // name and energy only
  std::string json;      // of the run
  std::string left_out;  // why it was not started
  std::string failed;    // why it failed
  bool wrong = false;    // `left_out` is a user error
};

void to_json(json& j, const DataflowOutcome& o) {
  json energy = json::array();
  for (const job::CounterValue& c : o.spent.counters) {
    energy.push_back({c.component, c.action, c.energy_pj, c.low_pj, c.high_pj});
  }
  j = {o.row, o.json, o.left_out, o.failed, o.wrong, o.spent.schedule.text, energy};
}
void from_json(const json& j, DataflowOutcome& o) {
  j[0].get_to(o.row);
  o.json = j[1].get<std::string>();
  o.left_out = j[2].get<std::string>();
  o.failed = j[3].get<std::string>();
  o.wrong = j[4].get<bool>();
  o.spent.schedule.text = j[5].get<std::string>();
  for (const json& c : j[6]) {
    job::CounterValue& spent = o.spent.counters.emplace_back();
    spent.component = c[0].get<std::string>();
    spent.action = c[1].get<std::string>();
    spent.energy_pj = c[2].get<double>();
    spent.low_pj = c[3].get<double>();
    spent.high_pj = c[4].get<double>();
  }
}

// A dataflow and the machine whose firmware contains it.
struct ComparedDataflow {
  std::string dataflow;
  const MachineConfig* machine;
};

DataflowOutcome run_one(const Prepared& p, const ComparedDataflow& entry, const CompareArguments& a,
                        const explore::TuningOptions& tuning, const job::Tensors* tensors) {
  const auto& [dataflow, of_entry] = entry;
  const MachineConfig& machine = *of_entry;
  DataflowOutcome outcome;
  try {
    job::RunResult result;
    if (p.network.scope != workload::Scope::kAttention) {
      explore::LayerOptions options;
      options.full = p.full;
      options.seed = a.seed;
      options.tiling = p.tiling;
      options.tuning = tuning;
      result = explore::combined(explore::run_layer(machine, p.network, dataflow, p.energy, options));
    } else {
      const job::Schedule schedule = tuned(machine, p.network, p.energy, dataflow, p.tiling, tuning);
      job::Runner runner(machine, p.energy, p.full);
      result = runner.run(p.network, schedule, tensors, {});
      result.bound.advice = job::advice_for(result, machine);
    }
    outcome.row = report::comparison_row(result);
    outcome.json =
        report::to_json(result, machine.name, {"", a.energy_range, a.settings, config::machine_hash(machine), a.seed});
    outcome.spent.schedule.text = result.schedule.text;
    outcome.spent.counters = result.counters;
    if (result.golden_checked && !result.golden.passed) {
      outcome.failed = fmt::format("{}: golden check failed: {}", dataflow, result.golden.to_string());
    }
  } catch (const job::StoppedError& problem) {
    outcome.failed = problem.what();
  } catch (const job::RunError& problem) {
    outcome.left_out = problem.what();
  } catch (const config::ConfigError& problem) {
    outcome.left_out = problem.what();
    outcome.wrong = true;
  }
  return outcome;
}

// Splits "a,b:x=1,y=2,c": commas also separate a dataflow's options, which contain '='.
std::vector<std::string> names_in(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    std::size_t from = 0;
    bool options = false;
    while (from <= text.size()) {
      const std::size_t end = std::min(text.find(',', from), text.size());
      const std::string piece = text.substr(from, end - from);
      const bool option = piece.find('=') != std::string::npos && piece.find(':') == std::string::npos;
      if (option && options) {
        names.back() += "," + piece;
      } else {
        names.push_back(piece);
        options = piece.find(':') != std::string::npos;
      }
      from = end + 1;
    }
  }
  return names;
}

// Machine of each dataflow. Names in the machine's own firmware use it; other names use the shipped firmware on the
// same processors. `given`: names come from the user; names in both firmwares are reported.
std::vector<ComparedDataflow> entries_of(const std::vector<std::string>& names, bool given, const MachineConfig& own,
                                         const MachineConfig& shipped) {
  const auto known = [](const MachineConfig& machine) {
    std::vector<std::string> known_names;
    for (const firmware::Dataflow* d : schedule::firmware_of(machine).dataflows()) known_names.emplace_back(d->name);
    return known_names;
  };
  const std::string& elf = own.own<RiscvConfig>().firmware;
  const bool two = own.control.cpu == "riscv" && elf != RiscvConfig::kShipped;
  const std::vector<std::string> of_shipped = two ? known(shipped) : std::vector<std::string>(), of_own = known(own);
  std::vector<ComparedDataflow> entries;
  std::string both;
  for (const std::string& text : names) {
    const std::string name = text.substr(0, text.find(':'));
    const auto has = [&name](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), name) != list.end();
    };
    if (!has(of_own) && !has(of_shipped)) {
      std::vector<std::string> all = of_own;
      all.insert(all.end(), of_shipped.begin(), of_shipped.end());
      throw config::ConfigError(fmt::format("dataflow {} is unknown{}", config::in_quotes(name),
                                            config::hint(name, all, "attnvp list dataflows")));
    }
    if (!has(of_own)) config::check_machine(shipped, {fmt::format("--dataflow {}", name)});
    if (has(of_own) && has(of_shipped)) both += (both.empty() ? "" : ", ") + name;
    entries.push_back({text, has(of_own) ? &own : &shipped});
    job::parse_dataflow(text, schedule::firmware_of(*entries.back().machine));  // checks the options before the runs
  }
  if (given && !both.empty()) {
    text::complain(fmt::format("--dataflow {} runs from {}; the shipped firmware has that name, too", both, elf));
  }
  return entries;
}

// Indices of dataflows, by process. Those whose first schedules issue the same commands share their runs.
std::vector<std::vector<std::size_t>> groups_of(const Prepared& p, const std::vector<ComparedDataflow>& entries) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::uint64_t, std::size_t> known;  // digest of the commands to the group
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const MachineConfig& machine = *entries[i].machine;
    groups.push_back({i});
    if (p.network.scope != workload::Scope::kAttention) continue;
    try {
      job::Schedule schedule = job::parse_dataflow(entries[i].dataflow, schedule::firmware_of(machine));
      schedule.tiling = p.tiling;
      schedule = explore::first_fit({machine, p.network, schedule, p.energy});
      const schedule::Job job = job::make_job(machine, p.network, schedule);
      const std::uint64_t digest = schedule::stream_demand(job, machine).digest;
      const auto [group, is_new] = known.try_emplace(digest, groups.size() - 1);
      if (is_new) continue;
      groups.pop_back();
      groups[group->second].push_back(i);
    } catch (const std::runtime_error&) {  // reported by its run
    }
  }
  return groups;
}

// Merges dataflows with equal cycles and counters: "lean = flash3".
std::vector<DataflowOutcome> merge_equal(const std::vector<DataflowOutcome>& outcomes) {
  std::vector<DataflowOutcome> merged;
  std::vector<json> counters;
  for (const DataflowOutcome& outcome : outcomes) {
    json own = json::parse(outcome.json)["counters"];
    std::size_t i = 0;
    while (i < merged.size() && (merged[i].row.cycles != outcome.row.cycles || counters[i] != own)) ++i;
    if (i == merged.size()) {
      merged.push_back(outcome);
      counters.push_back(std::move(own));
    } else {
      merged[i].row.dataflow += " = " + outcome.row.dataflow;
      merged[i].spent.schedule.text = merged[i].row.dataflow;
    }
  }
  return merged;
}

int compare(const CompareArguments& a) {
  const Prepared p = prepare(a);
  std::vector<std::string> names = names_in(a.dataflows);
  const bool all = names.empty();
  if (all) {
    for (const firmware::Dataflow* d : job::dataflows_for(p.network, schedule::firmware_of(p.machine)))
      names.emplace_back(d->name);
  }
  MachineConfig shipped = p.machine;
  shipped.own<RiscvConfig>().firmware = RiscvConfig::kShipped;
  const std::vector<ComparedDataflow> entries = entries_of(names, !all, p.machine, shipped);
  files::Outputs outputs;
  files::Output* const csv_file = outputs.open("--csv", a.csv);
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  files::Output* const html_file = outputs.open("--html", a.html);

  job::Tensors tensors;
  const bool is_attention = p.network.scope == workload::Scope::kAttention;
  if (p.full && is_attention) tensors = job::random_tensors(p.network, a.seed);
  explore::TuningOptions tuning = tuning_options(a);
  tuning.simulated = std::make_shared<job::SimulatedJobs>();  // dataflows may issue the same commands
  const std::vector<std::vector<std::size_t>> groups = groups_of(p, entries);
  const auto work = [&](std::size_t group) {
    json outcomes;
    for (const std::size_t i : groups[group]) {
      outcomes.push_back(run_one(p, entries[i], a, tuning, p.full && is_attention ? &tensors : nullptr));
    }
    return outcomes.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  std::vector<std::string> answers;
  {
    ProgressBar bar;
    const auto progress = [&](std::size_t done, std::size_t, const std::string&) {
      bar.update(done, groups.size(), "");
    };
    answers = explore::in_processes(groups.size(), a.jobs, work, progress);
  }  // clears the line

  std::vector<DataflowOutcome> answered(names.size()), outcomes;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const json answer = answers[group].empty() ? json() : json::parse(answers[group]);
    for (std::size_t k = 0; k < groups[group].size(); ++k) {
      const std::size_t i = groups[group][k];
      if (answer.is_null()) {
        answered[i].failed = fmt::format("{}: the process that ran it ended before its answer", names[i]);
      } else {
        answer[k].get_to(answered[i]);
      }
    }
  }
  std::string left_out, failures;
  bool wrong = false;
  for (DataflowOutcome& outcome : answered) {
    const std::string& why = outcome.failed.empty() ? outcome.left_out : outcome.failed;
    std::string& list = outcome.failed.empty() && all ? left_out : failures;
    if (!why.empty()) list += (list.empty() ? "" : "; ") + why;
    wrong = wrong || outcome.wrong;
    if (outcome.row.cycles > 0) outcomes.push_back(std::move(outcome));
  }
  if (outcomes.empty() && wrong) throw config::ConfigError(failures.empty() ? left_out : failures);
  if (outcomes.empty()) throw job::RunError(failures.empty() ? left_out : failures);
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [](const DataflowOutcome& x, const DataflowOutcome& y) { return x.row.cycles < y.row.cycles; });
  std::string runs;
  std::vector<std::string> reports;
  for (const DataflowOutcome& outcome : outcomes) {
    runs += (runs.empty() ? "[\n" : ",\n") + outcome.json;
    reports.push_back(outcome.json);
  }
  runs += "]\n";
  if (csv_file != nullptr) csv_file->write(report::runs_csv(reports), files::Form::kCsv);
  if (json_file != nullptr) json_file->write(runs, files::Form::kOwn);
  if (html_file != nullptr) {
    std::vector<nlohmann::ordered_json> runs_of_page;
    runs_of_page.reserve(reports.size());
    for (const std::string& report : reports) runs_of_page.push_back(nlohmann::ordered_json::parse(report));
    html_file->write(report::page(std::move(runs_of_page)), files::Form::kHtml);
  }
  outputs.commit();
  std::vector<report::ComparisonRow> rows;
  std::vector<job::RunResult> spent;
  for (const DataflowOutcome& outcome : merge_equal(outcomes)) {
    rows.push_back(outcome.row);
    spent.push_back(outcome.spent);
  }
  std::string table =
      fmt::format("{} on {}\n\n{}", p.network.name(), p.machine.name, report::comparison(rows, a.tilings));
  if (!a.html.empty()) table += fmt::format("report page: {}\n", text::printable(a.html));
  if (a.energy_range) table += "\n" + report::ranking_text(spent);
  print(a.json == "-" ? runs : table);
  if (!left_out.empty()) text::complain("left out: " + left_out);
  if (!failures.empty()) throw job::RunError(failures);
  return 0;
}

}  // namespace

void add_compare(CLI::App& app, int& status) {
  const auto a = std::make_shared<CompareArguments>();
  CLI::App& command = *app.add_subcommand("compare", "one layer under several dataflows, one line each");
  add_job_options(command, *a);
  add_simulation_options(command, *a);
  add_list(command, "--dataflow", a->dataflows, "dataflows, by commas or repeated (default: all that fit)");
  unquoted(command.add_option("--jobs,-j", a->jobs, "processes; 0: as many as the host has processors"))
      ->check(within(0, 1024))
      ->capture_default_str();
  add_output(command, "--csv", a->csv, "write a table with a row a dataflow, all values as columns");
  add_output(command, "--html", a->html, "write a page with charts of the runs, to open in a browser");
  command.add_flag("--tilings", a->tilings, "print the tile sizes of each dataflow");
  add_energy_range(command, *a);
  command.callback([a, &status] { status = compare(*a); });
}

}  // namespace attnvp::cli
