// VCD reader for tests, independent of the writer.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace attnvp::runs {

struct Variable {
  std::string path, type;
  unsigned bits = 0;
  std::vector<std::pair<std::uint64_t, std::string>> changes;  // time, value: binary digits, a real or "z"

  std::string at(std::uint64_t time) const {
    std::string value = "none";
    for (const auto& [t, v] : changes) {
      if (t <= time) value = v;
    }
    return value;
  }
};

inline std::uint64_t number(const std::string& bits) { return std::stoull(bits, nullptr, 2); }

struct Waveform {
  std::string timescale;
  std::vector<std::string> names;  // names of enumeration values, from the header's comment
  std::map<std::string, Variable> by_code;
  std::vector<std::uint64_t> times;
  std::vector<std::string> header_words;

  const Variable* find(const std::string& path) const {
    for (const auto& [code, v] : by_code) {
      if (v.path == path) return &v;
    }
    return nullptr;
  }
  const Variable& of(const std::string& path) const {
    static const Variable none;
    const Variable* const v = find(path);
    if (v == nullptr) ADD_FAILURE() << "no signal " << path;
    return v == nullptr ? none : *v;
  }
  std::string name(const std::string& value) const { return names.at(number(value)); }
  // Time during which an enumeration has one of the names.
  std::uint64_t time_in(const Variable& v, const std::vector<std::string>& states) const {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < v.changes.size(); ++i) {
      const std::uint64_t until = i + 1 < v.changes.size() ? v.changes[i + 1].first : times.back();
      for (const std::string& state : states)
        total += name(v.changes[i].second) == state ? until - v.changes[i].first : 0;
    }
    return total;
  }
  // Integral over time of a real or a number of bits.
  double integral(const Variable& v) const {
    double total = 0;
    for (std::size_t i = 0; i < v.changes.size(); ++i) {
      const std::uint64_t until = i + 1 < v.changes.size() ? v.changes[i + 1].first : times.back();
      const std::string& text = v.changes[i].second;
      const double value = v.type == "real" ? std::stod(text) : static_cast<double>(number(text));
      total += value * static_cast<double>(until - v.changes[i].first);
    }
    return total;
  }
};

namespace detail {

// Words of a declaration up to $end.
inline std::vector<std::string> words_to_end(std::istream& in) {
  std::vector<std::string> words;
  for (std::string w; in >> w && w != "$end";) words.push_back(w);
  return words;
}

inline void parse_header(std::istream& in, Waveform& wave) {
  std::vector<std::string> scopes;
  for (std::string word; in >> word;) {
    ASSERT_EQ(word.at(0), '$');
    wave.header_words.push_back(word);
    const std::vector<std::string> words = words_to_end(in);
    if (word == "$enddefinitions") break;
    if (word == "$timescale") wave.timescale = words.at(0) + words.at(1);
    if (word == "$comment") {
      for (const std::string& w : words) {
        const std::size_t equals = w.find('=');
        if (equals == std::string::npos) continue;
        ASSERT_EQ(w.substr(0, equals), std::to_string(wave.names.size()));
        wave.names.push_back(w.substr(equals + 1));
      }
    }
    if (word == "$scope") {
      ASSERT_EQ(words.at(0), "module");
      scopes.push_back(words.at(1));
    }
    if (word == "$upscope") {
      ASSERT_FALSE(scopes.empty());
      scopes.pop_back();
    }
    if (word != "$var") continue;
    // "wire BITS CODE NAME"; names that end in a bracket have "[BITS-1:0]" appended.
    ASSERT_GE(words.size(), 4U);
    const bool has_range = words[3].back() == ']' && words[1] != "1";
    ASSERT_EQ(words.size(), has_range ? 5U : 4U) << words[3];
    Variable v;
    for (const std::string& scope : scopes) v.path += scope + ".";
    v.path += words[3];
    v.type = words[0];
    v.bits = static_cast<unsigned>(std::stoul(words[1]));
    if (has_range) {
      ASSERT_EQ(words[4], "[" + std::to_string(v.bits - 1) + ":0]");
    }
    ASSERT_TRUE(wave.by_code.emplace(words[2], v).second) << "code " << words[2] << " twice";
  }
  ASSERT_TRUE(scopes.empty());
}

inline void parse_body(std::istream& in, Waveform& wave) {
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
    if (word[0] == 'b' || word[0] == 'r') {
      value = word.substr(1);
      in >> code;
    } else {
      value = word.substr(0, 1);
      code = word.substr(1);
    }
    ASSERT_EQ(wave.by_code.count(code), 1U) << word;
    Variable& v = wave.by_code[code];
    ASSERT_EQ(word[0] == 'r', v.type == "real");
    if (v.type == "wire" && value != "z") {
      ASSERT_EQ(value.find_first_not_of("01"), std::string::npos);
      ASSERT_LE(value.size(), v.bits) << v.path;
    }
    v.changes.emplace_back(now, value);
  }
}

}  // namespace detail

inline Waveform parse_vcd(const std::string& text) {
  Waveform wave;
  std::istringstream in(text);
  detail::parse_header(in, wave);
  if (!::testing::Test::HasFatalFailure()) detail::parse_body(in, wave);
  return wave;
}

}  // namespace attnvp::runs
