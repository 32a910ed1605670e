#include "mapping/replay.h"

#include <algorithm>

#include "mapping/cluster.h"
#include "mapping/shared_bus.h"

namespace attnvp::mapping {

namespace {
constexpr double kExact = 1 - 1e-9;  // of sums, which are rounded
}  // namespace

Replay replay(const std::vector<const Recording*>& clusters, const Costs& costs, Contention contention, double share,
              double enough) {
  const MachineConfig& m = costs.machine();
  const double burst = m.dma.burst_bytes / (m.dram.bytes_per_second / m.clock_hz);
  Agenda agenda;
  SharedBus bus(agenda, share * m.dma.outstanding * burst);
  std::vector<Cluster> all;
  all.reserve(clusters.size());
  for (const Recording* r : clusters) {
    all.emplace_back(static_cast<std::uint32_t>(all.size()), *r, costs, contention, share, agenda, bus);
    // One after the other, by a burst each: those in step would stay so, where the bus has them drift apart.
    agenda.plan(static_cast<double>(all.size() - 1) * burst, Happens::kCpu, static_cast<std::uint32_t>(all.size() - 1),
                0);
  }
  const auto released = [&] {
    return std::count_if(all.begin(), all.end(), [](Cluster& c) { return c.release_processor(); }) > 0;
  };
  Replay longest;
  while (!agenda.empty() || released()) {
    const Happening h = agenda.next();
    ++longest.happenings;
    const double least = std::max(h.time, kExact * agenda.least_end());
    if (least >= enough) return {least, true, longest.happenings};
    Mark mark{};
    if (h.what() != Happens::kMark) {
      all[h.cluster()].happen(h);
    } else if (bus.reached(h.id(), mark)) {
      all[mark.user].served(mark.over);
    }
  }
  for (const Cluster& c : all) {
    const Replay r = c.result();
    longest.cycles = std::max(longest.cycles, r.cycles);
    longest.finished = longest.finished && r.finished;
  }
  return longest;
}

Replay replay(const Recording& recording, const Costs& costs, Contention contention, double share) {
  return replay(std::vector<const Recording*>{&recording}, costs, contention, share);
}

}  // namespace attnvp::mapping
