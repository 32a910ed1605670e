// Access to the wires of a Verilated model through its waveform, which Verilator writes into memory.
#pragma once

#include <verilated_vcd_c.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rtl/vec/vec_rtl.h"

namespace attnvp::rtl {

template <class Model>
class WireProbe {
 public:
  explicit WireProbe(Model& model) : model_(model), vcd_(&text_) {
    model_.trace(&vcd_, 99);
    vcd_.open("memory");
    vcd_.flush();
    std::string scope;
    for_each_line([&](std::string_view line) { declare(line, scope); });
    text_.text.clear();
  }
  ~WireProbe() { vcd_.close(); }
  WireProbe(const WireProbe&) = delete;
  WireProbe& operator=(const WireProbe&) = delete;

  const std::vector<RtlBlock::Wire>& wires() const { return wires_; }
  void changes(const RtlBlock::WireHook& change) {
    model_.eval();
    vcd_.dump(++dumps_);
    vcd_.flush();
    for_each_line([&](std::string_view line) {
      // "0CODE", "1CODE" or "bBITS CODE"
      if (line[0] != 'b' && line[0] != '0' && line[0] != '1') return;
      const std::size_t code = line[0] == 'b' ? line.find(' ') + 1 : 1;
      const auto wires = by_code_.find(std::string(line.substr(code)));
      if (wires == by_code_.end()) return;
      std::uint64_t value = 0;
      for (const char c : line.substr(code == 1 ? 0 : 1, code == 1 ? 1 : code - 2)) value = 2 * value + (c == '1');
      for (const std::size_t wire : wires->second) change(wire, value);
    });
    text_.text.clear();
  }

 private:
  struct Text : VerilatedVcdFile {
    std::string text;
    bool open(const std::string& /*name*/) override { return true; }
    void close() override {}
    ssize_t write(const char* data, ssize_t count) override {
      text.append(data, static_cast<std::size_t>(count));
      return count;
    }
  };

  template <class Visit>
  void for_each_line(const Visit& visit) const {
    std::string_view rest = text_.text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (end > 0) visit(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  // Header lines: "$scope module NAME $end", "$upscope $end", "$var wire 8 CODE name [7:0] $end". The outermost scope
  // is the model with the block's ports; the scope in it is the block.
  void declare(std::string_view line, std::string& scope) {
    std::vector<std::string> words;
    for (line.remove_prefix(std::min(line.find_first_not_of(' '), line.size())); !line.empty();) {
      const std::size_t end = std::min(line.find(' '), line.size());
      words.emplace_back(line.substr(0, end));
      line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    }
    if (words.empty()) return;
    if (words[0] == "$scope") {
      if (++depth_ > 2) scope += words.at(2) + ".";
    } else if (words[0] == "$upscope") {
      if (--depth_ >= 2) scope.erase(scope.size() > 1 ? scope.rfind('.', scope.size() - 2) + 1 : 0);
    } else if (words[0] == "$var") {
      const unsigned bits = static_cast<unsigned>(std::stoul(words.at(2)));
      if (depth_ < 2 || bits > 64 || !of_interest(scope, words.at(4))) return;
      by_code_[words.at(3)].push_back(wires_.size());
      wires_.push_back({scope + words.at(4), bits});
    }
  }
  // Excludes parameters, copies of streams for rules, and clock and reset of inner blocks.
  static bool of_interest(const std::string& scope, const std::string& name) {
    const bool parameter = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    const bool clock = !scope.empty() && (name == "clk" || name == "rst");
    return !parameter && !clock && name.rfind("unused", 0) != 0 && scope.find("_rules.") == std::string::npos;
  }

  Model& model_;
  Text text_;
  VerilatedVcdC vcd_;
  std::uint64_t dumps_ = 0;
  int depth_ = 0;
  std::vector<RtlBlock::Wire> wires_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_code_;
};

}  // namespace attnvp::rtl
