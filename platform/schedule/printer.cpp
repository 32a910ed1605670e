#include "platform/schedule/printer.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>
#include <vector>

#include "firmware/hal/descriptor.h"
#include "models/engine/descriptor_check.h"
#include "models/sim/trace/operation.h"
#include "platform/schedule/bus.h"

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

namespace {

constexpr const char* kIntroduction = R"(# Commands

This page is generated from the tables of `firmware/hal`, which engines, checker, printer, counters and traces read, too;
a test keeps the two equal. A command is a descriptor (`firmware/hal/descriptor.h`): operation, flags, events, up to four
operands and a tail. An operand has an address, a row stride in bytes and columns in elements; its rows follow from the
operation. Products have m x n results over a depth of k: m is the descriptor's `rows`.

| Where it says | it is |
|---|---|
| rows | the descriptor's `rows` |
| own | the operand's own columns |
| length | columns of operand 0 |
| k, n | of a product |
| sums | n, with flag `normalised` n + 1 |
| groups | groups of elements of a row that share a scale, by the tail |
| any, tensor, rounded, weight | element types: all; those of Q, K, V and P; those of O; those of weights |
)";

const char* text_of(hal::OperandRole role) {
  constexpr std::array kTexts = {"read", "written", "accumulated"};
  return kTexts.at(static_cast<std::size_t>(role));
}

const char* text_of(hal::OperandExtent extent) {
  constexpr std::array kTexts = {"own",   "rows",  "1",    "2",         "1 or 2",          "length",
                                 "n",     "n + 1", "sums", "n or sums", "k, transposed n", "n, transposed k",
                                 "groups"};
  return kTexts.at(static_cast<std::size_t>(extent));
}

const char* text_of(hal::ElementRule elements) {
  constexpr std::array kTexts = {"any",
                                 "fp16",
                                 "fp32",
                                 "tensor",
                                 "operand 0's",
                                 "rounded",
                                 "sums of operand 0's",
                                 "rounded, fp32 or sums",
                                 "weight",
                                 "fp16 or e8m0"};
  return kTexts.at(static_cast<std::size_t>(elements));
}

const char* text_of(hal::When when) {
  constexpr std::array kTexts = {"",
                                 "where given",
                                 "with `accumulate`",
                                 "where given, without `accumulate`",
                                 "without `first`",
                                 "without `unscaled`",
                                 "without `unscaled`, and of `first` only with `two_scales`",
                                 "of a centred norm",
                                 "with `sink`"};
  return kTexts.at(static_cast<std::size_t>(when));
}

std::string sentence(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

std::string flags_of(const hal::OperationInfo& o) {
  std::vector<std::string> names;
  for (const hal::FlagInfo& f : hal::kFlags) {
    if ((o.flags & f.flag) != 0 && (f.unit == hal::Unit::kAny || f.unit == o.unit)) {
      names.push_back(fmt::format("`{}`", f.name));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string operation_text(const hal::OperationInfo& o) {
  std::string text = fmt::format("\n## {}\n\nOpcode {}, {}. {}\n", o.name, static_cast<int>(o.opcode),
                                 o.unit == hal::Unit::kAny ? "any unit" : hal::name_of(o.unit), sentence(o.about));
  if (variants_of(o) > 1) {
    text +=
        fmt::format("Waveforms and timelines show it as `{}` {}, otherwise `{}`.\n", o.traced[0],
                    o.variants == hal::Variants::kByTranspose ? "with `transpose_b`" : "towards a core", o.traced[1]);
  }
  if (o.flags != 0) text += fmt::format("\nFlags: {}.\n", flags_of(o));
  if (o.tail != nullptr) text += fmt::format("\nTail: {}.\n", o.tail);
  if (o.operands[0].name == nullptr) return text;
  text += "\n| Operand | | Role | Rows x columns | Types | Present |\n|---|---|---|---|---|---|\n";
  for (const hal::OperandInfo& i : o.operands) {
    if (i.name == nullptr) continue;
    text += fmt::format("| {} | {} | {}{} | {} x {} | {} | {} |\n", i.index, i.name, text_of(i.role),
                        i.is_replaceable ? ", in place" : "", text_of(i.rows), text_of(i.columns), text_of(i.elements),
                        text_of(i.when));
  }
  return text;
}

std::string flags_text() {
  std::string text =
      "\n## Flags\n\nA bit has one meaning in each unit.\n\n| Flag | Bit | Unit | Meaning |\n|---|---|---|---|\n";
  for (const hal::FlagInfo& f : hal::kFlags) {
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", f.name, static_cast<unsigned>(f.flag), hal::name_of(f.unit), f.about);
  }
  return text;
}

std::string types_text() {
  std::string text =
      "\n## Element types\n\n| Type | Number | Bits | Exponent | Mantissa | Q, K, V, P | O | Weights | RTL of VEC | |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  const auto yes = [](bool is) { return is ? "yes" : ""; };
  for (const hal::ElementTypeInfo& t : hal::kElementTypes) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", t.name, static_cast<int>(t.type),
                        hal::element_bits(t.type), t.exponent_bits, t.mantissa_bits, yes(t.is_tensor),
                        yes(t.is_rounded_to), yes(t.is_weight), yes(t.in_rtl), t.about);
  }
  return text;
}

std::string masks_text() {
  std::string text =
      "\n## Masks\n\nA new token stands at p, behind `history` keys. A layer's keys say what it attends to:\n\n"
      "| Key | A token at p attends to |\n|---|---|\n";
  for (const hal::MaskKindInfo& m : hal::kMaskKinds) text += fmt::format("| `{}` | {} |\n", m.name, m.about);
  return text;
}

}  // namespace

std::string commands_markdown() {
  std::string text = kIntroduction;
  for (const hal::OperationInfo& o : hal::kOperations) text += operation_text(o);
  return text + flags_text() + types_text() + masks_text();
}

}  // namespace attnvp::schedule
