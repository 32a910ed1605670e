#include "platform/run/beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "cli/shared/job.h"
#include "cli/shared/progress.h"
#include "explore/tuning/tuner.h"
#include "platform/base/files.h"
#include "platform/base/origin.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/machine/provenance.h"
#include "platform/machine/words.h"
#include "platform/report/report.h"

namespace attnvp::cli {

namespace {

using config::ConfigError;

// Request for one of the jobs.
struct Asked {
  workload::Workload network;
  std::string dataflow, tiling;  // as on the command line
  job::ClusterRange clusters;
  std::uint64_t seed = 1;
};

// "net=vit-b-16 dataflow=flat clusters=2"; missing keys are those of `run`.
Asked parse_beside(const std::string& text, const JobArguments& a) {
  static const std::vector<std::string> kKeys = {"net", "dataflow", "tiling", "clusters", "seed"};
  const config::Origin origin = config::option_origin("--beside", text);
  std::vector<std::string> values(kKeys.size());
  for (std::size_t at = text.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = text.find_first_not_of(' ', end);
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string key = word.substr(0, equals);
    const auto known = std::find(kKeys.begin(), kKeys.end(), key);
    if (known == kKeys.end()) {
      config::fail(origin, fmt::format("key {} is unknown{}", config::in_quotes(key), config::hint(key, kKeys)));
    }
    std::string& value = values[static_cast<std::size_t>(known - kKeys.begin())];
    if (equals + 1 >= word.size()) config::fail(origin, fmt::format("key '{}' has no value", key));
    if (!value.empty()) config::fail(origin, fmt::format("key '{}' is given twice", key));
    value = word.substr(equals + 1);
  }
  Asked asked;
  asked.seed = a.seed;
  if (const std::string& seed = values[4]; !seed.empty()) {
    const auto [stop, error] = std::from_chars(seed.data(), seed.data() + seed.size(), asked.seed);
    if (error != std::errc() || stop != seed.data() + seed.size()) {
      config::fail(origin, fmt::format("seed: found {}; allowed is a whole number", config::in_quotes(seed)));
    }
  }
  if (values[0].empty()) config::fail(origin, "net is missing: the job's layer");
  if (values[3].empty()) config::fail(origin, "clusters is missing: which of them the job has, such as clusters=2");
  asked.network = workload::load(values[0]);
  asked.dataflow = values[1];
  asked.tiling = values[2];
  asked.clusters = job::parse_clusters(values[3]);
  return asked;
}

job::Schedule schedule_of(const Asked& asked, const job::MachinePart& part, const config::EnergyTable& energy,
                          explore::TuningOptions tuning) {
  const std::string wanted = default_dataflow(asked.dataflow, asked.network, part.machine);
  const bool searched = asked.tiling == "auto";
  if (searched) tuning.search_longer();
  const schedule::FirmwareImage& firmware = schedule::firmware_of(part.machine);
  const job::Tiling tiling = searched ? job::Tiling(firmware) : job::parse_tiling(asked.tiling, firmware);
  if (wanted == "auto") {
    explore::Problem problem{part.machine, asked.network, {}, energy};
    problem.schedule.tiling = tiling;
    return explore::pick_dataflow(problem, tuning).best().schedule;
  }
  return tuned(part.machine, asked.network, energy, wanted, tiling, tuning);
}

}  // namespace

int run_side_by_side(const JobArguments& a, const Prepared& p, const std::string& dataflow,
                     const std::string& clusters_text, const std::vector<std::string>& beside) {
  if (clusters_text.empty()) throw ConfigError("--beside needs --clusters: which ones the first job has, such as 0-1");
  std::vector<Asked> asked = {{p.network, dataflow, a.tiling, job::parse_clusters(clusters_text), a.seed}};
  for (const std::string& text : beside) asked.push_back(parse_beside(text, a));
  std::vector<job::ClusterRange> clusters;
  for (const Asked& job : asked) clusters.push_back(job.clusters);
  const std::vector<job::MachinePart> parts = job::parts_of(p.machine, clusters);
  config::note_machine(p.machine, a.settings);
  files::note("seed", fmt::format("{}", a.seed));
  files::Outputs outputs;
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  job::SideBySide all;
  {
    const Waiting waiting(fmt::format("{} jobs side by side on {}", asked.size(), p.machine.name));
    std::vector<job::Neighbour> jobs;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      jobs.push_back({asked[i].network, schedule_of(asked[i], parts[i], p.energy, tuning_options(a)), {}});
      if (p.full) jobs.back().tensors = job::random_tensors(asked[i].network, asked[i].seed);
    }
    all = job::run_beside(p.machine, p.energy, p.full, parts, jobs);
  }
  report::JsonParts more;
  more.overrides = a.settings;
  more.machine_hash = config::machine_hash(p.machine);
  const std::string json = report::to_json(all, p.machine.name, more);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  outputs.commit();
  print(a.json == "-" ? json : report::to_text(all, p.machine.name));
  int status = 0;
  for (const job::NeighbourResult& job : all.jobs) status = std::max(status, exit_status(job.result));
  return status;
}

}  // namespace attnvp::cli
