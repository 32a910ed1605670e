#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "explore/reproduce/bounds.h"
#include "explore/reproduce/reasons.h"

namespace attnvp::reproduce {

namespace {

std::pair<double, double> range(const Study& s, const std::function<double(const std::string&)>& value) {
  std::pair<double, double> all{value(s.paper.networks.front()), value(s.paper.networks.front())};
  for (const std::string& network : s.paper.networks) {
    all = {std::min(all.first, value(network)), std::max(all.second, value(network))};
  }
  return all;
}

// What the last row of a table says against the mean of its rows.
std::string printed_means(const Study& s, const std::string& claim) {
  std::vector<std::string> printed, of_rows;
  for (const std::string& dataflow : s.paper.dataflows) {
    if (dataflow == kMas) continue;
    const double mean = geometric_mean(s.paper.networks, [&](const std::string& network) {
      return claim == "speedup" ? s.paper_cycles(network, dataflow) / s.paper_cycles(network, kMas)
                                : 100 * (1 - s.paper_energy_pj(network, kMas) / s.paper_energy_pj(network, dataflow));
    });
    printed.push_back(fmt::format("{:.2f}", s.paper.claim(claim, dataflow)));
    of_rows.push_back(fmt::format("{:.2f}", mean));
  }
  const bool same = printed == of_rows;
  return fmt::format("The geometric means printed under Table {} ({}) are {}those of its rows{}.",
                     claim == "speedup" ? 2 : 3, fmt::join(printed, ", "), same ? "" : "not ",
                     same ? "" : fmt::format(" ({})", fmt::join(of_rows, ", ")));
}

// Running MAC, VEC and DRAM side by side instead of in turn gains at most their sum over the longest.
std::string beyond_overlap(const Study& s) {
  std::vector<std::string> beyond;
  for (const std::string& network : s.paper.networks) {
    const Terms t = terms(s.at(network, kMas), s.machine);
    const double most = (t.mac + t.vec + t.dram) / t.most();
    const double speedup = s.paper_cycles(network, kFlat) / s.paper_cycles(network, kMas);
    if (speedup > most * 1.005) beyond.push_back(fmt::format("{} {:.2f}x of {:.2f}x", network, speedup, most));
  }
  if (beyond.empty()) return {};
  return fmt::format(
      "The same transfers and operations, all in turn instead of all at once, take at most (MAC + VEC + DRAM) / "
      "longest times as long. The paper's speed-up over FLAT is beyond that on {}: overlap alone cannot give it.",
      fmt::join(beyond, ", "));
}

// Section 5 states a range over Layer-Wise that its own column does not have.
std::string stated_ranges(const Study& s) {
  const auto [least_x, most_x] =
      range(s, [&s](const std::string& n) { return s.paper_cycles(n, "layerwise") / s.paper_cycles(n, kMas); });
  const auto [least, most] = range(s, [&s](const std::string& n) {
    return 100 * (1 - s.paper_energy_pj(n, kMas) / s.paper_energy_pj(n, "layerwise"));
  });
  const auto stated = [&s](const char* claim) { return s.paper.claim(claim, "layerwise"); };
  return fmt::format(
      "The text states speed-ups of {:.2f}x to {:.2f}x and savings of {:.2f}% to {:.2f}% over Layer-Wise; the tables "
      "have {:.2f}x to {:.2f}x and {:.1f}% to {:.1f}%.",
      stated("speedup_least"), stated("speedup_most"), stated("saving_least"), stated("saving_most"), least_x, most_x,
      least, most);
}

std::string mas_bound(const Study& s) {
  double worst = 0, paper_worst = 0;
  std::vector<std::string> dram;
  for (const std::string& network : s.paper.networks) {
    const Terms t = terms(s.at(network, kMas), s.machine);
    worst = std::max(worst, s.cycles(network, kMas) / t.most() - 1);
    paper_worst = std::max(paper_worst, std::abs(s.paper_cycles(network, kMas) / t.most() - 1));
    if (t.dram > t.mac && t.dram > t.vec) {
      dram.push_back(fmt::format("{} (DRAM {:.3f}, paper {:.3f}, ours {:.3f})", network, t.dram / 1e6,
                                 s.paper_cycles(network, kMas) / 1e6, s.cycles(network, kMas) / 1e6));
    }
  }
  std::string text = fmt::format(
      "The paper's mas is within {:.1f}% of the machine's bound, the longest of MAC, VEC and DRAM, on every network, "
      "below which no schedule can be; ours is at most {:.1f}% above it.",
      100 * paper_worst, 100 * worst);
  if (!dram.empty()) text += fmt::format(" DRAM binds on {}; MAC on the others.", fmt::join(dram, ", "));
  return text;
}

std::string unit(const Study& s) {
  const std::string& network = s.paper.networks.front();
  const double joules = s.paper_energy_pj(network, kMas) * 1e-9;  // read as nJ
  const double seconds = s.paper_cycles(network, kMas) / s.machine.clock_hz;
  return fmt::format(
      "Table 3 prints 10^9 nJ. {} would then take {:.1f} J in {:.2f} ms, {:.0f} kW; it can only be pJ, as which it is "
      "read here.",
      network, joules, seconds * 1e3, joules / seconds / 1e3);
}

std::string softpipe_energy(const Study& s) {
  const auto above = [&s](auto energy) {
    return std::count_if(s.paper.networks.begin(), s.paper.networks.end(), [&](const std::string& network) {
      return (s.*energy)(network, "softpipe") > (s.*energy)(network, "layerwise");
    });
  };
  return fmt::format(
      "Section 5.3.1 says that Soft-Pipe takes less off-chip energy than Layer-Wise, as C stays on chip; in Table 3 "
      "its total is above Layer-Wise's on {} of {} networks, in ours on {}.",
      above(&Study::paper_energy_pj), s.paper.networks.size(), above(&Study::energy_pj));
}

}  // namespace

std::vector<std::string> findings(const Study& s) {
  std::vector<std::string> all{printed_means(s, "speedup"), printed_means(s, "saving"), stated_ranges(s),
                               softpipe_energy(s)};
  if (is_papers_machine(s)) {
    all.insert(all.begin(), {mas_bound(s), beyond_overlap(s), unit(s)});
  } else {
    all.insert(all.begin(),
               "This is not the paper's machine: what its mas takes on each network is not what binds here. "
               "Differences are the machine's, and no reasons are given for them.");
  }
  all.erase(std::remove(all.begin(), all.end(), std::string()), all.end());
  return all;
}

}  // namespace attnvp::reproduce
