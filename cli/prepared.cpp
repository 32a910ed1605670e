#include "cli/prepared.h"

#include <fmt/format.h>

#include "cli/firmware.h"
#include "platform/config/hardware.h"
#include "platform/text/complaint.h"

namespace attnvp::cli {

Prepared prepare(const RunArguments& a) {
  Prepared p;
  p.machine = config::load_hardware(a.hardware, a.settings);
  p.machine.simulation.max_cycles = a.max_cycles;
  const auto choose = [&p](const char* option, const std::string& kind, std::string& place) {
    if (kind.empty()) return;
    place = kind;
    config::check_machine(p.machine, {fmt::format("{} {}", option, kind)});
  };
  choose("--vec", a.vec, p.machine.vec.kind);
  choose("--cpu", a.cpu, p.machine.control.cpu);
  const schedule::FirmwareImage& firmware = use_firmware(p.machine, a.firmware);
  if (!a.requests.empty()) {
    for (const auto& [option, value] : {std::pair{"--q", &a.q}, {"--k", &a.k}, {"--v", &a.v}, {"--out", &a.out}}) {
      if (!value->empty()) throw config::ConfigError(fmt::format("{} does not go with --requests", option));
    }
  }
  p.network = a.requests.empty() ? config::load_network(a.network) : config::load_network(a.network, a.requests);
  p.energy = config::load_energy(p.machine.energy);
  if (a.tiling != "auto") p.tiling = job::parse_tiling(a.tiling, firmware);
  p.full = a.data == "full";
  return p;
}

explore::TuningOptions tuning_options(const RunArguments& a) {
  explore::TuningOptions options;
  if (a.tiling == "auto") options.search_longer();
  if (a.tuning_budget > 0) options.evaluations = a.tuning_budget;
  options.use_cache = !a.no_cache;
  return options;
}

int exit_status(const job::Result& r) {
  if (!r.golden_checked || r.golden.passed) return 0;
  text::complain(fmt::format("{}: golden check failed: {}", r.schedule.text, r.golden.to_string()));
  return 1;
}

}  // namespace attnvp::cli
