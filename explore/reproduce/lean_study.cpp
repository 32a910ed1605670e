#include "explore/reproduce/lean_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explore/tuning/tuned_runner.h"
#include "platform/config/energy.h"
#include "platform/config/network.h"
#include "platform/report/json.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

// What the paper says of its machine, as means over its experiments.
constexpr double kPaperOverFlash2 = 2.6, kPaperMostOverFlash2 = 8.33, kPaperOverFlashDecoding = 1.73;
constexpr std::uint32_t kLongest = 512 << 10;
constexpr std::uint64_t kMostTiles = 120'000;  // keeps the study below a minute

double over(const job::Result& a, const job::Result& b) {
  return static_cast<double>(a.cycles) / static_cast<double>(b.cycles);
}
// The same if every tile took as long on any worker, whatever the others do.
double by_tiles(const job::Result& a, const job::Result& b) {
  return static_cast<double>(a.statistic("partition.max")) / static_cast<double>(b.statistic("partition.max"));
}
double occupancy(const job::Result& r, std::uint32_t slots) {
  return static_cast<double>(r.statistic("partition.tiles")) /
         (static_cast<double>(r.statistic("partition.max")) * slots);
}

template <class Value>
double mean(const LeanStudy& s, const Value& value) {
  double sum = 0;
  std::size_t n = 0;
  for (const LeanPoint& p : s.points) {
    if (p.context == 0) continue;
    sum += value(p);
    ++n;
  }
  return sum / static_cast<double>(std::max<std::size_t>(n, 1));
}

std::string context_text(const LeanPoint& p) {
  if (p.context == 0) return "ragged";
  return p.context >= 1024 ? fmt::format("{}K", p.context / 1024) : fmt::to_string(p.context);
}

struct Table {  // of the facts: what the partition must be
  std::uint32_t batch, heads, context, emb, tiles, most, high_load, splits, span, flash2;
};
constexpr Table kPartitions[] = {{1, 32, 65536, 64, 8192, 38, 200, 6, 43, 256},
                                 {1, 12, 65536, 64, 3072, 15, 48, 16, 16, 256},
                                 {1, 56, 262144, 64, 57344, 266, 104, 7, 294, 1024},
                                 {8, 32, 16384, 128, 32768, 152, 152, 1, 256, 256}};

Section headline(const LeanStudy& s) {
  Section out;
  out.title = "Headline";
  out.lead = fmt::format(
      "Means over {} shapes of contexts from 1K to 512K; the paper's are over its own. \"By tiles\" is what the "
      "partition alone would give: the longest worker's tiles of the one divided by those of the other.",
      std::count_if(s.points.begin(), s.points.end(), [](const LeanPoint& p) { return p.context > 0; }));
  out.columns = {"speed-up of lean", "paper", "ours", "ratio", "by tiles"};
  const auto row = [&](const std::string& what, double paper, double ours, double tiles) {
    out.rows.push_back({what, times(paper), times(ours), fmt::format("{:.2f}", ours / paper), times(tiles)});
  };
  row("over FlashAttention-2, mean", kPaperOverFlash2,
      mean(s, [](const LeanPoint& p) { return over(p.flash2, p.lean); }),
      mean(s, [](const LeanPoint& p) { return by_tiles(p.flash2, p.lean); }));
  double most = 0, most_tiles = 0;
  for (const LeanPoint& p : s.points) {
    if (p.context != kLongest) continue;
    most = std::max(most, over(p.flash2, p.lean));
    most_tiles = std::max(most_tiles, by_tiles(p.flash2, p.lean));
  }
  row("over FlashAttention-2 at 512K, most", kPaperMostOverFlash2, most, most_tiles);
  row("over FlashDecoding, mean", kPaperOverFlashDecoding,
      mean(s, [](const LeanPoint& p) { return over(p.flash_decoding, p.lean); }),
      mean(s, [](const LeanPoint& p) { return by_tiles(p.flash_decoding, p.lean); }));
  // Shapes whose bus is full under both, and the others: what lean gains there.
  std::size_t full = 0, others = 0;
  double bus = 0, gain_full = 0, gain_others = 0, share = 0;
  for (const LeanPoint& p : s.points) {
    bus = std::max(bus, p.lean.utilization.dram);
    if (p.context == 0) continue;
    const bool is_full = p.lean.utilization.dram > 0.9 && p.flash_decoding.utilization.dram > 0.9;
    (is_full ? full : others) += 1;
    (is_full ? gain_full : gain_others) += over(p.flash_decoding, p.lean);
    share = std::max(share, p.flash2.utilization.dram);
  }
  const auto mean_of = [](double sum, std::size_t n) { return sum / static_cast<double>(std::max<std::size_t>(n, 1)); };
  out.notes.push_back(
      fmt::format("The bus is busy up to {} of the time under lean. In {} of {} shapes it is over 90% busy under "
                  "FlashDecoding too; "
                  "lean is {:.2f}x as fast there and {:.2f}x in the others, in the mean.",
                  report::percent(bus), full, full + others, mean_of(gain_full, full), mean_of(gain_others, others)));
  out.notes.push_back(fmt::format("FlashAttention-2 has one worker per head: the bus is busy up to {} of the time.",
                                  report::percent(share)));
  out.notes.push_back(fmt::format(
      "Unexplained: the paper's {:.2f}x over FlashDecoding. A shared bus alone does not account for it: by tiles, as "
      "if "
      "every worker had a bus of its own, these shapes give {:.2f}x.",
      kPaperOverFlashDecoding, mean(s, [](const LeanPoint& p) { return by_tiles(p.flash_decoding, p.lean); })));
  out.notes.push_back("What limits of a worker and the launch of kernels add is in the last section.");
  return out;
}

Section speedups(const LeanStudy& s) {
  Section out;
  out.title = "Speed-ups and occupancy";
  out.lead = fmt::format(
      "Occupancy is tiles divided by {} workers times the longest worker's tiles; bus is the share of cycles in which "
      "DRAM transfers.",
      s.slots);
  out.columns = {"batch x heads", "context", "d",         "lean cycles", "over FD", "over FA-2",
                 "lean occ.",     "FD occ.", "FA-2 occ.", "lean bus",    "FD bus",  "FA-2 bus"};
  out.left = 2;
  for (const LeanPoint& p : s.points) {
    out.rows.push_back(
        {fmt::format("{} x {}", p.batch, p.heads), context_text(p), fmt::to_string(p.emb),
         report::with_commas(p.lean.cycles), times(over(p.flash_decoding, p.lean)), times(over(p.flash2, p.lean)),
         fmt::format("{:.3f}", occupancy(p.lean, s.slots)), fmt::format("{:.3f}", occupancy(p.flash_decoding, s.slots)),
         fmt::format("{:.3f}", occupancy(p.flash2, s.slots)), report::percent(p.lean.utilization.dram),
         report::percent(p.flash_decoding.utilization.dram), report::percent(p.flash2.utilization.dram)});
  }
  out.notes.push_back(
      "ragged: eight batches of 64K, 32K, ... 512 keys. The occupancies of its row are measured like the others'.");
  out.notes.push_back(
      "With few heads (32 x heads below the number of workers) the public implementation of lean uses fewer workers "
      "than there are, and FlashDecoding may use more.");
  return out;
}

Section partitions(const LeanStudy& s) {
  Section out;
  out.title = "Partition";
  out.lead =
      "Tiles, the longest worker's, how many workers have as many; FlashDecoding's pieces and longest worker; "
      "FlashAttention-2's: paper / ours.";
  out.columns = {"batch x heads", "context",   "d",       "tiles",    "lean max",
                 "high load",     "FD splits", "FD span", "FA-2 span"};
  out.left = 2;
  for (const Table& t : kPartitions) {
    for (const LeanPoint& p : s.points) {
      if (p.batch != t.batch || p.heads != t.heads || p.context != t.context || p.emb != t.emb) continue;
      const auto pair = [](std::uint64_t paper, std::uint64_t ours) { return fmt::format("{} / {}", paper, ours); };
      out.rows.push_back({fmt::format("{} x {}", p.batch, p.heads), context_text(p), fmt::to_string(p.emb),
                          pair(t.tiles, p.lean.statistic("partition.tiles")),
                          pair(t.most, p.lean.statistic("partition.max")),
                          pair(t.high_load, p.lean.statistic("partition.high_load")),
                          pair(t.splits, p.flash_decoding.statistic("partition.splits")),
                          pair(t.span, p.flash_decoding.statistic("partition.max")),
                          pair(t.flash2, p.flash2.statistic("partition.max"))});
    }
  }
  return out;
}

}  // namespace

LeanStudy run_lean_study(const MachineConfig& machine, const std::function<void(const std::string&)>& progress) {
  LeanStudy s;
  s.hardware = machine.name;
  s.slots = machine.clusters * machine.cores;
  struct Shape {
    std::uint32_t batch, heads, emb;
  };
  for (const Shape& shape : {Shape{1, 12, 64}, {1, 32, 64}, {1, 56, 64}, {4, 32, 64}, {8, 32, 128}}) {
    for (std::uint32_t context = 1024; context <= kLongest; context *= context == 256 << 10 ? 2 : 4) {
      const std::uint64_t tiles = std::uint64_t{shape.batch} * shape.heads * context / (shape.emb <= 64 ? 256 : 128);
      if (tiles > kMostTiles) continue;
      s.points.push_back({shape.batch,
                          shape.heads,
                          context,
                          shape.emb,
                          fmt::format("B={},H={},NQ=1,NKV={},E={}", shape.batch, shape.heads, context, shape.emb),
                          {},
                          {},
                          {}});
    }
  }
  s.points.push_back({8, 32, 0, 64, "H=32,NQ=1,E=64,L=65536+32768+16384+8192+4096+2048+1024+512", {}, {}, {}});

  explore::TunedRunner runner(machine, config::load_energy(machine.energy), false);
  for (LeanPoint& p : s.points) {
    const config::Network network = config::load_network(p.network);
    const auto run = [&](const char* dataflow) {
      progress(p.network + " with " + dataflow);
      job::Schedule schedule = job::parse_dataflow(dataflow);
      schedule.tiling.set("nkv", std::min(network.emb <= 64 ? 256U : 128U, network.seq_kv));  // the paper's BLOCK_N
      return runner.run(network, schedule, nullptr, {});
    };
    p.lean = run("lean");
    p.flash_decoding = run("flash-decoding");
    p.flash2 = run("flash2");
  }
  return s;
}

std::vector<Section> lean_sections(const LeanStudy& s) { return {headline(s), speedups(s), partitions(s)}; }

std::string lean_json(const LeanStudy& s) {
  nlohmann::ordered_json j = report::json_document();
  j["hardware"] = s.hardware;
  j["workers"] = s.slots;
  j["paper"] = {{"over_flash2", kPaperOverFlash2},
                {"most_over_flash2", kPaperMostOverFlash2},
                {"over_flash_decoding", kPaperOverFlashDecoding}};
  j["ours"] = {{"over_flash2", mean(s, [](const LeanPoint& p) { return over(p.flash2, p.lean); })},
               {"over_flash_decoding", mean(s, [](const LeanPoint& p) { return over(p.flash_decoding, p.lean); })}};
  for (const LeanPoint& p : s.points) {
    nlohmann::ordered_json point{
        {"network", p.network}, {"batch", p.batch}, {"heads", p.heads}, {"context", p.context}, {"emb", p.emb}};
    for (const job::Result* r : {&p.lean, &p.flash_decoding, &p.flash2}) {
      point[r->schedule.text] = {{"cycles", r->cycles},
                                 {"tiles", r->statistic("partition.tiles")},
                                 {"max", r->statistic("partition.max")},
                                 {"high_load", r->statistic("partition.high_load")},
                                 {"splits", r->statistic("partition.splits")},
                                 {"occupancy", occupancy(*r, s.slots)},
                                 {"dram_utilization", r->utilization.dram}};
    }
    j["points"].push_back(std::move(point));
  }
  return report::json_text(j);
}

std::string lean_csv(const LeanStudy& s) {
  std::string out = "batch,heads,context,emb,dataflow,cycles,tiles,max,high_load,splits,occupancy,dram_utilization\n";
  for (const LeanPoint& p : s.points) {
    for (const job::Result* r : {&p.lean, &p.flash_decoding, &p.flash2}) {
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{:.6f},{:.6f}\n", p.batch, p.heads, p.context, p.emb,
                         r->schedule.text, r->cycles, r->statistic("partition.tiles"), r->statistic("partition.max"),
                         r->statistic("partition.high_load"), r->statistic("partition.splits"), occupancy(*r, s.slots),
                         r->utilization.dram);
    }
  }
  return out;
}

std::string lean_markdown(const std::vector<Section>& sections) {
  std::string out =
      "# LeanAttention beside this platform\n\n"
      "Generated by `attnvp reproduce lean --markdown docs/results/lean.md`. The paper: arXiv 2405.10480. One "
      "query row per head (decoding) on `configs/hardware/a100-40gb.yaml`; the partition follows the public "
      "implementation "
      "in ONNX Runtime.\n\n";
  for (const Section& section : sections) out += to_markdown(section) + (&section == &sections.back() ? "" : "\n");
  return out;
}

}  // namespace attnvp::reproduce
