// The paper's dataflows on other machines: a DaVinci core, real memory, firmware on a RISC-V hart.

#include <filesystem>

#include "explore/papers/mas.h"
#include "models/control/riscv_processor/program.h"
#include "platform/machine/hardware.h"
#include "platform/report/table.h"

namespace attnvp::papers {

namespace {

// Halved and doubled assumed values, and values derived from them.
const char* const kChanges[] = {"",
                                "vec.softmax_lane_cycles=4",
                                "vec.softmax_lane_cycles=16",
                                "dram.bandwidth=22 GB/s",
                                "dram.bandwidth=88 GB/s",
                                "mac.rows=32",
                                "mac.rows=128",
                                "dram.latency=200 ns",
                                "l1.size=2560 KiB"};

void run_on(const MachineConfig& machine, const std::string& what, Machines& study, const StudyProgress& progress) {
  const bool first = study.machines.empty();
  Machines::StudyMachine& out = study.machines.emplace_back();
  out.what = what;
  Names dataflows = study.dataflows;
  dataflows.push_back(kMas);
  for_each_run(machine, study.networks, dataflows, progress, [&](const Case& place, const job::RunResult& r) {
    out.cycles[place] = static_cast<double>(r.cycles);
    if (first && place.second == kMas) study.mas.push_back(terms(r, machine));
  });
}

// An explanation that no run confirms is labelled a conjecture.
std::string davinci_reason(const Machines& s, const std::string& dataflow, double paper) {
  const double ours = s.mean(s.machines[0], dataflow);
  Names across;
  for (const Machines::StudyMachine& m : s.machines) {
    const double other = s.mean(m, dataflow);
    if ((ours < paper) != (other < paper)) across.push_back(fmt::format("{} gives {}", m.what, times(other)));
  }
  const std::string what = fmt::format("Over {}, ours is {:.2f} times the paper's mean.", dataflow, ours / paper);
  if (across.empty()) return what + " Unexplained: no value below, halved or doubled, reaches the paper's.";
  return fmt::format(
      "{} Measured: one value of the machine decides as much: {}. Conjecture: the tablet's core differs there; its "
      "data sheet, which is not published, would decide it.",
      what, fmt::join(across, ", "));
}

}  // namespace

double Machines::mean(const StudyMachine& machine, const std::string& dataflow) const {
  return geometric_mean(networks, [&](const std::string& network) { return machine.speedup(network, dataflow); });
}

Machines run_davinci(const MasPaper& paper, const StudyProgress& progress) {
  Machines study;
  study.networks = paper.networks;
  for (const std::string& d : paper.dataflows) {
    if (paper.claim("davinci", d) > 0) study.dataflows.push_back(d);
  }
  for (const std::string changed : kChanges) {
    Names settings;
    if (!changed.empty()) settings.push_back(changed);
    run_on(config::load_hardware("davinci", settings), changed, study, progress);
  }
  return study;
}

std::vector<Section> davinci_sections(const MasPaper& paper, const Machines& s) {
  const Machines::StudyMachine& as_it_is = s.machines.front();
  Section figure{
      "Figure 5: on a DaVinci core",
      "Speed-up of mas on configs/hardware/davinci.yaml, a machine of published and assumed values, none of which is "
      "fitted. The figure's bars have no numbers: range and geometric mean are those of the text (section 5.2.2), the "
      "paper's, ours; the networks' are ours alone.",
      {"network"}};
  figure.grid(s.networks, s.dataflows,
              [&](const std::string& n, const std::string& d) { return times(as_it_is.speedup(n, d)); });
  Names least{"least"}, most{"most"}, mean{"geomean"};
  for (const std::string& d : s.dataflows) {
    std::vector<double> all;
    for (const std::string& network : s.networks) all.push_back(as_it_is.speedup(network, d));
    const auto pair = [&](const char* claim, double ours) { return times(paper.claim(claim, d)) + "  " + times(ours); };
    least.push_back(pair("davinci_least", *std::min_element(all.begin(), all.end())));
    most.push_back(pair("davinci_most", *std::max_element(all.begin(), all.end())));
    mean.push_back(pair("davinci", s.mean(as_it_is, d)));
    const double stated = paper.claim("davinci", d);
    if (noteworthy(s.mean(as_it_is, d) / stated)) figure.notes.push_back(davinci_reason(s, d, stated));
  }
  figure.rows.insert(figure.rows.end(), {least, most, mean});
  std::map<std::string, int> binds;
  for (const Terms& t : s.mas) ++binds[t.binding()];
  Names counts;
  for (const auto& [resource, count] : binds) counts.push_back(fmt::format("{} on {}", resource, count));
  figure.notes.push_back(
      fmt::format("What mas is bound by: {} of {} networks.", fmt::join(counts, ", "), s.networks.size()));

  Section changes{"Figure 5: what the machine's values decide",
                  "Geometric means of the same speed-ups with one value halved or doubled.",
                  {"changed"}};
  changes.columns.insert(changes.columns.end(), s.dataflows.begin(), s.dataflows.end());
  Names papers{"the paper's"};
  for (const std::string& d : s.dataflows) papers.push_back(times(paper.claim("davinci", d)));
  for (const Machines::StudyMachine& m : s.machines) {
    Names& row = changes.rows.emplace_back(1, m.what.empty() ? "nothing" : m.what);
    for (const std::string& d : s.dataflows) row.push_back(times(s.mean(m, d)));
  }
  changes.rows.push_back(std::move(papers));
  return {figure, changes};
}

Machines run_memories(const MasPaper& paper, const StudyProgress& progress) {
  Machines study;
  study.networks = paper.networks;
  study.dataflows = paper.others();
  for (const char* hardware : {"edge", "edge-lpddr4"}) {
    run_on(config::load_hardware(hardware), hardware, study, progress);
  }
  return study;
}

Section memory_section(const Machines& s) {
  const Machines::StudyMachine &ideal = s.machines[0], &real = s.machines[1];
  Section out{
      "Ideal memory and real memory",
      fmt::format(
          "The paper's DRAM is a bus at its peak (`{}`); `{}` has the same machine with the channels, banks and "
          "refreshes "
          "of a part. Cycles of mas and its speed-up over the others, with ideal and with real memory. Tile sizes are "
          "those that a run chooses, on both; they are chosen for the peak bandwidth.",
          ideal.what, real.what),
      {"network", "mas, ideal", "mas, real", "longer"}};
  out.columns.insert(out.columns.end(), s.dataflows.begin(), s.dataflows.end());
  const auto longer = [&](const std::string& network, const std::string& dataflow) {
    return real.cycles.at({network, dataflow}) / ideal.cycles.at({network, dataflow});
  };
  const auto mean_longer = [&](const std::string& dataflow) {
    return report::percent(geometric_mean(s.networks, [&](const std::string& n) { return longer(n, dataflow); }) - 1);
  };
  const auto commas = [](double cycles) { return report::with_commas(static_cast<std::uint64_t>(cycles)); };
  for (const std::string& n : s.networks) {
    Names& row = out.rows.emplace_back();
    row = {n, commas(ideal.cycles.at({n, kMas})), commas(real.cycles.at({n, kMas})),
           report::percent(longer(n, kMas) - 1)};
    for (const std::string& d : s.dataflows)
      row.push_back(times(ideal.speedup(n, d)) + " " + times(real.speedup(n, d)));
  }
  Names mean{"geomean", "", "", mean_longer(kMas)}, others;
  for (const std::string& d : s.dataflows) {
    mean.push_back(times(s.mean(ideal, d)) + " " + times(s.mean(real, d)));
    others.push_back(d + " " + mean_longer(d));
  }
  out.rows.push_back(std::move(mean));
  out.notes = {
      fmt::format("With real memory mas takes {} longer in the mean; {}.", mean_longer(kMas), fmt::join(others, ", "))};
  return out;
}

Section control_section(const MasPaper& paper, const MachineConfig& machine, const StudyProgress& progress) {
  Section s{"What control costs"};
  if (!std::filesystem::exists(riscv::program_path(RiscvConfig()))) return s;
  s.lead =
      "Cycles with firmware that costs nothing but its bus accesses (native), and what they become where it is a "
      "program of an in-order RISC-V hart (control.cpu: riscv) of that clock; list: the program was run beforehand and "
      "plays its commands out of DRAM (control.lists). Tile sizes are chosen for each.";
  s.left = 2;
  s.columns = {"network", "dataflow", "native"};
  struct ControlProgram {
    const char* name;
    double clock_hz;  // 0: native
    bool lists = false;
  };
  std::map<Case, std::uint64_t> native;
  std::map<Case, Names> longer, counts;
  for (const ControlProgram& control : {ControlProgram{"native", 0},
                                        {"platform's clock", machine.clock_hz},
                                        {"1 GHz", 1e9},
                                        {"500 MHz", 500e6},
                                        {"1 GHz, list", 1e9, true},
                                        {"500 MHz, list", 500e6, true}}) {
    MachineConfig m = machine;
    const bool is_native = control.clock_hz == 0;
    m.control.cpu = is_native ? "native" : "riscv";
    m.control.lists = control.lists;
    m.own<RiscvConfig>() = {};
    if (!is_native) m.own<RiscvConfig>().clock_hz = control.clock_hz;
    if (!is_native) s.columns.emplace_back(control.name);
    for_each_run(m, paper.networks, paper.dataflows, progress, [&](const Case& place, const job::RunResult& r) {
      if (is_native) {
        native[place] = r.cycles;
        return;
      }
      longer[place].push_back(
          fmt::format("{:+.1f}%", 100 * (static_cast<double>(r.cycles) / static_cast<double>(native.at(place)) - 1)));
      if (!std::string_view(control.name).starts_with("1 GHz")) return;
      const std::uint64_t executed = r.sum("cpu", "instructions"), commands = r.sum("cpu", "doorbells");
      const auto instructions = static_cast<double>(executed);
      counts[place].push_back(fmt::to_string(executed));
      if (control.lists) return;
      counts[place].push_back(fmt::to_string(commands));
      counts[place].push_back(
          fmt::format("{:.0f}", instructions / static_cast<double>(std::max<std::uint64_t>(commands, 1))));
      counts[place].push_back(fmt::format(
          "{:.2f}", static_cast<double>(r.sum("cpu", "hart_cycles") - r.sum("cpu", "hart_stalls")) / instructions));
    });
  }
  s.columns.insert(s.columns.end(),
                   {"instructions", "commands", "instructions per command", "CPI", "list: instructions"});
  for (const std::string& network : paper.networks) {
    for (const std::string& dataflow : paper.dataflows) {
      const Case place(network, dataflow);
      Names& row = s.rows.emplace_back();
      row = {network, dataflow, fmt::to_string(native.at(place))};
      for (const auto& cells : {longer.at(place), counts.at(place)}) row.insert(row.end(), cells.begin(), cells.end());
    }
  }
  s.notes = {"Instructions, commands and CPI (without stalls) are those at 1 GHz.",
             "A list costs its bytes of DRAM's bandwidth, some 40 a command, and that it was made beforehand, which is "
             "no time of the run."};
  return s;
}

}  // namespace attnvp::papers
