#include "platform/schedule/printer.h"

#include <fmt/format.h>

#include <map>

#include "models/engine/descriptor_check.h"
#include "platform/schedule/addresses.h"

namespace attnvp::schedule {

namespace {

std::string event_text(std::uint32_t first, std::uint32_t span, std::uint32_t tokens) {
  std::string text = fmt::format("e{}", first);
  if (span > 1) text += fmt::format("..{}", first + span - 1);
  if (tokens > 1) text += fmt::format("*{}", tokens);
  return text;
}

class Printer final : public Reader {
 public:
  Printer(const Job& job, std::uint32_t cluster, std::uint64_t most, std::vector<ListingLine>& lines)
      : job_(job), cluster_(cluster), most_(most), lines_(lines) {}

  void command(const Queue& queue, const hal::Descriptor& d) override {
    ListingLine line = begin(schedule::name_of(queue));
    line.number = ++numbers_[line.queue];
    line.operation = operation_text(d);
    for (int i = 0; i < hal::kOperands; ++i) {
      if (d.type[i] == hal::ElementType::kNone) continue;
      line.operands.push_back(fmt::format("{} {}x{} {}", place_text(job_, cluster_, d.operand[i].address),
                                          hal::rows_of(d, i), d.operand[i].columns, attnvp::name_of(d.type[i])));
    }
    for (const hal::EventRef& e : d.wait) {
      if (e.tokens() > 0) line.waits.push_back(event_text(e.first(), e.span(), e.tokens()));
    }
    for (int i = 0; i < hal::kSignals; ++i) {
      const hal::EventRef& e = d.signal[i];
      if (e.tokens() == 0) continue;
      const bool remote = d.remote != 0 && i + 1 == hal::kSignals;
      line.signals.push_back((remote ? fmt::format("c{}.", d.remote - 1) : "") +
                             event_text(e.first(), e.span(), e.tokens()));
    }
    line.head = d.head;
    line.row_block = d.row_block;
    end(std::move(line));
  }
  void replace(const Queue& queue, const hal::Descriptor& d) override {
    command(queue, d);
    if (!lines_.empty()) lines_.back().operation += " (replaces what was halted)";
  }
  void give(std::uint32_t event, std::uint32_t tokens) override {
    ListingLine line = begin("cpu");
    line.operation = "give";
    line.signals.push_back(event_text(event, 1, tokens));
    end(std::move(line));
  }
  void take(std::uint32_t event, std::uint32_t tokens) override {
    ListingLine line = begin("cpu");
    line.operation = "wait";
    line.waits.push_back(event_text(event, 1, tokens));
    end(std::move(line));
  }
  void allocated(std::uint64_t bytes) override { l1_bytes_ = bytes; }
  bool enough() const override { return full_; }

 private:
  ListingLine begin(std::string queue) const {
    ListingLine line;
    line.cluster = cluster_;
    line.queue = std::move(queue);
    line.l1_bytes = l1_bytes_;
    return line;
  }
  void end(ListingLine line) {
    full_ = lines_.size() >= most_;
    if (!full_) lines_.push_back(std::move(line));
  }

  const Job& job_;
  std::uint32_t cluster_;
  std::uint64_t most_;
  std::vector<ListingLine>& lines_;
  std::map<std::string, std::uint64_t> numbers_;
  std::uint64_t l1_bytes_ = 0;
  bool full_ = false;
};

}  // namespace

bool print_stream(const Job& job, std::uint32_t cluster, std::uint64_t most, std::vector<ListingLine>& lines) {
  Printer printer(job, cluster, most, lines);
  read_stream(job, cluster, printer);
  return !printer.enough();
}

std::string to_text(const ListingLine& l) {
  std::string operands;
  for (std::size_t i = 0; i < l.operands.size(); ++i) {
    operands += (i == 0 ? "" : ", ") + l.operands[i];
  }
  const std::string events =
      fmt::format("{}{}{}", l.waits.empty() ? "" : fmt::format("after {}", fmt::join(l.waits, " ")),
                  l.waits.empty() || l.signals.empty() ? "" : "  ",
                  l.signals.empty() ? "" : fmt::format("then {}", fmt::join(l.signals, " ")));
  const std::string label = l.queue == "cpu" ? "" : fmt::format("{}:{}", l.head, l.row_block);
  std::string text = fmt::format("{:<10} {:>7}  {:<26} {:<70} {}", l.queue, label, l.operation, operands, events);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace attnvp::schedule
