// `attnvp run`: runs a job on a machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/shared/findings.h"
#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "cli/shared/run_files.h"
#include "explore/analysis/advice.h"
#include "explore/layers/convergence.h"
#include "explore/layers/layers.h"
#include "explore/tuning/tuner.h"
#include "firmware/runtime/dataflow.h"
#include "models/memory/storage/host_memory.h"
#include "models/sim/module.h"
#include "platform/base/files.h"
#include "platform/base/npy/npy.h"
#include "platform/base/origin.h"
#include "platform/base/text.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"
#include "platform/report/json.h"
#include "platform/report/report.h"
#include "platform/run/job.h"
#include "platform/run/platform.h"
#include "platform/run/results/accounting.h"
#include "platform/trace/critical_path.h"

namespace attnvp::cli {

namespace {

using config::ConfigError;

struct RunArguments : JobArguments {
  std::string dataflow;
  TraceArguments trace;
  std::string q, k, v, out;  // .npy files
  bool no_advice = false;
  bool check = false;                   // run the schedule checker
  bool critical_path = false;           // add the longest chain of commands and waits
  std::optional<std::uint64_t> jitter;  // seed of random delays
  std::string action_counts;            // file in Accelergy's format
  std::string clusters;                 // clusters of the job; empty: all
  std::vector<std::string> beside;      // concurrent jobs
  JobOptions options;
};

// Loads one tensor of the layer; the batch dimension may be omitted if it is 1. K and V of ragged batches: [keys of all
// batches x heads, concatenated, emb].
std::vector<arith::Half> load_tensor(const char* option, const std::string& path, const workload::Attention& n,
                                     std::uint32_t heads, std::uint32_t seq, std::uint32_t emb) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);  // read_npy reports errors of the file
  const host_memory::MemoryShare briefly(fmt::format("{} {}", option, path), error ? 0 : size);
  tensors::Array array = tensors::read_npy(path);
  const bool flat = n.ragged() && seq == 0;
  const std::vector<std::size_t> full =
      flat ? std::vector<std::size_t>{static_cast<std::size_t>(n.key_elements() / n.emb), emb}
           : std::vector<std::size_t>{n.batch, heads, seq, emb};
  const std::vector<std::size_t> single{heads, seq, emb};
  if (array.shape != full && !(n.batch == 1 && array.shape == single)) {
    throw ConfigError(fmt::format("{} {}: found shape ({}); allowed is ({}){}", option, path,
                                  fmt::join(array.shape, ", "), fmt::join(full, ", "),
                                  n.batch == 1 ? fmt::format(" or ({})", fmt::join(single, ", ")) : ""));
  }
  const auto odd = std::find_if_not(array.half.begin(), array.half.end(), arith::is_finite);
  if (odd != array.half.end()) {
    std::vector<std::size_t> place(array.shape.size());
    auto left = static_cast<std::size_t>(odd - array.half.begin());
    for (std::size_t i = place.size(); i-- > 0; left /= array.shape[i]) place[i] = left % array.shape[i];
    throw ConfigError(fmt::format("{} {}: element [{}] is {}; allowed are finite numbers", option, path,
                                  fmt::join(place, ", "), (*odd & 0x3ffU) != 0 ? "NaN" : "infinite"));
  }
  return std::move(array.half);
}

job::Tensors make_tensors(const RunArguments& a, const workload::Workload& w) {
  if (!w.is_attention()) return job::random_tensors(w, a.seed);
  const workload::Attention& n = w.attention();
  job::Tensors t;
  if (a.q.empty() || a.k.empty() || a.v.empty()) t = job::random_tensors(w, a.seed);
  const std::uint32_t keys = n.ragged() ? 0 : n.seq_kv;
  if (!a.q.empty()) t.q = load_tensor("--q", a.q, n, n.heads, n.seq_q, n.emb);
  if (!a.k.empty()) t.k = load_tensor("--k", a.k, n, n.heads_of_kv(), keys, n.emb);
  if (!a.v.empty()) t.v = load_tensor("--v", a.v, n, n.heads_of_kv(), keys, n.values());
  return t;
}

// Path of a file relative to another file's folder; unchanged if that is no file.
std::string seen_from(const std::string& file, const std::string& path) {
  if (path.empty() || file.empty() || file == "-") return path;
  return std::filesystem::proximate(path, std::filesystem::absolute(file).parent_path()).string();
}

constexpr std::uint64_t kMostFindings = 20;

std::string title_of(const Prepared& p, const job::Schedule& schedule) {
  return fmt::format("{} on {}, {}", schedule.text, p.network.name(), p.machine.name);
}

// Runs the operations of a layer or model in sequence.
int run_layer(const RunArguments& a, const Prepared& p) {
  config::note_machine(p.machine, a.settings);
  files::note("seed", fmt::format("{}", a.seed));
  files::Outputs outputs;
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  explore::LayerOptions options{p.full, a.seed, p.tiling, tuning_options(a), 0, {}};
  explore::LayerRun run;
  {
    ProgressBar bar;
    options.progress = [&bar](std::size_t done, std::size_t all, const std::string& next) {
      bar.update(done, all, next);
    };
    run = explore::run_layer(p.machine, p.network,
                             a.dataflow == "auto" ? a.dataflow : default_dataflow(a.dataflow, p.network, p.machine),
                             p.energy, options);
  }
  if (!a.no_advice) {
    explore::try_advice(run.costliest().result, p.machine, p.energy, options.tuning);
  }
  const std::string json =
      explore::to_json(run, p.machine.name, config::machine_hash(p.machine), a.settings, a.energy_range);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  outputs.commit();
  print(a.json == "-" ? json : explore::to_text(run, p.machine.name, a.energy_range));
  int status = 0;
  for (const explore::GroupRun& g : run.groups) {
    for (const explore::OperationRun& o : g.operations) status = std::max(status, exit_status(o.result));
    for (const job::ChainResult& c : g.chain) {
      if (c.golden.passed) continue;
      text::complain(fmt::format("{}: golden check of the chain failed: {}", c.tensor, c.golden.to_string()));
      status = 1;
    }
  }
  return status;
}

int run(const RunArguments& a) {
  const Prepared p = prepare(a);
  const bool beside = !a.clusters.empty() || !a.beside.empty();
  a.options.check(kind_of(p.network) | (beside ? kBeside : 0U) | (a.requests.empty() ? 0U : kRequests) |
                  (p.full ? 0U : kTiming));
  if (beside) return run_side_by_side(a, p, a.dataflow, a.clusters, a.beside);
  if (p.network.scope != workload::Scope::kAttention) return run_layer(a, p);
  const std::string wanted = default_dataflow(a.dataflow, p.network, p.machine);
  explore::Portfolio picked;
  // A debugged firmware run shows no progress line on stderr.
  std::optional<Waiting> waiting;
  if (a.trace.gdb_port < 0) waiting.emplace(fmt::format("{} with {} on {}", p.network.name(), wanted, p.machine.name));
  const explore::TuningOptions tuning = tuning_options(a);
  job::Schedule schedule;
  if (wanted == "auto") {
    schedule.tiling = p.tiling;
    picked = explore::pick_dataflow({p.machine, p.network, schedule, p.energy}, tuning);
    schedule = picked.best().schedule;
  } else {
    schedule = tuned(p.machine, p.network, p.energy, wanted, p.tiling, tuning);
  }
  job::Tensors tensors;
  if (p.full) tensors = make_tensors(a, p.network);
  config::note_machine(p.machine, a.settings);
  files::note("seed", fmt::format("{}", a.seed));
  files::Outputs outputs;  // after all inputs are known
  TraceFiles trace(a.trace, p.machine.clock_hz, outputs);
  FirmwareFiles firmware(a.trace, p.machine.clock_hz, outputs);
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  files::Output* const out_file = outputs.open("--out", a.out);
  files::Output* const counts_file = outputs.open("--action-counts", a.action_counts);

  job::RunOptions options;
  options.trace = trace.session();
  options.watch = firmware.watch();
  job::Runner runner(p.machine, p.energy, p.full);
  Context& context = runner.platform().context();
  if (a.jitter) context.jitter = std::make_unique<Jitter>(*a.jitter, context.clock.period_fs());
  CommandTrace commands;
  if (a.critical_path && options.trace == nullptr) context.command_trace = &commands;
  std::optional<RunCheck> check;
  if (a.check) check.emplace(runner, p.network, schedule);
  job::RunResult result;
  try {
    result = runner.run(p.network, schedule, p.full ? &tensors : nullptr, options);
    waiting.reset();
  } catch (const job::StoppedError& e) {
    waiting.reset();
    if (check) {
      const schedule::check::Report findings = check->examine();
      print(findings_text(findings, kMostFindings));
      if (options.trace != nullptr) options.trace->mark(marks_of(findings));
    }
    files::note("tiling", job::tiling_line(schedule.tiling));
    trace.write();
    firmware.write(title_of(p, schedule));
    outputs.commit();
    throw job::RunError(e.what() + trace.where());
  }

  std::string path_text;
  nlohmann::ordered_json path_json;
  if (a.critical_path) {
    constexpr std::size_t kMostSteps = 20;
    const CommandTrace& trace_of_run = options.trace == nullptr ? commands : options.trace->commands();
    const trace::CriticalPath path =
        trace::critical_path(trace_of_run, context.signallers, 0, result.cycles, result.cycles);
    path_text = trace::to_text(path, trace_of_run, kMostSteps);
    path_json = trace::to_json(path, trace_of_run, kMostSteps);
    context.command_trace = nullptr;
  }
  schedule::check::Report findings;
  if (check) {
    findings = check->examine();
    if (options.trace != nullptr) options.trace->mark(marks_of(findings));
  }
  files::note("tiling", job::tiling_line(result.schedule.tiling));
  trace.write();
  firmware.write(title_of(p, schedule));
  // Simulates, so the platform's state is not used afterwards. Random delays would distort the comparison.
  if (!a.no_advice && !a.jitter) explore::try_advice(result, p.machine, p.energy, tuning);
  const auto json_text = [&] {
    report::JsonParts parts{seen_from(a.json, a.trace.timeline), a.energy_range, a.settings,
                            config::machine_hash(p.machine), a.seed};
    parts.least_cycles = picked.least_cycles;
    for (std::size_t i = 1; i < picked.candidates.size(); ++i) {
      const explore::Evaluation& c = picked.candidates[i];
      parts.beaten.push_back({c.schedule.text, c.cycles, c.is_whole ? static_cast<std::uint64_t>(c.cycles) : 0});
    }
    const std::string json = report::to_json(result, p.machine.name, parts);
    if (!check && !a.critical_path) return json;
    auto whole = nlohmann::ordered_json::parse(json);
    if (check) whole["check"] = findings_json(findings, kMostFindings);
    if (a.critical_path) whole["critical_path"] = path_json;
    return report::json_text(whole);
  };
  const std::string json = a.json.empty() ? "" : json_text();
  if (counts_file != nullptr) counts_file->write(report::action_counts_yaml(result), files::Form::kHash);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  if (out_file != nullptr) {
    const workload::Extents e = p.network.extents();
    const workload::Gemm* const g = p.network.gemm();
    const std::uint32_t width = g != nullptr               ? g->result_columns()
                                : p.network.is_attention() ? p.network.attention().values()
                                                           : e.seq_kv;
    out_file->write(tensors::npy_bytes({{e.batch, e.heads, e.seq_q, width}, result.output}), files::Form::kOwn);
  }
  outputs.commit();
  const std::string table = report::to_text(result, p.machine.name) +
                            (picked.candidates.empty() ? "" : "\nauto: " + explore::gains_text(picked) + "\n") +
                            (a.energy_range ? "\n" + report::energy_range_text(result) : "") +
                            (a.critical_path ? "\n" + path_text : "") +
                            (check ? "\ncheck: " + findings_text(findings, kMostFindings) : "");
  print(a.json == "-" ? json : table);
  return std::max(exit_status(result), findings.findings.empty() ? 0 : 1);
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  const auto a = std::make_shared<RunArguments>();
  CLI::App& command = *app.add_subcommand("run", "run one layer with one dataflow on one machine");
  add_job_options(command, *a);
  add_simulation_options(command, *a);
  add_dataflow(command, a->dataflow,
               "dataflow[:option=value,...], see `attnvp list dataflows`; auto picks the fastest");
  a->options.valid_for(
      kAttention, {
                      add_text(command, "--q", a->q, "Q from a .npy file, [B,H,N,E] or [H,N,E], float16 or float32"),
                      add_text(command, "--k", a->k, "K likewise"),
                      add_text(command, "--v", a->v, "V likewise"),
                  });
  a->options.valid_for(kOperation, {add_output(command, "--out", a->out, "write O to a .npy file (float16)")});
  add_trace_options(command, a->options, a->trace);
  a->options.valid_for(
      kOperation | kRequests | kTiming,
      {
          command.add_flag(
              "--check", a->check,
              "examine the commands: whether they do the same whatever takes how long, see `attnvp check`"),
          command
              .add_option("--jitter", a->jitter,
                          "random extra delays of that seed wherever hardware may take longer; they must not change "
                          "the output")
              ->check(whole_number()),
          command.add_flag("--critical-path", a->critical_path,
                           "add the longest chain of commands and waits, see `attnvp explain`"),
          add_output(command, "--action-counts", a->action_counts, "write action counts in Accelergy's form (YAML)"),
      });
  a->options.valid_for(kOperation | kLayers | kRequests | kTiming, {add_energy_range(command, *a)});
  command.add_flag("--no-advice", a->no_advice,
                   "do not look for what would make the job faster: no further runs that try it");
  add_text(command, "--clusters", a->clusters, "clusters that the job has, such as 0-1; all, if none are named");
  add_list(command, "--beside", a->beside,
           "another job at the same time, on clusters of its own: "
           "'net=vit-b-16 dataflow=flat clusters=2 [tiling=...] [seed=...]'; repeat for more")
      ->check(not_empty());
  add_cycle_limit(command, *a, "twenty billion, and a thousand times what the layer takes at best");
  command.callback([a, &status] { status = run(*a); });
}

}  // namespace attnvp::cli
