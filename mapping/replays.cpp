#include "mapping/replays.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "mapping/known.h"

namespace attnvp::mapping {

namespace {

class Bytes {
 public:
  template <class T>
  void add(const T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    add_number(count);
    if (count > 0) all.append(reinterpret_cast<const char*>(values), count * sizeof(T));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.data(), values.size());
  }
  void add_number(std::uint64_t value) { all.append(reinterpret_cast<const char*>(&value), sizeof value); }
  std::string all;
};

std::string bytes_of(const Job& job) {
  hal::JobBlock block = job.block;
  std::fill(std::begin(block.parameter), std::end(block.parameter), 0);
  Bytes bytes;
  bytes.add(&block, 1);
  bytes.add(&job.scratch, 1);
  bytes.add(&job.rules, 1);
  bytes.add(&job.types, 1);
  bytes.add(job.contexts);
  bytes.add(job.pages);
  bytes.add(job.scales);
  for (const Job::Table& table : job.tables) {
    bytes.add_number(table.address);
    bytes.add(table.words);
  }
  return bytes.all;
}

}  // namespace

Replays::Replays(const MachineConfig& machine) : costs_(machine) {}
Replays::~Replays() = default;

Known& Replays::known(const Job& job) {
  std::unique_ptr<Known>& known = known_[bytes_of(job)];
  if (known == nullptr) known = std::make_unique<Known>();
  return *known;
}

Recording Replays::record(const Job& job, std::uint32_t cluster, std::size_t most, Recording* half) {
  Recording recording = mapping::record(job, cluster, costs_, most, half);
  effort_.add(Effort::of_a_recording(static_cast<double>(recording.commands.size()), job.rules.mask.any()));
  return recording;
}

double Replays::cycles(const std::vector<const Recording*>& clusters, double share, double enough) {
  std::vector<std::uint64_t> key;
  for (const double value : {share, costs_.control()}) {
    std::memcpy(&key.emplace_back(), &value, sizeof value);
  }
  for (const Recording* r : clusters) key.push_back(r->digest);
  Replayed& known = replayed_[key];
  if (known.cycles >= known.enough && known.enough < enough) {
    const Replay replayed = replay(clusters, costs_, Contention::kEstimate, share, enough);
    effort_.add(Effort::of_a_replay(static_cast<double>(replayed.happenings), costs_.machine().cores));
    known = {replayed.cycles, enough};
  }
  return known.cycles;
}

}  // namespace attnvp::mapping
