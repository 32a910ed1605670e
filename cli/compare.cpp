#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/prepared.h"
#include "cli/progress.h"
#include "explore/processes/processes.h"
#include "explore/tuning/tuner.h"
#include "firmware/runtime/dataflow.h"
#include "platform/config/error.h"
#include "platform/config/hardware.h"
#include "platform/config/operations.h"
#include "platform/files/outputs.h"
#include "platform/report/power.h"
#include "platform/report/report.h"
#include "platform/report/runs_csv.h"
#include "platform/text/complaint.h"

namespace attnvp::cli {

namespace {

using nlohmann::json;

// What a dataflow's process answers.
struct Outcome {
  report::ComparisonRow row;
  job::Result spent;     // name and energy alone
  std::string json;      // of the run
  std::string left_out;  // why it was not even begun
  std::string failed;    // why it did not end well
  bool wrong = false;    // `left_out` is about what the user gave
};

void to_json(json& j, const Outcome& o) {
  json energy = json::array();
  for (const job::CounterValue& c : o.spent.counters) {
    energy.push_back({c.component, c.action, c.energy_pj, c.low_pj, c.high_pj});
  }
  j = {o.row.cells, o.row.cycles, o.json, o.left_out, o.failed, o.wrong, o.spent.schedule.text, energy};
}
void from_json(const json& j, Outcome& o) {
  o.row = {j[0].get<std::vector<std::string>>(), j[1].get<std::uint64_t>()};
  o.json = j[2].get<std::string>();
  o.left_out = j[3].get<std::string>();
  o.failed = j[4].get<std::string>();
  o.wrong = j[5].get<bool>();
  o.spent.schedule.text = j[6].get<std::string>();
  for (const json& c : j[7]) {
    job::CounterValue& spent = o.spent.counters.emplace_back();
    spent.component = c[0].get<std::string>();
    spent.action = c[1].get<std::string>();
    spent.energy_pj = c[2].get<double>();
    spent.low_pj = c[3].get<double>();
    spent.high_pj = c[4].get<double>();
  }
}

Outcome run_one(const Prepared& p, const std::string& dataflow, const RunArguments& a, const job::Tensors* tensors) {
  Outcome outcome;
  try {
    job::Schedule schedule = job::parse_dataflow(dataflow);
    schedule.tiling = p.tiling;
    schedule = explore::tune(p.machine, p.network, schedule, p.energy, tuning_options(a));
    job::Runner runner(p.machine, p.energy, p.full);
    const job::Result result = runner.run(p.network, schedule, tensors, {});
    outcome.row = report::comparison_row(result);
    outcome.json = report::to_json(result, p.machine.name,
                                   {"", a.energy_range, a.settings, config::machine_hash(p.machine), a.seed});
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

// "a,b:x=1,y=2,c": a comma also parts a dataflow's options, which have a `=`.
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

}  // namespace

int compare(const RunArguments& a) {
  const Prepared p = prepare(a);
  config::refuse_scope(p.network);
  std::vector<std::string> names = names_in(a.dataflows);
  const bool all = names.empty();
  if (all) {
    for (const firmware::Dataflow* d : job::dataflows_for(p.network)) names.emplace_back(d->name);
  }
  for (const std::string& name : names) job::parse_dataflow(name);  // before anything is run
  files::Outputs outputs;
  files::Output* const csv_file = outputs.open("--csv", a.csv);
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);

  job::Tensors tensors;
  if (p.full) tensors = job::random_tensors(p.network, a.seed);
  const auto work = [&](std::size_t i) {
    return json(run_one(p, names[i], a, p.full ? &tensors : nullptr))
        .dump(-1, ' ', false, json::error_handler_t::replace);
  };
  std::vector<std::string> answers;
  {
    ProgressBar bar;
    const auto progress = [&](std::size_t done) { bar.update(done, names.size(), ""); };
    answers = explore::in_processes(names.size(), a.jobs, work, progress);
  }  // wipes the bar

  std::vector<Outcome> outcomes;
  std::string left_out, failures;
  bool wrong = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Outcome outcome;
    if (answers[i].empty()) {
      outcome.failed = fmt::format("{}: the process that ran it ended before its answer", names[i]);
    } else {
      json::parse(answers[i]).get_to(outcome);
    }
    const std::string& why = outcome.failed.empty() ? outcome.left_out : outcome.failed;
    std::string& list = outcome.failed.empty() && all ? left_out : failures;
    if (!why.empty()) list += (list.empty() ? "" : "; ") + why;
    wrong = wrong || outcome.wrong;
    if (!outcome.row.cells.empty()) outcomes.push_back(std::move(outcome));
  }
  if (outcomes.empty() && wrong) throw config::ConfigError(failures.empty() ? left_out : failures);
  if (outcomes.empty()) throw job::RunError(failures.empty() ? left_out : failures);
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [](const Outcome& x, const Outcome& y) { return x.row.cycles < y.row.cycles; });
  std::string runs;
  std::vector<std::string> reports;
  std::vector<report::ComparisonRow> rows;
  std::vector<job::Result> spent;
  for (const Outcome& outcome : outcomes) {
    runs += (runs.empty() ? "[\n" : ",\n") + outcome.json;
    reports.push_back(outcome.json);
    rows.push_back(outcome.row);
    spent.push_back(outcome.spent);
  }
  runs += "]\n";
  if (csv_file != nullptr) csv_file->write(report::runs_csv(reports), files::Form::kCsv);
  if (json_file != nullptr) json_file->write(runs, files::Form::kOwn);
  outputs.commit();
  std::string table = fmt::format("{} on {}\n\n{}", p.network.name, p.machine.name, report::comparison(rows));
  if (a.energy_range) table += "\n" + report::ranking_text(spent);
  std::fputs((a.json == "-" ? runs : table).c_str(), stdout);
  if (!left_out.empty()) text::complain("left out: " + left_out);
  if (!failures.empty()) throw job::RunError(failures);
  return 0;
}

}  // namespace attnvp::cli
