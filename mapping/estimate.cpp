#include "mapping/estimate.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "mapping/bound.h"
#include "mapping/candidates.h"
#include "mapping/programs.h"
#include "mapping/recording.h"
#include "mapping/replay.h"

namespace attnvp::mapping {

namespace {

constexpr std::uint32_t kClusters = 8;  // of many, that are looked at

class Nothing final : public Reader {
 public:
  void command(const Queue& /*queue*/, const hal::Descriptor& /*descriptor*/) override {}
  void allocated(std::uint64_t bytes) override { peak = std::max(peak, bytes); }
  std::uint64_t peak = 0;
};

// What of a layer is dealt at a time.
struct Deal {
  std::uint32_t heads = 1;
  std::uint32_t rows = 1;  // of a head's queries, which share what comes from DRAM for them
  std::uint32_t core = 0;  // of those, where all cores take theirs side by side and then go on; 0: each by itself
};

// Multiply-accumulates of one matmul; a core that has no more rows waits for those that have.
double work(const Job& job, const Deal& deal) {
  const double all = job.scores() * job.block.layer.emb;
  if (deal.core == 0) return all;
  const std::uint32_t rows = job.block.layer.seq_q, left = rows % deal.rows;
  return all / rows * (rows - left + 1.0 * std::min(left, deal.core) * (deal.rows / deal.core));
}

// Half of the layer's batches, or heads. False: there is no half.
bool halve_heads(Job& job, const Deal& deal) {
  hal::Layer& l = job.block.layer;
  if (l.batch > 1) {
    l.batch = (l.batch + 1) / 2;
  } else if (l.heads > 2 * deal.heads * job.block.machine.clusters) {
    l.heads = (l.heads / (4 * deal.heads) + (l.heads % (4 * deal.heads) != 0 ? 1 : 0)) * 2 * deal.heads;
  } else {
    return false;
  }
  return true;
}

// Or of its query rows.
bool halve(Job& job, const Deal& deal) {
  hal::Layer& l = job.block.layer;
  hal::Mask& mask = job.rules.mask;
  if (l.ragged != 0) return false;
  if (halve_heads(job, deal)) return true;
  const std::uint32_t rows = mask.any() ? mask.queries : l.seq_q;  // of a query head
  if (rows <= 2 * deal.rows) return false;
  const std::uint32_t heads = l.seq_q / rows;
  mask.queries = (rows / 2 + deal.rows - 1) / deal.rows * deal.rows;
  l.seq_q = heads * mask.queries;
  return true;
}

Deal deal_of(const Job& job) {
  const hal::MachineInfo& m = job.block.machine;
  const firmware::Dataflow& dataflow = *find_dataflow(job.block.dataflow);
  Deal deal;
  const int nq = index_of(dataflow, "nq");
  for (std::size_t i = 0; dataflow.parameters[i] != nullptr; ++i) {
    const std::uint32_t word = job.block.parameter[i], value = word == hal::kWord ? 1 : std::max(word, 1U);
    const firmware::Extent extent = dataflow.parameters[i]->extent;
    if (extent == firmware::Extent::kHeads) deal.heads *= value;
    if (extent == firmware::Extent::kBlocks || static_cast<int>(i) == nq) deal.rows *= value;
  }
  const std::uint32_t heads = std::max(job.block.layer.batch * job.block.layer.heads, 1U);
  if (dataflow.is(firmware::kOneStep)) deal.core = deal.rows;
  deal.rows *= m.cores * (deal.core > 0 ? 1 : std::max(m.clusters / heads, 1U));
  return deal;
}

double replayed(const Recording& r, const Costs& costs, double share) {
  return replay(r, costs, Contention::kEstimate, share).cycles;
}

// Clusters that are looked at, first and last among them.
std::vector<std::uint32_t> some_of(std::uint32_t clusters) {
  const std::uint32_t n = std::min(clusters, kClusters);
  std::vector<std::uint32_t> some;
  for (std::uint32_t i = 0; i < n; ++i) some.push_back(n == 1 ? 0 : i * (clusters - 1) / (n - 1));
  return some;
}

// Whole streams, each with its share of the bus; nothing where they are too long together. `some`: those recorded.
std::optional<Estimate> whole(const Job& job, Costs& costs, std::size_t most, std::vector<Recording>& some) {
  const std::uint32_t clusters = job.block.machine.clusters;
  double bus = 0;
  for (const std::uint32_t cluster : some_of(clusters)) {
    some.push_back(record(job, cluster, costs, most));
    const Recording& r = some.back();
    if (!r.complete) return std::nullopt;
    if (r.result.status != hal::Status::kDone) return Estimate{kNever, 0};
    most -= r.commands.size();
    bus += r.bus;
  }
  bus *= 1.0 * clusters / static_cast<double>(some.size());
  double cycles = bus;
  std::set<std::tuple<double, double, std::size_t>> looked_at;
  for (const Recording& r : some) {
    if (r.commands.empty() || !looked_at.insert({r.bus, r.macs, r.commands.size()}).second) continue;
    cycles = std::max(cycles, replayed(r, costs, r.bus > 0 ? std::max(bus / r.bus, 1.0) : 1));
  }
  return Estimate{cycles, bus};
}

// As seen by one cluster; `r`: the first of its stream.
Estimate sampled(const Job& job, const Deal& deal, std::uint32_t cluster, Costs& costs, std::size_t most, Recording r) {
  const std::uint32_t clusters = job.block.machine.clusters;
  Job sample = job;
  while (!r.complete) {
    // As much less as that many commands did too little.
    const double enough = work(sample, deal) * std::min(0.5, clusters * r.macs / (2 * work(sample, deal)));
    Job half = sample;
    if (!halve(half, deal)) break;
    do {
      sample = half;
    } while (work(sample, deal) > enough && halve(half, deal));
    r = record(sample, cluster, costs, most);
  }
  if (!r.complete) r = record(sample, cluster, costs, 4 * most);
  // A schedule that takes all scores first, by way of DRAM, has only begun.
  if (!r.complete && r.score_macs > 0.75 * r.macs) r = record(sample, cluster, costs, 32 * most);
  if (r.complete && r.result.status != hal::Status::kDone) return {kNever, 0};
  const Estimate e{replayed(r, costs, clusters), clusters * r.bus};
  const double all = work(job, deal), here = work(sample, deal);
  if (!r.complete) {
    const double part = std::clamp(clusters * r.macs / (2 * here), 1e-9, 1.0) * here / all;
    return {e.cycles / part, e.bus / part};
  }
  // Rows that are added share the keys that come from DRAM for them, heads that are added do not.
  Job half = sample, tall = job;
  tall.block.layer.batch = sample.block.layer.batch;
  tall.block.layer.heads = sample.block.layer.heads;
  const bool rows = work(tall, deal) > here;
  if (!rows) tall = job;
  if (here == all || !(rows ? halve(half, deal) : halve_heads(half, deal))) {
    return {e.cycles * all / here, e.bus * all / here};
  }
  const Recording less = record(half, cluster, costs, most);
  const double fewer = work(half, deal), more = work(tall, deal);
  const auto extrapolated = [&](double of_half, double of_sample) {
    return (of_sample + (of_sample - of_half) * (more - here) / (here - fewer)) * all / more;
  };
  const Estimate whole{extrapolated(replayed(less, costs, clusters), e.cycles),
                       extrapolated(clusters * less.bus, e.bus)};
  // Less than what the layer takes of each resource it cannot be.
  return {std::max(whole.cycles, layer_cycles(job, costs.machine())), whole.bus};
}

}  // namespace

Need need_of(const Job& job) {
  Job dry = job;
  dry.block.flags |= hal::kDryRun;
  dry.block.machine.l1_bytes = hal::kEndlessL1;
  Nothing reader;
  Need need;
  need.result = read_stream(dry, 0, reader);
  need.l1_bytes = reader.peak;
  return need;
}

Estimate estimate(const Job& job, Costs& costs, std::size_t most) {
  std::vector<Recording> some;
  if (const std::optional<Estimate> all = whole(job, costs, most, some)) return *all;
  const std::uint32_t clusters = job.block.machine.clusters;
  const Deal deal = deal_of(job);
  // Where work is dealt unevenly, the first cluster or the last one has most.
  const bool begun = some.size() == 1;  // by the first cluster, with as many commands
  Recording first = begun ? std::move(some[0]) : record(job, 0, costs, most);
  bool few = first.commands.empty();  // pieces, so that a cluster may have none, and any other one most
  Estimate all = sampled(job, deal, 0, costs, most, std::move(first));
  const auto look_at = [&](std::uint32_t cluster, Recording r) {
    const Estimate e = sampled(job, deal, cluster, costs, most, std::move(r));
    all = {std::max(all.cycles, e.cycles), std::max(all.bus, e.bus)};
  };
  if (clusters == 1) return all;
  Recording last = record(job, clusters - 1, costs, most);
  few = few || last.commands.empty();
  look_at(clusters - 1, std::move(last));
  for (const std::uint32_t c : some_of(clusters)) {
    if (few && c > 0 && c + 1 < clusters) look_at(c, record(job, c, costs, most));
  }
  return all;
}

}  // namespace attnvp::mapping
