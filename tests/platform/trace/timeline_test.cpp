// Timelines: the rules of Chrome's trace-event format, and that slices, arrows and counters tell what the report tells.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "platform/trace/session.h"
#include "tests/platform/runs.h"
#include "tests/platform/traced.h"
#include "tests/platform/waveform.h"

namespace attnvp::runs {
namespace {

using nlohmann::json;

struct Slice {
  std::string name;
  std::uint64_t from, to;
  json args;
};

struct Timeline {
  std::map<std::pair<int, int>, std::string> threads;  // "cluster0.core0/mac"
  std::map<std::string, std::vector<Slice>> tracks;
  std::map<std::string, std::vector<json>> counters;
  std::map<std::uint64_t, std::pair<json, json>> flows;  // by id: start, finish

  const Slice* slice_at(const json& e) const {
    const auto thread = threads.find({e.at("pid"), e.at("tid")});
    if (thread == threads.end() || tracks.count(thread->second) == 0) return nullptr;
    const std::uint64_t ts = e.at("ts");
    for (const Slice& s : tracks.at(thread->second)) {
      if (s.from <= ts && ts < s.to) return &s;
    }
    return nullptr;
  }
};

void expect_whole(const json& e, const char* key) {
  ASSERT_TRUE(e.contains(key)) << e;
  EXPECT_TRUE(e.at(key).is_number_unsigned()) << e;
}

// Reads the file by the format's rules; everything the rules do not name is an error.
Timeline read(const std::string& text) {
  Timeline t;
  const json file = json::parse(text);
  EXPECT_TRUE(file.at("displayTimeUnit") == "ms" || file.at("displayTimeUnit") == "ns");
  EXPECT_TRUE(file.at("otherData").is_object());
  std::map<int, std::string> processes;
  for (const json& e : file.at("traceEvents")) {
    const std::string ph = e.at("ph");
    EXPECT_TRUE(e.at("name").is_string() && !e.at("name").get<std::string>().empty()) << e;
    expect_whole(e, "pid");
    if (ph == "M") {
      if (e.at("name") == "process_name") processes[e.at("pid")] = e.at("args").at("name");
      if (e.at("name") != "thread_name") continue;
      EXPECT_EQ(processes.count(e.at("pid")), 1U) << e;
      const std::string name = processes[e.at("pid")] + "/" + e.at("args").at("name").get<std::string>();
      EXPECT_TRUE(t.threads.emplace(std::pair<int, int>(e.at("pid"), e.at("tid")), name).second) << e;
      continue;
    }
    expect_whole(e, "ts");
    if (ph == "C") {
      EXPECT_FALSE(e.at("args").empty()) << e;
      for (const json& value : e.at("args")) EXPECT_TRUE(value.is_number()) << e;
      t.counters[processes[e.at("pid")] + "/" + e.at("name").get<std::string>()].push_back(e);
      continue;
    }
    expect_whole(e, "tid");
    EXPECT_EQ(t.threads.count({e.at("pid"), e.at("tid")}), 1U) << "a track without a name: " << e;
    if (ph == "X") {
      expect_whole(e, "dur");
      EXPECT_GT(e.at("dur").get<std::uint64_t>(), 0U) << e;
      EXPECT_TRUE(e.at("args").is_object());
      const std::uint64_t ts = e.at("ts"), end = ts + e.at("dur").get<std::uint64_t>();
      t.tracks[t.threads[{e.at("pid"), e.at("tid")}]].push_back({e.at("name"), ts, end, e.at("args")});
      continue;
    }
    EXPECT_TRUE(ph == "s" || ph == "f") << e;
    expect_whole(e, "id");
    EXPECT_TRUE(e.at("cat").is_string());
    if (ph == "f") {
      EXPECT_EQ(e.at("bp"), "e") << e;
    }
    auto& flow = t.flows[e.at("id")];
    json& end = ph == "s" ? flow.first : flow.second;
    EXPECT_TRUE(end.is_null()) << "two of " << e;
    end = e;
  }
  return t;
}

std::uint64_t total(const std::vector<Slice>& slices) {
  std::uint64_t sum = 0;
  for (const Slice& s : slices) sum += s.to - s.from;
  return sum;
}

class Timelines : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(Timelines, TellWhatTheReportTells) {
  const auto& [network, dataflow, hardware] = GetParam();
  Options o;
  o.network = network;
  o.dataflow = dataflow;
  o.hardware = hardware;
  if (std::string(hardware) == "overwrite-v") o.tiling = "overwrite";
  if (std::string(hardware) == "cluster3") o.tiling = "hh=1";  // a head for each cluster
  const Traced traced = trace(o);
  const job::RunResult& r = traced.result;
  const Timeline t = read(traced.timeline);
  if (HasFailure()) return;

  // Slices of one track never overlap.
  for (const auto& [track, unsorted] : t.tracks) {
    std::vector<Slice> slices = unsorted;
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.from < b.from; });
    for (std::size_t i = 1; i < slices.size(); ++i) EXPECT_LE(slices[i - 1].to, slices[i].from) << track;
    EXPECT_LE(slices.back().to, r.cycles) << track;
  }
  // Their sums are the counters.
  std::uint64_t loaded = 0, stored = 0;
  for (const auto& [track, slices] : t.tracks) {
    const std::size_t slash = track.find('/');
    const std::string module = "attnvp." + track.substr(0, slash) + "." + track.substr(slash + 1);
    if (track.find("/mac") != std::string::npos && track.find("waits") == std::string::npos) {
      EXPECT_EQ(total(slices), counter(r, module, "busy_cycles")) << track;
      std::uint64_t macs = 0;
      for (const Slice& s : slices)
        macs += s.args.at("m").get<std::uint64_t>() * s.args.at("n").get<std::uint64_t>() *
                s.args.at("k").get<std::uint64_t>();
      EXPECT_EQ(macs, counter(r, module, "macs")) << track;
    }
    if (track.find("/vec") != std::string::npos && track.find("waits") == std::string::npos) {
      EXPECT_EQ(total(slices), counter(r, module, "busy_cycles")) << track;
      std::uint64_t elements = 0;
      for (const Slice& s : slices)
        elements += s.args.at("rows").get<std::uint64_t>() * s.args.at("columns").get<std::uint64_t>();
      EXPECT_EQ(elements, counter(r, module, "elements")) << track;
    }
    for (const Slice& s : slices) {
      if (s.name == "load") loaded += s.args.at("bytes").get<std::uint64_t>();
      if (s.name == "store") stored += s.args.at("bytes").get<std::uint64_t>();
    }
  }
  EXPECT_EQ(loaded, r.sum("dma", "read_bytes"));
  EXPECT_EQ(stored, r.sum("dma", "write_bytes"));

  // The waveform shows a DMA channel's descriptors at the same times.
  const Waveform wave = parse_vcd(traced.text);
  const std::vector<Slice>& loads = t.tracks.at("cluster0.dma/channel0");
  EXPECT_EQ(wave.time_in(wave.of("attnvp.cluster0.dma.channel0.operation"), {"load", "store"}),
            total(loads) * period_of(r));

  // Arrows start and end in slices, and never point back.
  if (std::string(dataflow) != "mas:overwrite=on") {  // there the control processor gives the word
    EXPECT_GT(t.flows.size(), 10U);
  }
  std::set<std::pair<std::string, std::string>> pairs;
  for (const auto& [id, flow] : t.flows) {
    const Slice* const from = t.slice_at(flow.first);
    const Slice* const to = t.slice_at(flow.second);
    ASSERT_TRUE(from != nullptr && to != nullptr) << flow.first << flow.second;
    EXPECT_EQ(to->from, flow.second.at("ts").get<std::uint64_t>());
    EXPECT_LE(from->to, to->from) << flow.first << flow.second;
    pairs.insert({from->name, to->name});
  }
  if (std::string(dataflow) == "mas" || std::string(dataflow) == "flat") {
    for (const auto& pair : {std::pair{"load", "matmul_abt"},
                             {"matmul_abt", "softmax"},
                             {"softmax", "matmul_ab"},
                             {"matmul_ab", "store"}}) {
      EXPECT_EQ(pairs.count(pair), 1U) << pair.first << " to " << pair.second;
    }
  }
  // Counters: in order; the L1 in use adds up to the report's peak.
  for (const auto& [name, points] : t.counters) {
    for (std::size_t i = 1; i < points.size(); ++i) EXPECT_LT(points[i - 1].at("ts"), points[i].at("ts")) << name;
  }
  std::uint64_t most = 0;
  for (const json& point : t.counters.at("cluster0/L1 bytes in use")) {
    std::uint64_t sum = 0;
    for (const json& region : point.at("args")) sum += region.get<std::uint64_t>();
    most = std::max(most, sum);
  }
  EXPECT_EQ(most, r.max("l1", "peak_bytes"));
}
INSTANTIATE_TEST_SUITE_P(Timeline, Timelines,
                         testing::Values(std::tuple{"bert-base", "mas", "edge"},
                                         std::tuple{"bert-base", "flat", "edge"},
                                         std::tuple{"H=2,N=96,E=32", "layerwise", "edge"},
                                         std::tuple{"H=3,N=64,E=32", "softpipe", "cluster3"},
                                         std::tuple{"H=4,N=128,E=32", "tileflow", "edge"},
                                         std::tuple{"bert-base", "mas:overwrite=on", "overwrite-v"}));

TEST(Timeline, EqualRunsGiveEqualBytes) { EXPECT_TRUE(trace().timeline == trace().timeline); }

TEST(Timeline, WindowAndScope) {
  const Traced whole = trace();
  Options o;
  o.from = whole.result.cycles / 3;
  o.to = whole.result.cycles / 2;
  o.scopes = {"mac", "dram"};
  const Timeline t = read(trace(o).timeline);
  EXPECT_GT(t.tracks.size(), 1U);
  for (const auto& [track, slices] : t.tracks) {
    EXPECT_NE(track.find("/mac"), std::string::npos) << track;
    for (const Slice& s : slices) {
      EXPECT_GE(s.from, o.from);
      EXPECT_LE(s.to, o.to);
    }
  }
  std::set<std::string> charts;
  for (const auto& [name, points] : t.counters) {
    charts.insert(name);
    EXPECT_GE(points.front().at("ts").get<std::uint64_t>(), o.from) << name;
    EXPECT_LE(points.back().at("ts").get<std::uint64_t>(), o.to) << name;
  }
  EXPECT_EQ(charts, (std::set<std::string>{"attnvp/power [W]", "attnvp/DRAM bytes per cycle"}));
}

}  // namespace
}  // namespace attnvp::runs
