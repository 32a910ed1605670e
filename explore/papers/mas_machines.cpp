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
  Names dataflows = study.dataflows;
  dataflows.push_back(kMas);
  const std::map<Case, job::RunResult> results = run_all(machine, study.networks, dataflows, progress);
  Machines::StudyMachine& out = study.machines.emplace_back(Machines::StudyMachine{what, {}});
  for (const auto& [place, r] : results) out.cycles[place] = static_cast<double>(r.cycles);
  if (study.machines.size() > 1) return;
  for (const std::string& n : study.networks) ++study.mas_binding[terms(results.at({n, kMas}), machine).binding()];
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
  return geometric_mean(column(networks, dataflow), [&](const Case& c) { return machine.speedup(c); });
}

Machines run_davinci(const MasPaper& paper, const StudyProgress& progress) {
  Machines study;
  study.networks = paper.networks;
  for (const std::string& d : paper.dataflows) {
    if (paper.claim("davinci", d) > 0) study.dataflows.push_back(d);
  }
  for (const std::string changed : kChanges) {
    const Names settings = changed.empty() ? Names() : Names{changed};
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
  figure.grid(s.networks, s.dataflows, [&](const Case& c) { return times(as_it_is.speedup(c)); });
  Names least{"least"}, most{"most"}, mean{"geomean"};
  for (const std::string& d : s.dataflows) {
    const Range all = range_of(column(s.networks, d), [&](const Case& c) { return as_it_is.speedup(c); });
    const double stated = paper.claim("davinci", d), ours = s.mean(as_it_is, d);
    least.push_back(kSpeedups({"", "", d, paper.claim("davinci_least", d), all.least}));
    most.push_back(kSpeedups({"", "", d, paper.claim("davinci_most", d), all.most}));
    mean.push_back(kSpeedups({"", "", d, stated, ours}));
    if (noteworthy(ours / stated)) figure.notes.push_back(davinci_reason(s, d, stated));
  }
  figure.rows.insert(figure.rows.end(), {least, most, mean});
  Names counts;
  for (const auto& [resource, count] : s.mas_binding) counts.push_back(fmt::format("{} on {}", resource, count));
  figure.notes.push_back(
      fmt::format("What mas is bound by: {} of {} networks.", fmt::join(counts, ", "), s.networks.size()));

  Section changes{"Figure 5: what the machine's values decide",
                  "Geometric means of the same speed-ups with one value halved or doubled.",
                  {"changed"}};
  Names papers{"the paper's"};
  for (const Machines::StudyMachine& m : s.machines) changes.rows.push_back({m.what.empty() ? "nothing" : m.what});
  for (const std::string& d : s.dataflows) {
    changes.columns.push_back(d);
    for (std::size_t i = 0; i < s.machines.size(); ++i) changes.rows[i].push_back(times(s.mean(s.machines[i], d)));
    papers.push_back(times(paper.claim("davinci", d)));
  }
  changes.rows.push_back(std::move(papers));
  return {figure, changes};
}

Section memory_section(const MasPaper& paper, const StudyProgress& progress) {
  Machines s{{}, paper.networks, paper.others()};
  for (const char* hardware : {"edge", "edge-lpddr4"}) run_on(config::load_hardware(hardware), hardware, s, progress);
  const Machines::StudyMachine &ideal = s.machines[0], &real = s.machines[1];
  Section out{
      "Ideal memory and real memory",
      fmt::format(
          "The paper's DRAM is a bus at its peak (`{}`); `{}` has the same machine with the channels, banks and "
          "refreshes of a part. Cycles of mas and its speed-up over the others, with ideal and with real memory. Tile "
          "sizes are those that a run chooses, on both; they are chosen for the peak bandwidth.",
          ideal.what, real.what),
      {"network", "mas, ideal", "mas, real", "longer"}};
  const auto commas = [](double cycles) { return report::with_commas(static_cast<std::uint64_t>(cycles)); };
  const auto longer = [&](const Case& c) { return real.cycles.at(c) / ideal.cycles.at(c); };
  const auto mean_longer = [&](const std::string& dataflow) {
    return report::percent(geometric_mean(column(s.networks, dataflow), longer) - 1);
  };
  for (const std::string& n : s.networks) {
    out.rows.push_back({n, commas(ideal.cycles.at({n, kMas})), commas(real.cycles.at({n, kMas})),
                        report::percent(longer({n, kMas}) - 1)});
  }
  out.grid(s.networks, s.dataflows,
           [&](const Case& c) { return times(ideal.speedup(c)) + " " + times(real.speedup(c)); });
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
  s.columns = {"network", "dataflow"};
  struct ControlProgram {
    const char *name, *cpu;
    double clock_hz;
    bool lists = false;
  };
  const ControlProgram programs[] = {{"native", "native", machine.clock_hz},
                                     {"platform's clock", "riscv", machine.clock_hz},
                                     {"1 GHz", "riscv", 1e9},
                                     {"500 MHz", "riscv", 500e6},
                                     {"1 GHz, list", "riscv", 1e9, true},
                                     {"500 MHz, list", "riscv", 500e6, true}};
  MachineConfig m = machine;
  std::vector<std::map<Case, job::RunResult>> results;  // as programs
  for (const ControlProgram& program : programs) {
    m.control.cpu = program.cpu;
    m.control.lists = program.lists;
    m.own<RiscvConfig>() = {};
    m.own<RiscvConfig>().clock_hz = program.clock_hz;
    s.columns.emplace_back(program.name);
    results.push_back(run_all(m, paper.networks, paper.dataflows, progress));
  }
  s.columns.insert(s.columns.end(),
                   {"instructions", "commands", "instructions per command", "CPI", "list: instructions"});
  for (const std::string& network : paper.networks) {
    for (const std::string& dataflow : paper.dataflows) {
      const Case place(network, dataflow);
      const auto cycles = [&](std::size_t i) { return static_cast<double>(results[i].at(place).cycles); };
      Names& row = s.rows.emplace_back(Names{network, dataflow, fmt::format("{:.0f}", cycles(0))});
      for (std::size_t i = 1; i < results.size(); ++i) {
        row.push_back(fmt::format("{:+.1f}%", 100 * (cycles(i) / cycles(0) - 1)));
      }
      const job::RunResult &program = results[2].at(place), &list = results[4].at(place);
      const std::uint64_t executed = program.sum("cpu", "instructions"), commands = program.sum("cpu", "doorbells");
      const auto instructions = static_cast<double>(executed);
      const auto busy = static_cast<double>(program.sum("cpu", "hart_cycles") - program.sum("cpu", "hart_stalls"));
      row.insert(row.end(),
                 {fmt::to_string(executed), fmt::to_string(commands),
                  fmt::format("{:.0f}", instructions / static_cast<double>(std::max<std::uint64_t>(commands, 1))),
                  fmt::format("{:.2f}", busy / instructions), fmt::to_string(list.sum("cpu", "instructions"))});
    }
  }
  s.notes = {"Instructions, commands and CPI (without stalls) are those at 1 GHz.",
             "A list costs its bytes of DRAM's bandwidth, some 40 a command, and that it was made beforehand, which is "
             "no time of the run."};
  return s;
}

}  // namespace attnvp::papers
