// What a run reports besides cycles: values, energy, waveform.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <sstream>

#include "platform/streaming/stream_run.h"
#include "tests/platform/stream/runs.h"

namespace attnvp::stream {
namespace {

TEST(StreamGolden, FailsForAnotherFunction) {
  // The sum of e^s v without the division by the sum of e^s.
  const StreamResult result = run(graph_from(R"(nodes:
  q: {op: source, tensor: Q, per: row}
  k: {op: source, tensor: K}
  v: {op: source, tensor: V}
  e: {op: dot_exp}
  o: {op: weighted_sum}
  out: {op: output}
channels:
  q: {from: q, to: e.q, depth: 2}
  k: {from: k, to: e.k, depth: 2}
  v: {from: v, to: o.v, depth: 2}
  e: {from: e, to: o.p, depth: 2}
  o: {from: o, to: out, depth: 2}
)",
                                             8, 4));
  EXPECT_TRUE(result.golden.checked);
  EXPECT_FALSE(result.golden.passed);
  EXPECT_GT(result.golden.failures, 16U);
}

TEST(StreamGolden, ItsToleranceIsTight) {
  // FP32 keeps seven digits: the error bound at N=64 is not much above what is there.
  const StreamResult result = run("memory-free", 64, 16);
  EXPECT_GT(result.golden.max_abs_error, 0);
  EXPECT_LT(result.golden.max_abs_error, 2e-6);
  EXPECT_LT(result.golden.tolerance, 3e-4);
}

// A running sum of ones from a token of -3: the greatest of row i is 4 (i + 1) - 3, which scales row i of V.
TEST(StreamValues, AFeedbackChannelCarriesItsToken) {
  const Graph graph = graph_from(R"(nodes:
  k: {op: source, tensor: K}
  s: {op: dot}
  zero: {op: sub}
  one: {op: exp}
  count: {op: add}
  last: {op: max}
  v: {op: source, tensor: V, per: row}
  o: {op: mul}
  out: {op: output}
channels:
  q: {from: k, to: s.q, depth: 2}
  k: {from: k, to: s.k, depth: 2}
  s: {from: s, to: zero.x, depth: 2}
  s2: {from: s, to: zero.y, depth: 2}
  zero: {from: zero, to: one, depth: 2}
  one: {from: one, to: count.x, depth: 2}
  back: {from: count, to: count.y, depth: 2, tokens: 1, initial: -3}
  count: {from: count, to: last, depth: 2}
  last: {from: last, to: o.by, depth: 2}
  v: {from: v, to: o.x, depth: 2}
  o: {from: o, to: out, depth: 2}
)",
                                 4);
  const job::AttentionTensors tensors = job::random_attention({1, 1, 4, 4, 1}, 7);
  std::vector<float> q(4), k(4), v(4), o(4);
  arith::floats_from_halves(tensors.k.data(), k.data(), 4);
  arith::floats_from_halves(tensors.v.data(), v.data(), 4);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  auto machine = std::make_unique<Machine>("machine", graph, q.data(), k.data(), v.data(), o.data());
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(machine->run().finished);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(o[i], v[i] * (4.0F * static_cast<float>(i + 1) - 3.0F)) << i;
  }
  machine.reset();
  sc_core::sc_get_curr_simcontext()->reset();
}

// 16-bit words times PAT's SRAM of the FIFO's depth, and one count per operation.
TEST(StreamEnergy, IsCountsTimesTheTable) {
  const StreamResult r = run("naive", 4, 2);
  const auto fifo = [](double elements, double width, double depth) {
    return 2 * elements * width * 2 * (0.974875 + 0.05025 * depth * width * 4 / 1024);
  };
  const double channels = fifo(4, 2, 2) + 2 * fifo(16, 2, 2) + fifo(16, 1, 13) + fifo(16, 1, 38) + fifo(4, 1, 24) +
                          fifo(16, 1, 9) + fifo(4, 2, 14);
  EXPECT_NEAR(r.energy_pj("channels"), channels, 1e-9 * channels);
  const double nodes = 16 * (2 + 20) + 16 + 16 * 6 + 16 * 2;  // score, row_sum, div, mat_vec
  EXPECT_NEAR(r.energy_pj("nodes"), nodes, 1e-9 * nodes);
  EXPECT_NEAR(r.energy_pj(""), channels + nodes, 1e-9 * (channels + nodes));
}

TEST(StreamCounters, ACycleIsBusyStarvedOrStalled) {
  const StreamResult r = run("naive", 64);
  for (std::size_t i = 0; i < r.nodes.size(); ++i) {
    const NodeResult& n = r.nodes[i];
    EXPECT_EQ(n.firings, r.graph.firings(r.graph.nodes[i]));
    EXPECT_EQ(n.busy, n.firings * r.graph.nodes[i].ii);
    EXPECT_LE(n.busy + n.starved + n.stalled, r.cycles + r.graph.nodes[i].ii) << r.graph.nodes[i].name;
  }
  // The last node's time is accounted for to the last cycle.
  EXPECT_EQ(r.nodes.back().busy + r.nodes.back().starved, r.cycles + 1);
  EXPECT_EQ(r.transfers, 5U * 64 * 64 + 3 * 64);
}

// The waveform's greatest occupancy is the counter's, and its time that of the run.
TEST(StreamWaveform, ShowsWhatWasCounted) {
  trace::Waveform waveform;
  StreamRunner::StreamOptions options;
  options.waveform = &waveform;
  const StreamResult traced = run(load_graph("naive", 12, 1), options);
  EXPECT_EQ(traced.cycles, run("naive", 12).cycles);

  // The number that stands for "working" in the waveform.
  std::uint64_t working_number = 0;
  std::istringstream names(waveform.names);
  for (std::string line; std::getline(names, line);) {
    if (line.find("?working") != std::string::npos) working_number = std::stoull(line);
  }
  ASSERT_NE(working_number, 0U);

  std::map<std::string, std::string> scope_of;  // by code
  std::map<std::string, bool> is_state;         // by code
  std::map<std::string, std::uint64_t> greatest, current;
  std::map<std::string, std::size_t> working;  // changes to "working", by code
  std::string scope, line;
  std::uint64_t time = 0;
  std::istringstream lines(waveform.vcd);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string first, second, third, code, name;
    words >> first >> second >> third >> code >> name;
    if (first == "$scope") scope = third;
    if (first == "$var") {
      scope_of[code] = scope;
      is_state[code] = name == "state";
    }
    if (line[0] == 'b') {
      const std::uint64_t value = std::stoull(first.substr(1), nullptr, 2);
      if (!is_state[second]) {
        current[second] = value;
        greatest[second] = std::max(greatest[second], value);
      } else if (value == working_number) {
        ++working[scope_of[second]];
      }
    }
    if (line[0] == '#') {
      const std::uint64_t now = std::stoull(line.substr(1));
      EXPECT_TRUE(time < now || now == 0);
      time = now;
    }
  }
  for (const auto& [code, peak] : greatest) {
    EXPECT_EQ(peak, traced.channels[index_of(traced.graph, scope_of[code])].peak) << scope_of[code];
    EXPECT_EQ(current[code], 0U);
  }
  EXPECT_EQ(greatest.size(), traced.channels.size());
  EXPECT_EQ(time, (traced.cycles + 2) * 1000000);  // 1 GHz in fs: the last slot is free, one clock to see it
  EXPECT_EQ(working["o"], 12U);
}

TEST(StreamReport, SaysTheSameTwice) {
  std::string first, second;
  for (std::string* text : {&first, &second}) {
    trace::Waveform waveform;
    StreamRunner::StreamOptions options;
    options.waveform = &waveform;
    const StreamResult r = run(load_graph("memory-free", 9, 3), options);
    *text = waveform.vcd + waveform.names + waveform.gtkw + to_text(r) + to_dot(r);
  }
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace attnvp::stream
