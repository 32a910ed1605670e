#include "explore/reproduce/memory_study.h"

#include <fmt/format.h>

#include "explore/reproduce/study.h"
#include "explore/tuning/tuned_runner.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

MemoryStudy::Machine run(const std::string& hardware, const MemoryStudy& study,
                         const std::function<void(const std::string& what)>& progress) {
  MemoryStudy::Machine out{hardware, {}};
  const MachineConfig machine = config::load_hardware(hardware);
  explore::TunedRunner runner(machine, config::load_energy(machine.energy), false);
  std::vector<std::string> dataflows = study.dataflows;
  dataflows.push_back(kMas);
  for (const std::string& network : study.networks) {
    for (const std::string& dataflow : dataflows) {
      progress(fmt::format("{} with {} on {}", network, dataflow, hardware));
      const job::Result r = runner.run(config::load_network(network), job::parse_dataflow(dataflow), nullptr, {});
      out.cycles[{network, dataflow}] = static_cast<double>(r.cycles);
    }
  }
  return out;
}

}  // namespace

MemoryStudy run_memory_study(const Paper& paper, const std::string& ideal, const std::string& real,
                             const std::function<void(const std::string& what)>& progress) {
  MemoryStudy study;
  study.networks = paper.networks;
  for (const std::string& dataflow : paper.dataflows) {
    if (dataflow != kMas) study.dataflows.push_back(dataflow);
  }
  study.ideal = run(ideal, study, progress);
  study.real = run(real, study, progress);
  return study;
}

Section memory_section(const MemoryStudy& s) {
  Section out;
  out.title = "Ideal memory and real memory";
  out.lead = fmt::format(
      "The paper's DRAM is a bus at its peak (`{}`); `{}` has the same machine with the channels, banks and refreshes "
      "of "
      "a part. Cycles of mas and its speed-up over the others, with ideal and with real memory. Tile sizes are those "
      "that a run chooses, on both; they are chosen for the peak bandwidth.",
      s.ideal.hardware, s.real.hardware);
  out.columns = {"network", "mas, ideal", "mas, real", "longer"};
  for (const std::string& d : s.dataflows) out.columns.push_back(d);
  const auto pair = [](double ideal, double real) { return fmt::format("{:.2f}x {:.2f}x", ideal, real); };
  const auto longer = [&](const std::string& network, const std::string& dataflow) {
    return s.real.cycles.at({network, dataflow}) / s.ideal.cycles.at({network, dataflow});
  };
  for (const std::string& network : s.networks) {
    const double ideal = s.ideal.cycles.at({network, kMas}), real = s.real.cycles.at({network, kMas});
    std::vector<std::string> row{network, report::with_commas(static_cast<std::uint64_t>(ideal)),
                                 report::with_commas(static_cast<std::uint64_t>(real)),
                                 report::percent(real / ideal - 1)};
    for (const std::string& d : s.dataflows)
      row.push_back(pair(s.ideal.speedup(network, d), s.real.speedup(network, d)));
    out.rows.push_back(std::move(row));
  }
  const auto mean_longer = [&](const std::string& dataflow) {
    return geometric_mean(s.networks, [&](const std::string& network) { return longer(network, dataflow); });
  };
  std::vector<std::string> mean{"geomean", "", "", report::percent(mean_longer(kMas) - 1)};
  std::string others;
  for (const std::string& d : s.dataflows) {
    const auto of = [&](const MemoryStudy::Machine& m) {
      return geometric_mean(s.networks, [&](const std::string& network) { return m.speedup(network, d); });
    };
    mean.push_back(pair(of(s.ideal), of(s.real)));
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", d, report::percent(mean_longer(d) - 1));
  }
  out.rows.push_back(std::move(mean));
  out.notes.push_back(fmt::format("With real memory mas takes {} longer in the mean; {}.",
                                  report::percent(mean_longer(kMas) - 1), others));
  return out;
}

}  // namespace attnvp::reproduce
