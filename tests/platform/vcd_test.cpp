// Waveforms, read back by a parser of their own.
#include "models/trace/vcd.h"

#include <map>
#include <sstream>

#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

struct Variable {
  std::string path, type;
  unsigned bits = 0;
  std::vector<std::pair<std::uint64_t, std::string>> changes;  // time, value
};

struct Waveform {
  std::string timescale;
  std::map<std::string, Variable> by_code;
  std::vector<std::uint64_t> times;
  std::vector<std::string> header_words;

  const Variable& of(const std::string& path) const {
    for (const auto& [code, v] : by_code) {
      if (v.path == path) return v;
    }
    ADD_FAILURE() << "no signal " << path;
    static const Variable none;
    return none;
  }
};

// A declaration command's words up to $end.
std::vector<std::string> words_to_end(std::istream& in) {
  std::vector<std::string> words;
  for (std::string w; in >> w && w != "$end";) words.push_back(w);
  return words;
}

void parse_header(std::istream& in, Waveform& wave) {
  std::vector<std::string> scopes;
  for (std::string word; in >> word;) {
    ASSERT_EQ(word.at(0), '$');
    wave.header_words.push_back(word);
    const std::vector<std::string> words = words_to_end(in);
    if (word == "$enddefinitions") break;
    if (word == "$timescale") wave.timescale = words.at(0) + words.at(1);
    if (word == "$scope") {
      ASSERT_EQ(words.at(0), "module");
      scopes.push_back(words.at(1));
    }
    if (word == "$upscope") {
      ASSERT_FALSE(scopes.empty());
      scopes.pop_back();
    }
    if (word != "$var") continue;
    ASSERT_EQ(words.size(), 4U);
    Variable v;
    for (const std::string& scope : scopes) v.path += scope + ".";
    v.path += words[3];
    v.type = words[0];
    v.bits = static_cast<unsigned>(std::stoul(words[1]));
    ASSERT_TRUE(wave.by_code.emplace(words[2], v).second) << "code " << words[2] << " twice";
  }
  ASSERT_TRUE(scopes.empty());
}

void parse_body(std::istream& in, Waveform& wave) {
  std::uint64_t now = UINT64_MAX;
  for (std::string word; in >> word;) {
    if (word == "$dumpvars" || word == "$end") continue;
    if (word[0] == '#') {
      const std::uint64_t time = std::stoull(word.substr(1));
      if (now != UINT64_MAX) {
        ASSERT_GT(time, now);
      }
      now = time;
      wave.times.push_back(time);
      continue;
    }
    std::string value, code;
    if (word[0] == 'b' || word[0] == 's') {
      value = word.substr(1);
      in >> code;
    } else {
      value = word.substr(0, 1);
      code = word.substr(1);
    }
    ASSERT_EQ(wave.by_code.count(code), 1U) << word;
    Variable& v = wave.by_code[code];
    ASSERT_EQ(word[0] == 's', v.type == "string");
    if (v.type == "wire") {
      ASSERT_EQ(value.find_first_not_of("01"), std::string::npos);
      ASSERT_LE(value.size(), v.bits) << v.path;
    }
    v.changes.emplace_back(now, value);
  }
}

Waveform parse(const std::string& text) {
  Waveform wave;
  std::istringstream in(text);
  parse_header(in, wave);
  if (!testing::Test::HasFatalFailure()) parse_body(in, wave);
  return wave;
}

struct Traced {
  std::string text;
  job::Result result;
};

Traced trace(bool full_data = true) {
  const MachineConfig machine = config::load_hardware("edge");
  const config::Network network = config::load_network("H=3,N=64,E=32");
  const job::Tensors tensors = job::random_tensors(network, 1);
  Traced t;
  job::RunOptions options;
  options.vcd = &t.text;
  job::Runner runner(machine, config::load_energy(machine.energy), full_data);
  t.result = runner.run(network, job::parse_dataflow("mas"), full_data ? &tensors : nullptr, options);
  return t;
}

TEST(Vcd, ReadsBack) {
  const Traced traced = trace();
  const Waveform wave = parse(traced.text);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(wave.timescale, "1fs");
  EXPECT_EQ(traced.text.find("$date"), std::string::npos);
  EXPECT_EQ(traced.text.find("$version"), std::string::npos);
  EXPECT_EQ(wave.header_words.back(), "$enddefinitions");
  EXPECT_EQ(wave.times.front(), 0U);
  for (const auto& [code, v] : wave.by_code) {
    ASSERT_FALSE(v.changes.empty()) << v.path << " has no first value";
    EXPECT_EQ(v.changes.front().first, 0U) << v.path;
    for (std::size_t i = 1; i < v.changes.size(); ++i) {
      // At one time the same value may come back, never twice in a row.
      EXPECT_NE(v.changes[i].second, v.changes[i - 1].second) << v.path;
    }
  }
}

TEST(Vcd, EveryModuleIsAScope) {
  const Waveform wave = parse(trace().text);
  for (const char* path :
       {"attnvp.cluster0.core0.mac.state", "attnvp.cluster0.core1.mac.queue_level", "attnvp.cluster0.core1.vec.state",
        "attnvp.cluster0.core0.mac.head", "attnvp.cluster0.dma.outstanding", "attnvp.cluster0.dma.channel0_state",
        "attnvp.cluster0.l1.allocated_bytes", "attnvp.cluster0.cpu.running"}) {
    EXPECT_FALSE(wave.of(path).changes.empty()) << path;
  }
}

std::uint64_t time_not(const Variable& v, const std::string& value, std::uint64_t end) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < v.changes.size(); ++i) {
    const std::uint64_t until = i + 1 < v.changes.size() ? v.changes[i + 1].first : end;
    if (v.changes[i].second != value) total += until - v.changes[i].first;
  }
  return total;
}

TEST(Vcd, TellsWhatTheCountersTell) {
  const Traced traced = trace();
  const Waveform wave = parse(traced.text);
  const auto period = static_cast<std::uint64_t>(1e15 / traced.result.frequency_hz + 0.5);
  const std::uint64_t end = wave.times.back();
  const Variable& running = wave.of("attnvp.cluster0.cpu.running");
  EXPECT_EQ(running.changes.back().second, "0");
  EXPECT_EQ(running.changes.back().first, traced.result.cycles * period);
  EXPECT_EQ(time_not(running, "0", end), traced.result.cycles * period);
  // An engine may hold a descriptor a little longer than its execute stage is busy: until the one before has
  // drained.
  for (const char* engine : {"core0.mac", "core1.mac", "core0.vec", "core1.vec"}) {
    const Variable& state = wave.of(std::string("attnvp.cluster0.") + engine + ".state");
    EXPECT_EQ(state.changes.back().second, "idle");
    std::uint64_t busy = 0;
    for (const job::CounterValue& c : traced.result.counters) {
      if (c.module == std::string("attnvp.cluster0.") + engine && c.name == "busy_cycles") busy = c.value;
    }
    EXPECT_GE(time_not(state, "idle", end), busy * period) << engine;
    EXPECT_LE(time_not(state, "idle", end), busy * period * 3 / 2) << engine;
  }
  const Variable& allocated = wave.of("attnvp.cluster0.l1.allocated_bytes");
  std::uint64_t most = 0;
  for (const auto& change : allocated.changes)
    most = std::max<std::uint64_t>(most, std::stoull(change.second, nullptr, 2));
  EXPECT_EQ(most, traced.result.max("l1", "peak_bytes"));
}

TEST(Vcd, EqualRunsGiveEqualBytes) {
  const Traced first = trace();
  EXPECT_GT(first.text.size(), 1000U);
  EXPECT_TRUE(first.text == trace().text);
  EXPECT_TRUE(first.text == trace(false).text) << "the data shows in the waveform";
}

TEST(Vcd, TracingChangesNothing) {
  const Traced traced = trace();
  const MachineConfig machine = config::load_hardware("edge");
  job::Runner runner(machine, config::load_energy(machine.energy), false);
  const job::Result plain = runner.run(config::load_network("H=3,N=64,E=32"), job::parse_dataflow("mas"), nullptr, {});
  expect_same_counts(plain, traced.result);
}

}  // namespace
}  // namespace attnvp::runs
