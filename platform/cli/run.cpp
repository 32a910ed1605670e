#include <fmt/format.h>

#include <cstdio>

#include "firmware/dataflows/dataflows.h"
#include "platform/cli/commands.h"
#include "platform/config/error.h"
#include "platform/config/hardware.h"
#include "platform/job/job.h"
#include "platform/report/report.h"
#include "platform/tensors/atomic_file.h"
#include "platform/tensors/npy.h"

namespace attnvp::cli {

namespace {

using config::ConfigError;

// One tensor of the layer from a file; the batch dimension may be left out when it is 1.
std::vector<arith::Half> load_tensor(const char* option, const std::string& path, const config::Network& n,
                                     std::uint32_t seq) {
  tensors::Array array = tensors::read_npy(path);
  const std::vector<std::size_t> full{n.batch, n.heads, seq, n.emb};
  const std::vector<std::size_t> single{n.heads, seq, n.emb};
  if (array.shape != full && !(n.batch == 1 && array.shape == single)) {
    throw ConfigError(fmt::format("{} {}: found shape ({}); allowed is ({}){}", option, path,
                                  fmt::join(array.shape, ", "), fmt::join(full, ", "),
                                  n.batch == 1 ? fmt::format(" or ({})", fmt::join(single, ", ")) : ""));
  }
  return std::move(array.half);
}

job::Tensors make_tensors(const RunArguments& a, const config::Network& n) {
  job::Tensors t;
  if (a.q.empty() || a.k.empty() || a.v.empty()) t = job::random_tensors(n, a.seed);
  if (!a.q.empty()) t.q = load_tensor("--q", a.q, n, n.seq_q);
  if (!a.k.empty()) t.k = load_tensor("--k", a.k, n, n.seq_kv);
  if (!a.v.empty()) t.v = load_tensor("--v", a.v, n, n.seq_kv);
  return t;
}

struct Prepared {
  MachineConfig machine;
  config::Network network;
  config::EnergyTable energy;
  hal::Tiling tiling{};
  bool full = true;
};

Prepared prepare(const RunArguments& a) {
  Prepared p;
  p.machine = config::load_hardware(a.hardware, a.settings);
  p.network = config::load_network(a.network);
  p.energy = config::load_energy(p.machine.energy);
  p.tiling = job::parse_tiling(a.tiling);
  p.full = a.data == "full";
  return p;
}

void write_json(const std::string& destination, const std::string& json) {
  if (destination == "-") {
    std::fwrite(json.data(), 1, json.size(), stdout);
  } else {
    tensors::write_file_atomically(destination, json);
  }
}

int exit_status(const job::Result& r) { return r.golden_checked && !r.golden.passed ? 1 : 0; }

}  // namespace

int run(const RunArguments& a) {
  const Prepared p = prepare(a);
  job::Schedule schedule = job::parse_dataflow(a.dataflows.front());
  schedule.tiling = p.tiling;
  if (!p.full) {
    for (const auto& [option, value] : {std::pair{"--q", &a.q}, {"--k", &a.k}, {"--v", &a.v}, {"--out", &a.out}}) {
      if (!value->empty()) throw ConfigError(fmt::format("{} needs --data full: timing moves no tensors", option));
    }
  }
  // Open the outputs first: a path that cannot be written should not cost a simulation.
  std::unique_ptr<tensors::AtomicFile> vcd_file;
  if (!a.vcd.empty()) vcd_file = std::make_unique<tensors::AtomicFile>(a.vcd);
  if (!a.out.empty()) tensors::AtomicFile{a.out};
  if (!a.json.empty() && a.json != "-") tensors::AtomicFile{a.json};

  job::Tensors tensors;
  if (p.full) tensors = make_tensors(a, p.network);
  std::string waveform;
  job::RunOptions options;
  if (vcd_file) options.vcd = &waveform;
  job::Runner runner(p.machine, p.energy, p.full);
  const job::Result result = runner.run(p.network, schedule, p.full ? &tensors : nullptr, options);

  if (!a.json.empty()) write_json(a.json, report::to_json(result, p.machine.name));
  if (a.json != "-") std::fputs(report::to_text(result, p.machine.name).c_str(), stdout);
  if (vcd_file) {
    vcd_file->write(waveform);
    vcd_file->commit();
  }
  if (!a.out.empty()) {
    const config::Network& n = p.network;
    tensors::write_npy(a.out, {{n.batch, n.heads, n.seq_q, n.emb}, result.output});
  }
  if (exit_status(result) != 0) std::fprintf(stderr, "attnvp: golden check failed: %s\n", result.golden.to_string().c_str());
  return exit_status(result);
}

int compare(const RunArguments& a) {
  const Prepared p = prepare(a);
  std::vector<std::string> names = a.dataflows;
  for (const firmware::Dataflow* const* d = firmware::kDataflows; a.dataflows.empty() && *d != nullptr; ++d) {
    names.emplace_back((*d)->name);
  }
  std::vector<job::Schedule> schedules;
  for (const std::string& name : names) {
    schedules.push_back(job::parse_dataflow(name));
    schedules.back().tiling = p.tiling;
  }
  if (!a.json.empty() && a.json != "-") tensors::AtomicFile{a.json};

  job::Tensors tensors;
  if (p.full) tensors = job::random_tensors(p.network, a.seed);
  job::Runner runner(p.machine, p.energy, p.full);
  std::vector<job::Result> results;
  int status = 0;
  std::string json;
  for (const job::Schedule& schedule : schedules) {
    results.push_back(runner.run(p.network, schedule, p.full ? &tensors : nullptr, {}));
    if (exit_status(results.back()) != 0) status = 1;
    json += (json.empty() ? "[\n" : ",\n") + report::to_json(results.back(), p.machine.name);
  }
  if (!a.json.empty()) write_json(a.json, json + "]\n");
  if (a.json != "-") {
    std::fputs(fmt::format("{} on {}\n\n{}", p.network.name, p.machine.name, report::comparison(results)).c_str(), stdout);
  }
  return status;
}

}  // namespace attnvp::cli
