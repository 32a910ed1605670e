// `attnvp run` of a whole layer or model: its operations one after the other.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/firmware.h"
#include "cli/prepared.h"
#include "cli/progress.h"
#include "explore/layers/layers.h"
#include "platform/config/error.h"
#include "platform/config/provenance.h"
#include "platform/files/origin.h"
#include "platform/files/outputs.h"
#include "platform/text/complaint.h"

namespace attnvp::cli {

int run_layer(const RunArguments& a, const Prepared& p) {
  const std::string none;
  for (const auto& [option, value] : {std::pair{"--q", &a.q},
                                      {"--k", &a.k},
                                      {"--v", &a.v},
                                      {"--out", &a.out},
                                      {"--vcd", &a.vcd},
                                      {"--timeline", &a.timeline},
                                      {"--profile", &a.profile},
                                      {"--instruction-trace", &a.instruction_trace},
                                      {"--action-counts", &a.action_counts},
                                      {"--gdb", a.gdb_port >= 0 ? &a.network : &none},
                                      {"--energy-range", a.energy_range ? &a.network : &none}}) {
    if (!value->empty()) {
      throw config::ConfigError(
          fmt::format("{} is for a single operation; a layer's are gemm:ROWSxCOLUMNSxDEPTH and "
                      "its attention",
                      option));
    }
  }
  config::note_machine(p.machine, a.settings);
  files::note("seed", fmt::format("{}", a.seed));
  files::Outputs outputs;
  files::Output* const json_file = outputs.open_or_stdout("--json", a.json);
  explore::LayerOptions options{p.full, a.seed, p.tiling, tuning_options(a), {}};
  explore::LayerRun run;
  {
    ProgressBar bar;
    options.progress = [&bar](std::size_t done, std::size_t all, const std::string& next) {
      bar.update(done, all, next);
    };
    const std::string& dataflow = a.dataflows.front();
    run = explore::run_layer(p.machine, p.network,
                             dataflow == "auto" ? dataflow : default_dataflow(dataflow, p.network, p.machine), p.energy,
                             options);
  }
  const std::string json = explore::to_json(run, p.machine.name, config::machine_hash(p.machine), a.settings);
  if (json_file != nullptr) json_file->write(json, files::Form::kOwn);
  outputs.commit();
  std::fputs((a.json == "-" ? json : explore::to_text(run, p.machine.name)).c_str(), stdout);
  int status = 0;
  for (const explore::OperationRun& o : run.operations) status = std::max(status, exit_status(o.result));
  return status;
}

}  // namespace attnvp::cli
