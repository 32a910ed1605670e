#include "explore/reproduce/davinci_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "explore/reproduce/study.h"
#include "explore/tuning/tuned_runner.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/config/network.h"

namespace attnvp::reproduce {

namespace {

constexpr double kNear = 0.1;  // of a mean that needs no reason

// Halves and doubles of what is assumed, or derived from what is.
const std::vector<std::string> kChanges = {"",
                                           "vec.softmax_lane_cycles=4",
                                           "vec.softmax_lane_cycles=16",
                                           "dram.bandwidth=22 GB/s",
                                           "dram.bandwidth=88 GB/s",
                                           "mac.rows=32",
                                           "mac.rows=128",
                                           "dram.latency=200 ns",
                                           "l1.size=2560 KiB"};

DavinciStudy::Machine run(const std::string& changed, DavinciStudy& study,
                          const std::function<void(const std::string& what)>& progress) {
  DavinciStudy::Machine out{changed, {}};
  const MachineConfig machine = config::load_hardware(
      "davinci", changed.empty() ? std::vector<std::string>{} : std::vector<std::string>{changed});
  explore::TunedRunner runner(machine, config::load_energy(machine.energy), false);
  std::vector<std::string> dataflows = study.dataflows;
  dataflows.push_back(kMas);
  for (const std::string& network : study.networks) {
    for (const std::string& dataflow : dataflows) {
      progress(fmt::format("{} with {} on davinci {}", network, dataflow, changed));
      const job::Result r = runner.run(config::load_network(network), job::parse_dataflow(dataflow), nullptr, {});
      out.cycles[{network, dataflow}] = static_cast<double>(r.cycles);
      if (changed.empty() && dataflow == kMas) study.mas.push_back(terms(r, machine));
    }
  }
  return out;
}

// What no run shows but would settle the difference is said to be a conjecture.
std::string reason(const DavinciStudy& s, const std::string& dataflow) {
  const double paper = s.claims.at({"davinci", dataflow}), ours = s.mean(s.machines[0], dataflow);
  std::vector<std::string> across;
  for (const DavinciStudy::Machine& m : s.machines) {
    const double other = s.mean(m, dataflow);
    if ((ours < paper) != (other < paper)) across.push_back(fmt::format("{} gives {}", m.changed, times(other)));
  }
  const std::string what = fmt::format("Over {}, ours is {:.2f} times the paper's mean.", dataflow, ours / paper);
  if (across.empty()) return what + " Unexplained: no value below, halved or doubled, reaches the paper's.";
  return fmt::format(
      "{} Measured: one value of the machine decides as much: {}. Conjecture: the tablet's core differs there; its "
      "data sheet, which is not published, would decide it.",
      what, fmt::join(across, ", "));
}

Section figure(const DavinciStudy& s) {
  Section out;
  out.title = "Figure 5: on a DaVinci core";
  out.lead =
      "Speed-up of mas on configs/hardware/davinci.yaml, a machine of published and assumed values, none of which is "
      "fitted. The figure's bars have no numbers: range and geometric mean are those of the text (section 5.2.2), the "
      "paper's, ours; the networks' are ours alone.";
  out.columns = {"network"};
  for (const std::string& d : s.dataflows) out.columns.push_back(d);
  std::vector<std::string> least{"least"}, most{"most"}, mean{"geomean"};
  for (const std::string& network : s.networks) {
    std::vector<std::string> row{network};
    for (const std::string& d : s.dataflows) row.push_back(times(s.machines[0].speedup(network, d)));
    out.rows.push_back(std::move(row));
  }
  for (const std::string& d : s.dataflows) {
    std::vector<double> all;
    for (const std::string& network : s.networks) all.push_back(s.machines[0].speedup(network, d));
    const auto pair = [&](const char* claim, double ours) {
      return times(s.claims.at({claim, d})) + "  " + times(ours);
    };
    least.push_back(pair("davinci_least", *std::min_element(all.begin(), all.end())));
    most.push_back(pair("davinci_most", *std::max_element(all.begin(), all.end())));
    mean.push_back(pair("davinci", s.mean(s.machines[0], d)));
    if (std::abs(s.mean(s.machines[0], d) / s.claims.at({"davinci", d}) - 1) > kNear) out.notes.push_back(reason(s, d));
  }
  out.rows.insert(out.rows.end(), {least, most, mean});
  std::map<std::string, int> binds;
  for (const Terms& t : s.mas) ++binds[t.binding()];
  std::vector<std::string> counts;
  for (const auto& [resource, count] : binds) counts.push_back(fmt::format("{} on {}", resource, count));
  out.notes.push_back(
      fmt::format("What mas is bound by: {} of {} networks.", fmt::join(counts, ", "), s.networks.size()));
  return out;
}

Section sensitivity(const DavinciStudy& s) {
  Section out;
  out.title = "Figure 5: what the machine's values decide";
  out.lead = "Geometric means of the same speed-ups with one value halved or doubled.";
  out.columns = {"changed"};
  for (const std::string& d : s.dataflows) out.columns.push_back(d);
  for (const DavinciStudy::Machine& m : s.machines) {
    std::vector<std::string> row{m.changed.empty() ? "nothing" : m.changed};
    for (const std::string& d : s.dataflows) row.push_back(times(s.mean(m, d)));
    out.rows.push_back(std::move(row));
  }
  std::vector<std::string> paper{"the paper's"};
  for (const std::string& d : s.dataflows) paper.push_back(times(s.claims.at({"davinci", d})));
  out.rows.push_back(std::move(paper));
  return out;
}

}  // namespace

double DavinciStudy::mean(const Machine& machine, const std::string& dataflow) const {
  return geometric_mean(networks, [&](const std::string& network) { return machine.speedup(network, dataflow); });
}

DavinciStudy run_davinci_study(const Paper& paper, const std::function<void(const std::string& what)>& progress) {
  DavinciStudy study;
  study.networks = paper.networks;
  study.claims = paper.claims;
  for (const std::string& d : paper.dataflows) {
    if (paper.claim("davinci", d) > 0) study.dataflows.push_back(d);
  }
  for (const std::string& changed : kChanges) study.machines.push_back(run(changed, study, progress));
  return study;
}

std::vector<Section> davinci_sections(const DavinciStudy& study) { return {figure(study), sensitivity(study)}; }

}  // namespace attnvp::reproduce
