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

// All clusters, in the order in which they are looked at: some of them evenly spread, first and last among them, then
// the others, which are looked at where there was nothing to do for some of those.
std::vector<std::uint32_t> in_order(std::uint32_t clusters) {
  const std::uint32_t n = std::min(clusters, kClusters);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < n; ++i) all.push_back(n == 1 ? 0 : i * (clusters - 1) / (n - 1));
  for (std::uint32_t c = 0; c < clusters; ++c) {
    if (std::find(all.begin(), all.begin() + n, c) == all.begin() + n) all.push_back(c);
  }
  return all;
}

// Those that have anything to do at all: where there are fewer pieces of work than clusters, the first or the last one
// has none, or, of uneven pieces, one between.
std::vector<std::uint32_t> busy_ones(const Job& job, Costs& costs) {
  const std::uint32_t clusters = job.block.machine.clusters;
  if (clusters == 1) return {0};
  const auto busy = [&](std::uint32_t c) { return !record(job, c, costs, 1).commands.empty(); };
  const std::vector<std::uint32_t> order = in_order(clusters);
  const auto end = order.begin() + std::min(clusters, kClusters);
  const bool all = busy(0) && busy(clusters - 1) && (!job.rules.mask.any() || std::all_of(order.begin(), end, busy));
  std::vector<std::uint32_t> some;
  for (std::uint32_t c = 0; c < clusters; ++c) {
    if (all || busy(c)) some.push_back(c);
  }
  return some;
}

// Whole streams, each with its share of the bus; nothing where they are too long together. `some`: those recorded.
std::optional<Estimate> whole(const Job& job, Costs& costs, std::size_t most, std::vector<Recording>& some) {
  const std::uint32_t clusters = job.block.machine.clusters;
  double bus = 0, macs = 0;
  std::uint32_t busy = 0, looked_at = 0;
  for (const std::uint32_t cluster : in_order(clusters)) {
    if (looked_at >= kClusters && (busy == looked_at || busy >= kClusters)) break;
    ++looked_at;
    some.push_back(record(job, cluster, costs, most));
    const Recording& r = some.back();
    if (!r.complete) return std::nullopt;
    if (r.result.status != hal::Status::kDone) return Estimate{kNever, 0};
    most -= r.commands.size();
    busy += r.commands.empty() ? 0 : 1;
    bus += r.bus;
    macs += r.macs;
  }
  bus *= 1.0 * clusters / looked_at;
  double cycles = 0;
  std::set<std::tuple<double, double, std::size_t>> known;
  for (const Recording& r : some) {
    if (r.commands.empty() || !known.insert({r.bus, r.macs, r.commands.size()}).second) continue;
    cycles = std::max(cycles, replayed(r, costs, r.bus > 0 ? std::max(bus / r.bus, 1.0) : 1));
  }
  // Of uneven row blocks those looked at may be the short ones: the others have what is missing of the layer.
  const double missing = layer_demand(job, costs.machine()).macs * looked_at / clusters / std::max(macs, 1.0);
  if (looked_at < clusters && job.rules.mask.any()) cycles *= std::max(missing, 1.0);
  return Estimate{std::max(cycles, bus), bus};
}

// As seen by one of `clusters` that share the work; `r`: the first of its stream.
Estimate sampled(const Job& job, const Deal& deal, std::uint32_t cluster, std::uint32_t clusters, Costs& costs,
                 std::size_t most, Recording r) {
  Job sample = job;
  while (!r.complete) {
    // As much less as that many commands did too little.
    const double enough = work(sample, deal) * std::min(0.5, clusters * r.macs / (2 * work(sample, deal)));
    Job half = sample, smaller = sample;
    if (!halve(half, deal)) break;
    do {
      smaller = half;
    } while (work(smaller, deal) > enough && halve(half, deal));
    Recording less = record(smaller, cluster, costs, most);
    // Few rows may be another kind of layer, with other tiles.
    if (less.complete && less.result.status != hal::Status::kDone) break;
    sample = smaller;
    r = std::move(less);
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
  return {std::max(whole.cycles, layer_demand(job, costs.machine()).cycles()), whole.bus};
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
  const Deal deal = deal_of(job);
  const std::vector<std::uint32_t> busy = busy_ones(job, costs);
  if (busy.empty()) return {kNever, 0};  // firmware has refused it
  const auto share = static_cast<std::uint32_t>(busy.size());
  // Where work is dealt unevenly, the first cluster or the last one has most.
  const bool begun = some.size() == 1 && busy[0] == 0;  // by the first cluster, with as many commands
  Recording of_first = begun ? std::move(some[0]) : record(job, busy[0], costs, most);
  const Estimate first = sampled(job, deal, busy[0], share, costs, most, std::move(of_first));
  Estimate most_of_all = first;
  const auto look_at = [&](std::uint32_t cluster) {
    const Estimate e = sampled(job, deal, cluster, share, costs, most, record(job, cluster, costs, most));
    most_of_all = {std::max(most_of_all.cycles, e.cycles), std::max(most_of_all.bus, e.bus)};
  };
  if (share > 1) look_at(busy.back());
  // With few pieces any cluster may have most.
  const std::uint32_t between = share < job.block.machine.clusters ? std::min(share, kClusters) : 0;
  for (std::uint32_t i = 1; i + 1 < between; ++i) look_at(busy[i * (share - 1) / (between - 1)]);
  // Those that have nothing to do leave the layer's products to the others.
  const double arrays = layer_demand(job, costs.machine()).arrays * job.block.machine.clusters / share;
  return {std::max(most_of_all.cycles, arrays), most_of_all.bus};
}

}  // namespace attnvp::mapping
