// A Verilated model's own waveform as a guest in the run's VCD: Verilator writes into memory, identifier codes get a
// prefix, and the header's $scope and $var lines and the changes go where the host wants them.
#pragma once

#include <verilated_vcd_c.h>

#include <memory>
#include <string>

#include "models/trace/guest.h"

namespace attnvp::rtl {

template <class Model>
class VcdGuest : public TraceGuest {
 public:
  explicit VcdGuest(Model& model) : model_(model) {}

  std::string attach(TraceHost& host, const std::string& prefix) override {
    host_ = &host;
    prefix_ = prefix;
    text_ = std::make_unique<Text>();
    vcd_ = std::make_unique<VerilatedVcdC>(text_.get());
    model_.trace(vcd_.get(), 99);
    vcd_->open("memory");
    vcd_->flush();
    const std::string header = std::move(text_->text);
    text_->text.clear();
    return declarations(header);
  }
  void detach() override {
    if (vcd_) vcd_->close();
    vcd_.reset();
    text_.reset();
    host_ = nullptr;
  }
  bool attached() const { return host_ != nullptr; }

  // Everything that changed since the last call; `time` only has to grow.
  void dump(std::uint64_t time) {
    vcd_->dump(time);
    vcd_->flush();
    std::string out;
    for_each_line([&](std::string_view line) {
      if (line[0] == '#') return;
      // "0CODE", "1CODE" or "bBITS CODE"
      const std::size_t code = line[0] == 'b' ? line.find(' ') + 1 : 1;
      out.append(line.substr(0, code)).append(prefix_).append(line.substr(code)).append("\n");
    });
    text_->text.clear();
    host_->guest_changes(out);
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
    std::string_view rest = text_->text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (end > 0) visit(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  // Of the header: "$var wire 8 CODE name [7:0] $end", one to a line.
  std::string declarations(const std::string& header) const {
    std::string out;
    std::size_t begin = 0;
    while (begin < header.size()) {
      const std::size_t end = std::min(header.find('\n', begin), header.size());
      std::string line = header.substr(begin, end - begin);
      begin = end + 1;
      line.erase(0, line.find_first_not_of(' '));
      if (line.rfind("$var", 0) == 0) {
        std::size_t at = 0;  // the fourth word
        for (int word = 0; word < 3; ++word) at = line.find_first_not_of(' ', line.find(' ', at));
        line.insert(at, prefix_);
      } else if (line.rfind("$scope", 0) != 0 && line.rfind("$upscope", 0) != 0) {
        continue;
      }
      out += line + "\n";
    }
    return out;
  }

  Model& model_;
  TraceHost* host_ = nullptr;
  std::string prefix_;
  std::unique_ptr<Text> text_;
  std::unique_ptr<VerilatedVcdC> vcd_;
};

}  // namespace attnvp::rtl
