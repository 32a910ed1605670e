#include "explore/reproduce/reasons.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "explore/reproduce/bounds.h"

namespace attnvp::reproduce {

namespace {

constexpr double kPrinted = 0.0005e6;  // the paper's cycles are rounded to this

std::string share(double ratio) { return fmt::format("{:.1f}%", 100 * std::abs(ratio - 1)); }

std::string why_flat(const Study& s, const std::string& network, double paper) {
  const double hidden = s.cycles(network, kFlat), lock_step = s.cycles(network, kFlatLockStep);
  if (paper <= lock_step) {
    return fmt::format(
        "the paper's entry lies {:.0f}% of the way from ours with I/O behind computation ({:.3f}) to ours with I/O in "
        "turn with it ({:.3f}). Conjecture: its mapping hides that much less I/O; the mapping, which it does not "
        "print, "
        "would decide it",
        100 * (paper - hidden) / (lock_step - hidden), hidden / 1e6, lock_step / 1e6);
  }
  const Bound one_by_one = bound(s.at(network, kFlatLockStep), s.machine);
  return fmt::format("unexplained: the paper's entry is {} above even {}, one after the other",
                     share(paper / one_by_one.cycles), one_by_one.text);
}

// The paper's entry as a pipeline that is filled and drained per head: (T + 2) / T of the matmuls for T row
// blocks.
std::string why_tileflow(const job::Result& r, const MachineConfig& machine, double paper, const Bound& least) {
  const double mac = terms(r, machine).mac;
  return fmt::format(
      "unexplained: the paper's entry is {} above what the machine needs in this setting ({}), ours {}; a pipeline "
      "drained "
      "after {:.1f} row blocks would take as long",
      share(paper / least.cycles), least.text, share(static_cast<double>(r.cycles) / least.cycles),
      2 * mac / (paper - mac));
}

double l1_words(const job::Result& r) {
  return static_cast<double>(r.sum("l1", "read_words") + r.sum("l1", "write_words"));
}
double l1_words_per_mac(const job::Result& r) { return l1_words(r) / static_cast<double>(r.sum("mac", "macs")); }

bool fills_l0_tiles(const job::Result& r) { return r.network.seq_kv % r.schedule.tiling["n0"] == 0; }

// A network with as much per head, of the nearest length, whose rows are whole L0 sub-tiles; nullptr: there
// is none.
const job::Result* even_like(const Study& s, const job::Result& r) {
  const job::Result* best = nullptr;
  const auto distance = [&r](const job::Result& other) {
    return std::abs(1.0 * other.network.seq_kv - r.network.seq_kv);
  };
  for (const std::string& name : s.paper.networks) {
    const job::Result& other = s.at(name, r.schedule.text);
    if (other.network.emb != r.network.emb || !fills_l0_tiles(other)) continue;
    if (best == nullptr || distance(other) < distance(*best)) best = &other;
  }
  return best;
}

// Against the paper's mas: the energy of the work itself.
std::string why_mas_energy(const Study& s, const EnergyFits& fits, const std::string& network) {
  const job::Result& r = s.at(network, kMas);
  const double ratio = r.total_energy_pj() / s.paper_energy_pj(network, kMas);
  const job::Result* even = fills_l0_tiles(r) ? nullptr : even_like(s, r);
  if (ratio > 1 && even != nullptr) {
    return fmt::format(
        "{} tokens are {:.2f} L0 sub-tiles of {}: {:.0f} L1 accesses per 1000 multiply-accumulates, {:.0f} on {}, "
        "where "
        "the ratio is {:.2f}",
        r.network.seq_kv, 1.0 * r.network.seq_kv / r.schedule.tiling["n0"], r.schedule.tiling["n0"],
        1000 * l1_words_per_mac(r), 1000 * l1_words_per_mac(*even), even->network.name,
        even->total_energy_pj() / s.paper_energy_pj(even->network.name, kMas));
  }
  return fmt::format(
      "unexplained: of mas, ours fits {:.1f} pJ a multiply-accumulate, {:.0f} a score and {:.0f} a byte, the paper "
      "{:.1f}, "
      "{:.0f} and {:.0f}; by that ours takes {:.2f} times the paper's here",
      fits.ours.mac, fits.ours.score, fits.ours.byte, fits.paper.mac, fits.paper.score, fits.paper.byte, ratio);
}

}  // namespace

bool noteworthy(double ratio) { return std::abs(ratio - 1) > kNoteworthy; }

bool is_papers_machine(const Study& s) {
  return std::all_of(s.paper.networks.begin(), s.paper.networks.end(), [&s](const std::string& network) {
    return std::abs(s.paper_cycles(network, kMas) / terms(s.at(network, kMas), s.machine).most() - 1) < 0.01;
  });
}

EnergyFits fit_energies(const Study& s) {
  const auto rows = static_cast<Eigen::Index>(s.paper.networks.size());
  Eigen::MatrixX3d work(rows, 3);
  Eigen::VectorXd ours(rows), paper(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const std::string& name = s.paper.networks[static_cast<std::size_t>(i)];
    const config::Network& n = s.at(name, kMas).network;
    const double heads = 1.0 * n.batch * n.heads, scores = heads * n.seq_q * n.seq_kv;
    work.row(i) << 2 * scores * n.emb, scores, 2 * 2 * heads * (1.0 * n.seq_q + n.seq_kv) * n.emb;
    ours[i] = s.energy_pj(name, kMas);
    paper[i] = s.paper_energy_pj(name, kMas);
  }
  // Least squares of the relative error, as the rows' sizes differ by a factor of 30.
  const auto solve = [&work](const Eigen::VectorXd& energy) {
    const Eigen::VectorXd weight = energy.cwiseInverse();
    const Eigen::MatrixXd weighted = weight.asDiagonal() * work;
    const Eigen::VectorXd x = weighted.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(energy.size()));
    return EnergyFit{x[0], x[1], x[2]};
  };
  return {solve(paper), solve(ours)};
}

std::string why_cycles(const Study& s, const std::string& network, const std::string& dataflow) {
  const double paper = s.paper_cycles(network, dataflow), ours = s.cycles(network, dataflow);
  if (!noteworthy(ours / paper) || !is_papers_machine(s)) return {};
  const Bound least = bound(s.at(network, dataflow), s.machine);
  if (paper + kPrinted < least.cycles) {
    return fmt::format("the paper's entry is {:.1f}% below what the machine needs in this setting: {:.3f}, {}",
                       100 * (1 - paper / least.cycles), least.cycles / 1e6, least.text);
  }
  if (dataflow == kFlat && ours < paper) return why_flat(s, network, paper);
  if (dataflow == "tileflow" && ours < paper) return why_tileflow(s.at(network, dataflow), s.machine, paper, least);
  if (ours < paper) {
    return fmt::format("unexplained: the paper's entry is {} above what its machine needs ({}), ours {}",
                       share(paper / least.cycles), least.text, share(ours / least.cycles));
  }
  return fmt::format("ours is {} above its bound ({}), the paper's entry {}", share(ours / least.cycles), least.text,
                     share(paper / least.cycles));
}

std::string why_energy(const Study& s, const EnergyFits& fits, const std::string& network,
                       const std::string& dataflow) {
  const double paper = s.paper_energy_pj(network, dataflow), ours = s.energy_pj(network, dataflow);
  if (!noteworthy(ours / paper) || !is_papers_machine(s)) return {};
  // ours/paper is what mas has of it already, times what the dataflow adds.
  const double paper_mas = s.paper_energy_pj(network, kMas), ours_mas = s.energy_pj(network, kMas);
  const double common = ours_mas / paper_mas, added = (ours / ours_mas) / (paper / paper_mas);
  if (std::abs(std::log(common)) >= std::abs(std::log(added))) return why_mas_energy(s, fits, network);

  const job::Result& mas = s.at(network, kMas);
  const double more_paper = paper - paper_mas, more_ours = ours - ours_mas;
  const double accesses = (more_paper - more_ours) / (mas.energy_pj("l1") / l1_words(mas));
  const job::Result& r = s.at(network, dataflow);
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

}  // namespace attnvp::reproduce
