// Reasons for differences from the paper, derived from counters, and inconsistencies within the paper.

#include <Eigen/Dense>
#include <cmath>

#include "explore/papers/mas.h"

namespace attnvp::papers {

namespace {

double bytes_per_cycle(const MachineConfig& m) { return m.dram.bytes_per_second / m.clock_hz; }

// Sequential phases; the longest term of a phase determines its cycles.
OrderBound phases(const std::vector<Terms>& all) {
  OrderBound bound;
  for (const Terms& phase : all) {
    bound.cycles += phase.most();
    bound.text += fmt::format("{}{} {:.3f}", bound.text.empty() ? "" : " + ", phase.binding(), phase.most() / 1e6);
  }
  return bound;
}

constexpr double kPrinted = 0.0005e6;  // rounding of the paper's cycles

std::string share(double ratio) { return fmt::format("{:.1f}%", 100 * std::abs(ratio - 1)); }

std::string why_flat(const MasStudy& s, const std::string& network, double paper) {
  const double hidden = s.cycles({network, kFlat}), lock_step = s.cycles({network, kFlatLockStep});
  if (paper <= lock_step) {
    return fmt::format(
        "the paper's entry lies {:.0f}% of the way from ours with I/O behind computation ({:.3f}) to ours with I/O in "
        "turn with it ({:.3f}). Conjecture: its mapping hides that much less I/O; the mapping, which it does not "
        "print, would decide it",
        100 * (paper - hidden) / (lock_step - hidden), hidden / 1e6, lock_step / 1e6);
  }
  const OrderBound one_by_one = bound(s.at({network, kFlatLockStep}), s.machine);
  return fmt::format("unexplained: the paper's entry is {} above even {}, one after the other",
                     share(paper / one_by_one.cycles), one_by_one.text);
}

// Estimates the paper's entry as a pipeline that drains per head: (T + 2) / T of the matmuls for T row blocks.
std::string why_tileflow(const job::RunResult& r, const MachineConfig& machine, double paper, const OrderBound& least) {
  const double mac = terms(r, machine).mac;
  return fmt::format(
      "unexplained: the paper's entry is {} above what the machine needs in this setting ({}), ours {}; a pipeline "
      "drained after {:.1f} row blocks would take as long",
      share(paper / least.cycles), least.text, share(static_cast<double>(r.cycles) / least.cycles),
      2 * mac / (paper - mac));
}

double l1_words(const job::RunResult& r) {
  return static_cast<double>(r.sum("l1", "read_words") + r.sum("l1", "write_words"));
}
double l1_words_per_mac(const job::RunResult& r) { return l1_words(r) / static_cast<double>(r.sum("mac", "macs")); }

bool fills_l0_tiles(const job::RunResult& r) { return r.network.extents().seq_kv % r.schedule.tiling["n0"] == 0; }

// The network with equal work per head and the nearest length whose rows are whole L0 sub-tiles; nullptr if there is
// none.
const job::RunResult* even_like(const MasStudy& s, const job::RunResult& r) {
  const job::RunResult* best = nullptr;
  const auto distance = [&r](const job::RunResult& other) {
    return std::abs(1.0 * other.network.extents().seq_kv - r.network.extents().seq_kv);
  };
  for (const std::string& name : s.paper.networks) {
    const job::RunResult& other = s.at({name, r.schedule.text});
    if (other.network.extents().emb != r.network.extents().emb || !fills_l0_tiles(other)) continue;
    if (best == nullptr || distance(other) < distance(*best)) best = &other;
  }
  return best;
}

// Difference from the paper's mas: energy of the operations themselves.
std::string why_mas_energy(const MasStudy& s, const std::string& network) {
  const job::RunResult& r = s.at({network, kMas});
  const double ratio = r.total_energy_pj() / s.paper_energy_pj({network, kMas});
  const job::RunResult* even = fills_l0_tiles(r) ? nullptr : even_like(s, r);
  if (ratio > 1 && even != nullptr) {
    return fmt::format(
        "{} tokens are {:.2f} L0 sub-tiles of {}: {:.0f} L1 accesses per 1000 multiply-accumulates, {:.0f} on {}, "
        "where the ratio is {:.2f}",
        r.network.extents().seq_kv, 1.0 * r.network.extents().seq_kv / r.schedule.tiling["n0"], r.schedule.tiling["n0"],
        1000 * l1_words_per_mac(r), 1000 * l1_words_per_mac(*even), even->network.name(),
        even->total_energy_pj() / s.paper_energy_pj({even->network.name(), kMas}));
  }
  const auto [paper, ours] = fit_energies(s);
  return fmt::format(
      "unexplained: of mas, ours fits {:.1f} pJ a multiply-accumulate, {:.0f} a score and {:.0f} a byte, the paper "
      "{:.1f}, {:.0f} and {:.0f}; by that ours takes {:.2f} times the paper's here",
      ours.mac, ours.score, ours.byte, paper.mac, paper.score, paper.byte, ratio);
}

// Gain of mas over the dataflow of a case, by a table of the paper.
using Gain = double (*)(double other, double mas);
auto gain_by(Gain gain, const std::map<Case, double>& paper) {
  return [gain, &paper](const Case& c) { return gain(paper.at(c), paper.at({c.first, kMas})); };
}

// Compares a table's printed means with the means of its rows.
std::string printed_means(const MasStudy& s, int table, const std::string& claim, Gain gain,
                          const std::map<Case, double>& paper) {
  Names printed, of_rows;
  for (const std::string& dataflow : s.paper.others()) {
    printed.push_back(fmt::format("{:.2f}", s.paper.claim(claim, dataflow)));
    of_rows.push_back(fmt::format("{:.2f}", geometric_mean(column(s.paper.networks, dataflow), gain_by(gain, paper))));
  }
  const bool same = printed == of_rows;
  return fmt::format("The geometric means printed under Table {} ({}) are {}those of its rows{}.", table,
                     fmt::join(printed, ", "), same ? "" : "not ",
                     same ? "" : fmt::format(" ({})", fmt::join(of_rows, ", ")));
}

// Overlap of MAC, VEC and DRAM gains at most their sum divided by the longest.
std::string beyond_overlap(const MasStudy& s) {
  Names beyond;
  for (const std::string& network : s.paper.networks) {
    const Terms t = terms(s.at({network, kMas}), s.machine);
    const double most = (t.mac + t.vec + t.dram) / t.most();
    const double speedup = s.paper_cycles({network, kFlat}) / s.paper_cycles({network, kMas});
    if (speedup > most * 1.005) beyond.push_back(fmt::format("{} {:.2f}x of {:.2f}x", network, speedup, most));
  }
  if (beyond.empty()) return {};
  return fmt::format(
      "The same transfers and operations, all in turn instead of all at once, take at most (MAC + VEC + DRAM) / "
      "longest times as long. The paper's speed-up over FLAT is beyond that on {}: overlap alone cannot give it.",
      fmt::join(beyond, ", "));
}

// Section 5 states a range over Layer-Wise that differs from its own column.
std::string stated_ranges(const MasStudy& s) {
  const std::vector<Case> rows = column(s.paper.networks, "layerwise");
  const Range speedups = range_of(rows, gain_by(speedup, s.paper.cycles)),
              savings = range_of(rows, gain_by(saving, s.paper.energy_pj));
  const auto stated = [&s](const char* claim) { return s.paper.claim(claim, "layerwise"); };
  return fmt::format(
      "The text states speed-ups of {:.2f}x to {:.2f}x and savings of {:.2f}% to {:.2f}% over Layer-Wise; the tables "
      "have {:.2f}x to {:.2f}x and {:.1f}% to {:.1f}%.",
      stated("speedup_least"), stated("speedup_most"), stated("saving_least"), stated("saving_most"), speedups.least,
      speedups.most, savings.least, savings.most);
}

std::string mas_bound(const MasStudy& s) {
  double worst = 0, paper_worst = 0;
  Names dram;
  for (const std::string& network : s.paper.networks) {
    const Terms t = terms(s.at({network, kMas}), s.machine);
    const double paper = s.paper_cycles({network, kMas}), ours = s.cycles({network, kMas});
    worst = std::max(worst, ours / t.most() - 1);
    paper_worst = std::max(paper_worst, std::abs(paper / t.most() - 1));
    if (t.dram <= t.mac || t.dram <= t.vec) continue;
    dram.push_back(
        fmt::format("{} (DRAM {:.3f}, paper {:.3f}, ours {:.3f})", network, t.dram / 1e6, paper / 1e6, ours / 1e6));
  }
  std::string text = fmt::format(
      "The paper's mas is within {:.1f}% of the machine's bound, the longest of MAC, VEC and DRAM, on every network, "
      "below which no schedule can be; ours is at most {:.1f}% above it.",
      100 * paper_worst, 100 * worst);
  if (!dram.empty()) text += fmt::format(" DRAM binds on {}; MAC on the others.", fmt::join(dram, ", "));
  return text;
}

std::string unit(const MasStudy& s) {
  const std::string& network = s.paper.networks.front();
  const double joules = s.paper_energy_pj({network, kMas}) * 1e-9;  // read as nJ
  const double seconds = s.paper_cycles({network, kMas}) / s.machine.clock_hz;
  return fmt::format(
      "Table 3 prints 10^9 nJ. {} would then take {:.1f} J in {:.2f} ms, {:.0f} kW; it can only be pJ, as which it is "
      "read here.",
      network, joules, seconds * 1e3, joules / seconds / 1e3);
}

std::string softpipe_energy(const MasStudy& s) {
  const auto above = [&s](auto energy) {
    return std::count_if(s.paper.networks.begin(), s.paper.networks.end(), [&](const std::string& network) {
      return (s.*energy)({network, "softpipe"}) > (s.*energy)({network, "layerwise"});
    });
  };
  return fmt::format(
      "Section 5.3.1 says that Soft-Pipe takes less off-chip energy than Layer-Wise, as C stays on chip; in Table 3 "
      "its total is above Layer-Wise's on {} of {} networks, in ours on {}.",
      above(&MasStudy::paper_energy_pj), s.paper.networks.size(), above(&MasStudy::energy_pj));
}

}  // namespace

double Terms::most() const { return std::max({mac, vec, dram}); }

const char* Terms::binding() const {
  if (mac >= vec && mac >= dram) return "MAC";
  return vec >= dram ? "VEC" : "DRAM";
}

Terms terms(const job::RunResult& r, const MachineConfig& m) {
  const double cores = static_cast<double>(m.clusters) * m.cores;
  Terms t;
  t.mac = static_cast<double>(r.sum("mac", "macs")) / (cores * m.mac.rows * m.mac.columns);
  t.vec = static_cast<double>(r.sum("vec", "lane_ops")) / (cores * m.vec.lanes);
  t.dram =
      static_cast<double>(r.sum("dram", "read_words") + r.sum("dram", "write_words")) * kWordBytes / bytes_per_cycle(m);
  return t;
}

OrderBound bound(const job::RunResult& r, const MachineConfig& m) {
  const Terms t = terms(r, m);
  const workload::Attention& n = r.network.attention();
  const std::string& dataflow = r.schedule.dataflow;
  // DRAM cycles of Q and K, or of V and O; the remaining traffic is scores.
  const double pair = kWordBytes * n.batch * n.heads * (1.0 * n.seq_q + n.seq_kv) * n.emb / bytes_per_cycle(m);
  const double scores = std::max(0.0, t.dram - 2 * pair);
  if (dataflow == "layerwise") {
    const double one_way = scores / 4;  // C and P, stored and loaded
    const Terms matmul{t.mac / 2, 0, pair + one_way};
    return phases({matmul, {0, t.vec, 2 * one_way}, matmul});
  }
  if (dataflow == "softpipe") {
    const double one_way = scores / 2;  // P
    return phases({{t.mac / 2, t.vec, pair + one_way}, {t.mac / 2, 0, pair + one_way}});
  }
  if (dataflow == "flat") {
    if (r.schedule.text.find("prefetch=off") != std::string::npos) {
      return phases({{t.mac, 0, 0}, {0, t.vec, 0}, {0, 0, t.dram}});
    }
    if (t.dram > t.mac + t.vec) return phases({{0, 0, t.dram}});
    return phases({{t.mac, 0, 0}, {0, t.vec, 0}});
  }
  if (dataflow == "tileflow") {
    // Three stages, filled and drained: two steps more than row blocks.
    const job::Tiling& tiling = r.schedule.tiling;
    const double blocks = std::ceil(1.0 * n.seq_q / tiling["nq"]) * tiling["hh"] * tiling["bb"];
    if (t.mac * (1 + 2 / blocks) < t.dram) return phases({{0, 0, t.dram}});
    OrderBound filled = phases({{t.mac, 0, 0}, {t.mac * 2 / blocks, 0, 0}});
    filled.text += fmt::format(" to fill and drain every {:.0f} row blocks", blocks);
    return filled;
  }
  return phases({t});
}

bool is_papers_machine(const MasStudy& s) {
  return std::all_of(s.paper.networks.begin(), s.paper.networks.end(), [&s](const std::string& network) {
    return std::abs(s.paper_cycles({network, kMas}) / terms(s.at({network, kMas}), s.machine).most() - 1) < 0.01;
  });
}

EnergyFits fit_energies(const MasStudy& s) {
  const auto rows = static_cast<Eigen::Index>(s.paper.networks.size());
  Eigen::MatrixX3d work(rows, 3);
  Eigen::VectorXd ours(rows), paper(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const std::string& name = s.paper.networks[static_cast<std::size_t>(i)];
    const workload::Attention& n = s.at({name, kMas}).network.attention();
    const double heads = 1.0 * n.batch * n.heads, scores = heads * n.seq_q * n.seq_kv;
    work.row(i) << 2 * scores * n.emb, scores, 2 * 2 * heads * (1.0 * n.seq_q + n.seq_kv) * n.emb;
    ours[i] = s.energy_pj({name, kMas});
    paper[i] = s.paper_energy_pj({name, kMas});
  }
  // Least squares of the relative error, because row sizes differ by a factor of 30.
  const auto solve = [&work](const Eigen::VectorXd& energy) {
    const Eigen::VectorXd weight = energy.cwiseInverse();
    const Eigen::MatrixXd weighted = weight.asDiagonal() * work;
    const Eigen::VectorXd x = weighted.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(energy.size()));
    return EnergyFit{x[0], x[1], x[2]};
  };
  return {solve(paper), solve(ours)};
}

std::string why_cycles(const MasStudy& s, const Case& c) {
  const auto& [network, dataflow] = c;
  const double paper = s.paper_cycles(c), ours = s.cycles(c);
  if (dataflow == kFlatLockStep || !noteworthy(ours / paper) || !is_papers_machine(s)) return {};
  const OrderBound least = bound(s.at(c), s.machine);
  if (paper + kPrinted < least.cycles) {
    return fmt::format("the paper's entry is {:.1f}% below what the machine needs in this setting: {:.3f}, {}",
                       100 * (1 - paper / least.cycles), least.cycles / 1e6, least.text);
  }
  if (dataflow == kFlat && ours < paper) return why_flat(s, network, paper);
  if (dataflow == "tileflow" && ours < paper) return why_tileflow(s.at(c), s.machine, paper, least);
  if (ours < paper) {
    return fmt::format("unexplained: the paper's entry is {} above what its machine needs ({}), ours {}",
                       share(paper / least.cycles), least.text, share(ours / least.cycles));
  }
  return fmt::format("ours is {} above its bound ({}), the paper's entry {}", share(ours / least.cycles), least.text,
                     share(paper / least.cycles));
}

std::string why_energy(const MasStudy& s, const Case& c) {
  const auto& [network, dataflow] = c;
  const double paper = s.paper_energy_pj(c), ours = s.energy_pj(c);
  if (dataflow == kFlatLockStep || !noteworthy(ours / paper) || !is_papers_machine(s)) return {};
  // ours / paper is the factor of mas times the factor that the dataflow adds.
  const double paper_mas = s.paper_energy_pj({network, kMas}), ours_mas = s.energy_pj({network, kMas});
  const double common = ours_mas / paper_mas, added = (ours / ours_mas) / (paper / paper_mas);
  if (std::abs(std::log(common)) >= std::abs(std::log(added))) return why_mas_energy(s, network);

  const job::RunResult &mas = s.at({network, kMas}), &r = s.at(c);
  const double more_paper = paper - paper_mas, more_ours = ours - ours_mas;
  const double accesses = (more_paper - more_ours) / (mas.energy_pj("l1") / l1_words(mas));
  const std::string ours_text =
      fmt::format("ours adds {:.2f} to mas, {:.2f} of it in L1 ({:+.0f} M accesses) and {:.2f} in DRAM",
                  more_ours / 1e9, (r.energy_pj("l1") - mas.energy_pj("l1")) / 1e9, (l1_words(r) - l1_words(mas)) / 1e6,
                  (r.energy_pj("dram") - mas.energy_pj("dram")) / 1e9);
  if (accesses < 0) return fmt::format("{}; the paper adds {:.2f} to its own", ours_text, more_paper / 1e9);
  return fmt::format(
      "unexplained: {}; the paper adds {:.2f} to its own, as much as {:.0f} M L1 accesses more than ours (all of mas: "
      "{:.0f} M)",
      ours_text, more_paper / 1e9, accesses / 1e6, l1_words(mas) / 1e6);
}

Section findings(const MasStudy& s) {
  Section t{"What the tables say"};
  if (is_papers_machine(s)) {
    t.notes = {mas_bound(s), beyond_overlap(s), unit(s)};
  } else {
    t.notes = {
        "This is not the paper's machine: what its mas takes on each network is not what binds here. Differences are "
        "the machine's, and no reasons are given for them."};
  }
  t.notes.insert(t.notes.end(),
                 {printed_means(s, 2, "speedup", speedup, s.paper.cycles),
                  printed_means(s, 3, "saving", saving, s.paper.energy_pj), stated_ranges(s), softpipe_energy(s)});
  std::erase(t.notes, "");
  return t;
}

}  // namespace attnvp::papers
