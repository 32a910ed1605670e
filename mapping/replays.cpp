#include "mapping/replays.h"

#include <cstring>

namespace attnvp::mapping {

Recording Replays::record(const Job& job, std::uint32_t cluster, std::size_t most) {
  Recording recording = mapping::record(job, cluster, costs_, most);
  effort_.add(static_cast<double>(recording.commands.size()));
  return recording;
}

double Replays::cycles(const std::vector<const Recording*>& clusters, double share, double enough) {
  std::vector<std::uint64_t> key;
  for (const double value : {share, costs_.control()}) {
    std::memcpy(&key.emplace_back(), &value, sizeof value);
  }
  for (const Recording* r : clusters) key.push_back(r->digest);
  Known& known = known_[key];
  if (known.cycles >= known.enough && known.enough < enough) {
    const Replay replayed = replay(clusters, costs_, Contention::kEstimate, share, enough);
    effort_.add(Effort::kOfAHappening * static_cast<double>(replayed.happenings));
    known = {replayed.cycles, enough};
  }
  return known.cycles;
}

}  // namespace attnvp::mapping
