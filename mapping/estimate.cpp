#include "mapping/estimate.h"

#include <algorithm>
#include <limits>

#include "mapping/bound.h"
#include "mapping/recording.h"
#include "mapping/replay.h"

namespace attnvp::mapping {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kEndless = std::uint64_t{1} << 39;  // L1 for a dry run

class Nothing final : public Reader {
 public:
  void command(const Queue& /*queue*/, const hal::Descriptor& /*descriptor*/) override {}
  void allocated(std::uint64_t bytes) override { peak = std::max(peak, bytes); }
  std::uint64_t peak = 0;
};

double work(const Job& job) { return job.scores() * job.block.layer.emb; }

// Half of the layer: of its batches, its heads, its query rows. False: there is no half.
bool halve(Job& job, std::uint32_t clusters) {
  hal::Layer& l = job.block.layer;
  hal::Mask& mask = job.rules.mask;
  const std::uint32_t rows = mask.any() ? mask.queries : l.seq_q;  // of a query head
  if (l.ragged != 0) return false;
  if (l.batch > 1) {
    l.batch = (l.batch + 1) / 2;
  } else if (l.heads > 2 * clusters) {
    l.heads = (l.heads / 2 + 1) / 2 * 2;
  } else if (rows > 1024) {
    const std::uint32_t heads = l.seq_q / rows;
    mask.queries = (rows / 2 + 255) / 256 * 256;
    l.seq_q = heads * mask.queries;
  } else {
    return false;
  }
  return true;
}

double replayed(const Recording& r, const Costs& costs) { return replay(r, costs, Contention::kEstimate).cycles; }

// As seen by one cluster.
double estimate_of(const Job& job, std::uint32_t cluster, Costs& costs, std::size_t most) {
  Job sample = job;
  Recording r = record(sample, cluster, costs, most);
  while (!r.complete) {
    Job half = sample;
    if (!halve(half, job.block.machine.clusters)) break;
    sample = half;
    r = record(sample, cluster, costs, most);
  }
  if (!r.complete) r = record(sample, cluster, costs, 4 * most);
  if (r.complete && r.result.status != hal::Status::kDone) return kNever;
  const double cycles = replayed(r, costs);
  if (!r.complete) return cycles / std::clamp(r.macs / (2 * work(sample)), 1e-9, 1.0) *
                          (work(job) / work(sample));
  const double all = work(job), here = work(sample);
  if (all == here) return cycles;
  Job half = sample;
  if (!halve(half, job.block.machine.clusters)) return cycles * all / here;
  const Recording less = record(half, cluster, costs, most);
  const double fewer = work(half);
  // Less than what the layer takes of each resource it cannot be.
  return std::max(cycles + (cycles - replayed(less, costs)) * (all - here) / (here - fewer),
                  layer_cycles(job, costs.machine()));
}

}  // namespace

Need need_of(const Job& job) {
  Job dry = job;
  dry.block.flags |= hal::kDryRun;
  dry.block.machine.l1_bytes = kEndless;
  Nothing reader;
  Need need;
  need.result = read_stream(dry, 0, reader);
  need.l1_bytes = reader.peak;
  return need;
}

// Where work is dealt unevenly, the first cluster or the last one has most.
double estimate(const Job& job, Costs& costs, std::size_t most) {
  const double first = estimate_of(job, 0, costs, most);
  const std::uint32_t clusters = job.block.machine.clusters;
  return clusters == 1 ? first : std::max(first, estimate_of(job, clusters - 1, costs, most));
}

}  // namespace attnvp::mapping
