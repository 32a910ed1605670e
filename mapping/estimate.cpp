#include "mapping/estimate.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mapping/bound.h"
#include "mapping/programs.h"
#include "mapping/recording.h"
#include "mapping/sample.h"
#include "models/cached_dram/config.h"

namespace attnvp::mapping {

namespace {

constexpr std::uint32_t kClusters = 8;  // of many, that are looked at
constexpr std::size_t kBeside = 4;      // of clusters that are alike, that are replayed beside each other: 2 are not
                                        //   enough for few bursts of many (a third off), more tell no more
constexpr std::uint32_t kShares = 4;    // so much more is looked at of them together
constexpr std::size_t kLonger = 4;      // likewise of a sample that cannot be made smaller,
constexpr std::size_t kLongest = 32;    //   and of one that has only begun by then
constexpr double kLeast = 1.0 / 8;      // of a layer that turned out to be too long, what is tried next
// Where that much of the time is DRAM's, and so many commands are looked at, copies are counted in whole streams, if
// those are no longer than this.
constexpr double kBusBound = 0.9;
constexpr std::size_t kClose = 4000, kCounted = 100'000;

class BusTime final : public Reader {
 public:
  BusTime(Costs& costs, std::size_t most) : costs_(costs), left_(most) {}
  void command(const Queue& queue, const hal::Descriptor& d) override {
    if (left_ > 0) --left_;
    if (d.opcode == hal::Opcode::kCopy) cycles += costs_.of(costs_.number_of(queue.unit, d)).bus;
  }
  bool enough() const override { return left_ == 0; }
  double cycles = 0;

 private:
  Costs& costs_;
  std::size_t left_;
};

// Cycles of the DRAM bus that the copies of all clusters take; nothing where their streams are too long.
std::optional<double> bus_time(const Job& job, Costs& costs) {
  BusTime reader(costs, kCounted);
  for (std::uint32_t c = 0; c < job.block.machine.clusters; ++c) {
    read_stream(job, c, reader);
    if (reader.enough()) return std::nullopt;
  }
  return reader.cycles;
}

// Of the bus time of all copies, what is left where a cache before DRAM has what is read again: as much as DRAM takes
// for what the layer has, or the cache for all of it. Of a step by itself nothing is known to come again.
double missed(const Job& job, const MachineConfig& m, double bus) {
  const double least = layer_demand(job, m).bus;
  if (m.dram.policy != "cached" || bus == 0 || least == 0) return 1;
  const auto& cache = m.own<CacheConfig>();
  const hal::Layer& l = job.block.layer;
  // K and V of the heads that all clusters have at hand.
  const double share = std::min(1.0, m.clusters / std::max(1.0 * l.batch * l.heads, 1.0));
  const std::uint32_t value_emb = job.types.value_emb > 0 ? job.types.value_emb : l.emb;
  const double bytes = share * job.key_rows() * (1.0 * l.emb + value_emb) * hal::element_bytes(job.types.operand);
  if (bytes > static_cast<double>(cache.size_bytes)) return 1;
  const double hits = bus * m.dram.bytes_per_second / cache.bytes_per_second;
  return std::min(std::max(least, hits) / bus, 1.0);
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
// has none, or, of uneven pieces, one between. `recorded`: of the first in that
// order.
std::vector<std::uint32_t> busy_ones(const Job& job, Replays& replays, const std::vector<std::uint32_t>& order,
                                     const std::vector<Recording>& recorded) {
  const std::uint32_t clusters = job.block.machine.clusters;
  if (clusters == 1) return {0};
  std::vector<std::optional<bool>> known(clusters);
  for (std::size_t i = 0; i < recorded.size(); ++i) known[order[i]] = !recorded[i].commands.empty();
  const auto busy = [&](std::uint32_t c) {
    if (!known[c]) known[c] = !replays.record(job, c, 1).commands.empty();
    return *known[c];
  };
  const auto end = order.begin() + std::min(clusters, kClusters);
  const bool all = busy(0) && busy(clusters - 1) && (!job.rules.mask.any() || std::all_of(order.begin(), end, busy));
  std::vector<std::uint32_t> some;
  for (std::uint32_t c = 0; c < clusters; ++c) {
    if (all || busy(c)) some.push_back(c);
  }
  return some;
}

// So many of a stream's commands, for a look; a rough one counts no work for what a mask hides of tiles.
Recording stream(const Job& job, std::uint32_t cluster, Replays& replays, std::size_t most, bool rough,
                 Recording* half = nullptr) {
  Recording r = replays.record(job, cluster, most, half);
  if (rough) r.macs -= r.hidden;
  if (rough && half != nullptr) half->macs -= half->hidden;
  return r;
}

// The first of a stream, and of what that is the first half, where there is more of it.
struct Beginning {
  Recording all, half;
};

Beginning begin(const Job& job, std::uint32_t cluster, Replays& replays, std::size_t most, bool rough) {
  Beginning b;
  b.all = stream(job, cluster, replays, most, rough, &b.half);
  return b;
}

// Whole streams; nothing where they are too long together. `some`: those recorded, no more of them than kClusters where
// these are alike or the others' are too long; `half` of the last one. Each has as many others' share of the bus as it
// stands for.
std::optional<Estimate> whole(const Job& job, Replays& replays, std::size_t most, bool rough, double enough,
                              std::vector<Recording>& some, Recording& half) {
  Costs& costs = replays.costs();
  const std::uint32_t clusters = job.block.machine.clusters;
  double bus = 0, macs = 0, commands = 0, all_commands = 0, l1 = 0, engine = 0;
  std::uint32_t busy = 0;
  bool alike = true, all_there = true;
  for (const std::uint32_t cluster : in_order(clusters)) {
    if (some.size() >= kClusters && alike && busy > 0) break;
    Recording r = stream(job, cluster, replays, most, rough, &half);
    all_there = r.complete || some.size() < kClusters || busy < kClusters;
    if (!all_there) break;
    some.push_back(std::move(r));
    const Recording& last = some.back();
    if (!last.complete) return std::nullopt;
    if (last.result.status != hal::Status::kDone) return Estimate{kNever};
    most -= last.commands.size();
    commands = std::max(commands, static_cast<double>(last.commands.size()));
    all_commands += static_cast<double>(last.commands.size());
    l1 = std::max(l1, last.l1);
    engine = std::max(engine, last.busiest());
    busy += last.commands.empty() ? 0 : 1;
    bus += last.bus;
    macs += last.macs;
    alike = alike && last.bus == some[0].bus && last.macs == some[0].macs &&
            last.commands.size() == some[0].commands.size();
  }
  // Of uneven shares those looked at may be the short ones: the others have what is missing of the layer.
  const double missing = layer_demand(job, costs.machine()).macs / std::max(macs, 1.0);
  const double counted = 1.0 * clusters / static_cast<double>(some.size());
  const double share = alike || some.size() == clusters ? counted : std::max(counted, missing);
  bus *= share;
  all_commands *= share;
  const double part = missed(job, costs.machine(), bus);
  const double least = std::max(bus * part, engine);
  if (least >= enough) return Estimate{least, bus * part, commands, all_commands, l1, all_there, some[0].digest};
  std::vector<const Recording*> all;
  for (const Recording& r : some) {
    if (!r.commands.empty()) all.push_back(&r);
  }
  double beside = 1;  // of those that are alike some stand for all
  if (alike && all.size() > kBeside) {
    beside = static_cast<double>(all.size()) / static_cast<double>(kBeside);
    all.resize(kBeside);
  }
  double cycles = replays.cycles(all, share * beside * part, enough);
  if (some.size() < clusters && job.rules.mask.any()) cycles *= std::max(missing / counted, 1.0);
  return Estimate{std::max(cycles, bus * part), bus * part, commands, all_commands, l1, all_there, some[0].digest};
}

// How much is looked at of a sample of the layer: more of one that is not halved once more.
std::size_t looked_at(const Job& sample, const Deal& deal, std::size_t most) {
  Job half = sample;
  return make_smaller(half, deal, most) ? most : kLonger * most;
}

// What a cluster's stream tells of the layer.
struct Sampled {
  Estimate estimate;  // all_commands: of that cluster
  double macs = 0;    // of all of the stream; 0: less of it was looked at
};

// As seen by one of `clusters` that share the work, or of `longer` if its stream goes on; `first`: of that.
Sampled sampled(const Job& job, const Deal& deal, std::uint32_t cluster, std::uint32_t clusters, double longer,
                Replays& replays, std::size_t most, double enough, Beginning first) {
  Costs& costs = replays.costs();
  Recording& r = first.all;
  Beginning whole_job;  // of the layer itself, where smaller ones are looked at
  const bool rough = is_rough(most);
  Job sample = job;
  while (!r.complete) {
    // As much less as so many commands would do too little; but loads may come first, and products later.
    const double part = rough ? std::min(1.0, static_cast<double>(most) / static_cast<double>(r.commands.size())) : 1;
    const double tried = clusters * r.macs * part / (products_of(job) * work(sample, deal));
    const double little = work(sample, deal) * std::clamp(tried, kLeast, 0.5);
    Job half = sample, smaller = sample;
    if (!make_smaller(half, deal, most)) break;
    do {
      smaller = half;
    } while (work(smaller, deal) > little && make_smaller(half, deal, most));
    Beginning less = begin(smaller, cluster, replays, looked_at(smaller, deal, most), rough);
    // Few rows may be another kind of layer, with other tiles.
    if (less.all.complete && less.all.result.status != hal::Status::kDone) break;
    sample = smaller;
    if (whole_job.all.commands.empty()) whole_job = std::move(first);
    first = std::move(less);
  }
  // What has moved less in all than the layer itself has by then is another kind of schedule: few rows' K and V may
  // stay where many rows' come again.
  if (rough && r.complete && r.bus * work(job, deal) < whole_job.all.bus * work(sample, deal)) {
    first = std::move(whole_job);
    sample = job;
  }
  if (!r.complete && r.commands.size() != kLonger * most)
    first = begin(sample, cluster, replays, kLonger * most, rough);
  // A schedule that takes all scores first, by way of DRAM, has only begun.
  if (!r.complete && r.score_macs > 0.75 * r.macs) first = begin(sample, cluster, replays, kLongest * most, rough);
  if (r.complete && r.result.status != hal::Status::kDone) return {{kNever}};
  const double all = work(job, deal), here = work(sample, deal);
  // Rows that are added share the keys that come from DRAM for them, heads that are added do not.
  Job half = sample, tall = job;
  tall.block.layer.batch = sample.block.layer.batch;
  tall.block.layer.heads = sample.block.layer.heads;
  const bool rows = work(tall, deal) > here;
  if (!rows) tall = job;
  if (r.complete && here == all) {
    const double part = missed(job, costs.machine(), clusters * r.bus);
    return {{replays.cycles({&r}, clusters * part, enough), clusters * r.bus * part,
             static_cast<double>(r.commands.size()), static_cast<double>(r.commands.size()), r.l1},
            r.macs};
  }
  // What has been added from a smaller sample to this one, or to this one's stream from a part of it, is added as often
  // as the rest takes.
  bool smaller = r.complete && (rows ? halve(half, deal) : halve_heads(half, deal));
  Recording less;
  if (smaller) {
    less = stream(half, cluster, replays, most, rough);
    smaller = less.result.status == hal::Status::kDone && less.complete;
  }
  if (!smaller && r.complete) less = stream(sample, cluster, replays, r.commands.size() / 2, rough);
  if (!r.complete) less = std::move(first.half);
  const double more = work(tall, deal);
  const double parts = r.complete ? clusters : longer;
  const double done = r.complete ? here : std::min(parts * r.macs / products_of(job), more);
  // Rows of a mask are not alike: of less than two heads' the first half says little of what follows.
  const double heads_done = done / more * sample.block.layer.batch * sample.block.layer.heads;
  const bool on_average = rough && !r.complete && job.rules.mask.by_place() && heads_done < 2.0 * clusters;
  const double before = on_average ? 0 : smaller ? work(half, deal) : done * less.macs / std::max(r.macs, 1.0);
  constexpr double kAbove = 1.0001;  // by more than rounding
  const auto extrapolated = [&](double less_has, double sample_has) {
    // Few heads that are dealt otherwise may take more than many do: then all of them are of the one kind.
    const bool grows = !on_average && done > before && sample_has > less_has;
    const double added = grows ? (sample_has - less_has) / (done - before) : sample_has / std::max(done, 1.0);
    return (sample_has + added * (more - done)) * all / more;
  };
  const bool exact_bus = !r.complete && most >= kClose && job.rules.mask.any();
  const LayerDemand layer = layer_demand(job, costs.machine());
  // O may be written after all that was looked at.
  const double out = r.complete ? 0 : layer.out - extrapolated(parts * less.out, parts * r.out);
  const double bus = extrapolated(parts * less.bus, parts * r.bus) + std::max(out, 0.0);
  const double part = missed(job, costs.machine(), bus);
  const double of_less = on_average ? 0 : replays.cycles({&less}, clusters * part);
  // A sample that takes as long is enough to tell that the layer takes too long (extrapolated is that, too).
  const double times = done > before ? (more - done) / (done - before) : 0;
  const double too_long = std::max((enough * more / all + times * of_less) / (1 + times), kAbove * of_less);
  const double of_sample = replays.cycles({&r}, clusters * part, exact_bus ? kNever : too_long);
  const double whole = extrapolated(of_less, of_sample);
  // Less than what the layer takes of each resource it cannot be.
  double cycles = std::max(whole, out > 0 ? bus * part : 0.0), taken = bus * part;
  // Rows of a mask see more keys, or fewer, than those before them.
  if (exact_bus && taken > kBusBound * cycles) {
    if (const std::optional<double> exact = bus_time(job, costs)) {
      cycles *= *exact * part / taken;
      taken = *exact * part;
    }
  }
  const double commands = static_cast<double>(r.commands.size()) * all / std::max(done, 1.0);
  return {{std::max(cycles, layer.cycles()), taken, commands, commands, r.l1 * all / std::max(done, 1.0)}};
}

}  // namespace

Estimate estimate(const Job& job, Replays& replays, std::size_t most, double enough) {
  Costs& costs = replays.costs();
  std::vector<Recording> some;
  Recording half;
  const Deal deal = deal_of(job);
  const std::size_t first_commands = looked_at(job, deal, most);
  // Smaller samples of a stream that is little longer would take as long, and not be exact.
  const std::size_t shares = std::clamp(job.block.machine.clusters, 2U, kShares);
  const bool rough = is_rough(most);
  const std::size_t of_all = rough ? std::max(shares * most, first_commands) : shares * most;
  if (const std::optional<Estimate> all = whole(job, replays, of_all, rough, enough, some, half)) return *all;
  const std::uint64_t digest = some[0].digest;
  const std::vector<std::uint32_t> order = in_order(job.block.machine.clusters);
  const std::vector<std::uint32_t> busy = busy_ones(job, replays, order, some);
  if (busy.empty()) return {kNever};  // firmware has refused it
  const auto share = static_cast<std::uint32_t>(busy.size());
  const auto beginning = [&](std::uint32_t cluster) {  // again only where less of it was seen
    const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), cluster) - order.begin());
    const bool longer = at < some.size() && some[at].commands.size() >= first_commands;
    if (at < some.size() && some[at].complete && (rough || !longer)) return Beginning{some[at], {}};
    if (rough ? longer : at == 0 && some.size() == 1) return Beginning{some[at], half};
    return begin(job, cluster, replays, first_commands, rough);
  };
  const LayerDemand layer = layer_demand(job, costs.machine());
  // Of clusters whose streams are longer one has so much of the layer: what those have not that were seen to the end.
  double seen = 0;
  std::uint32_t shorter = 0;
  for (const Recording& r : some) {
    if (!r.complete || r.commands.empty()) continue;
    seen += r.macs;
    ++shorter;
  }
  const double longer = rough && shorter < share && layer.macs > seen
                            ? std::clamp((share - shorter) * layer.macs / (layer.macs - seen), share / 8.0, 1.0 * share)
                            : share;
  // Where work is dealt unevenly, the first cluster or the last one has most.
  const Sampled first = sampled(job, deal, busy[0], share, longer, replays, most, enough, beginning(busy[0]));
  Estimate most_of_all = first.estimate;
  double macs = first.macs, most_macs = first.macs;  // of all that are looked at, and of the one that has most
  std::uint32_t looks = 1;
  bool to_the_end = first.macs > 0;  // all of them
  const auto look_at = [&](std::uint32_t cluster) {
    if (most_of_all.cycles >= enough) return;
    const auto [e, its_macs] = sampled(job, deal, cluster, share, longer, replays, most, enough, beginning(cluster));
    ++looks;
    macs += its_macs;
    most_macs = std::max(most_macs, its_macs);
    to_the_end = to_the_end && its_macs > 0;
    most_of_all = {std::max(most_of_all.cycles, e.cycles), std::max(most_of_all.bus, e.bus),
                   std::max(most_of_all.commands, e.commands), most_of_all.all_commands + e.all_commands,
                   std::max(most_of_all.l1, e.l1)};
  };
  if (share > 1) look_at(busy.back());
  // One that has rows of two heads has more than those at the ends.
  const std::uint32_t heads = std::max(job.block.layer.batch * job.block.layer.heads, 1U);
  if (share == job.block.machine.clusters && heads < share && share % heads != 0 && heads > 1) look_at(share / heads);
  // What each of the others has on average, where it is more than any of those: the layer has no fewer products.
  const auto of_others = [&] {
    const double each = share > looks && to_the_end ? (layer.macs - macs) / (share - looks) : 0;
    return each > most_macs ? each / most_macs : 1;
  };
  // With few pieces any cluster may have most.
  const std::uint32_t between = share < job.block.machine.clusters || of_others() > 1 ? std::min(share, kClusters) : 0;
  for (std::uint32_t i = 1; i + 1 < between; ++i) look_at(busy[i * (share - 1) / (between - 1)]);
  most_of_all.cycles *= of_others();
  // Those that have nothing to do leave the layer's products and scores to the others.
  const double engines = std::max(layer.arrays, layer.lanes) * job.block.machine.clusters / share;
  return {std::max(most_of_all.cycles, engines),
          most_of_all.bus,
          most_of_all.commands,
          most_of_all.all_commands * share / looks,
          most_of_all.l1,
          false,
          digest};
}

}  // namespace attnvp::mapping
