#include "models/control/riscv/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attnvp::riscv {

namespace {

constexpr const char* kStall = "[bus]";

// In folded stacks ';' separates frames and ' ' the count.
std::string frame(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

}  // namespace

Profile::Profile(const ElfFile& program, std::string root) : program_(program) {
  names_.push_back(std::move(root));
  nodes_.emplace_back();
}

int Profile::function_of(std::uint32_t pc) {
  const ElfFile::Symbol* symbol = program_.function_at(pc);
  const std::uint32_t key = symbol == nullptr ? 0 : symbol->address;
  const auto [known, fresh] = known_.emplace(key, static_cast<int>(names_.size()));
  if (fresh) names_.push_back(symbol == nullptr ? "[unknown]" : symbol->name);
  return known->second;
}

int Profile::below(int node, int function) {
  const auto found = nodes_[static_cast<std::size_t>(node)].callees.find(function);
  if (found != nodes_[static_cast<std::size_t>(node)].callees.end()) return found->second;
  const int made = static_cast<int>(nodes_.size());
  nodes_[static_cast<std::size_t>(node)].callees[function] = made;
  Node& fresh = nodes_.emplace_back();
  fresh.function = function;
  fresh.parent = node;
  return made;
}

void Profile::executed(const Executed& e) {
  const std::size_t slot = e.pc >> 1 & 0x1FF'FFFF;
  if (slot >= cache_.size()) cache_.resize(slot + 1024, -1);
  int& function = cache_[slot];
  if (function < 0) function = function_of(e.pc);

  const auto node = [this](int i) -> Node& { return nodes_[static_cast<std::size_t>(i)]; };
  if (at_ == 0 || jump_ == Jump::kCall) {
    at_ = below(at_, function);
  } else if (node(at_).function != function) {
    int up = node(at_).parent;
    if (jump_ == Jump::kReturn) {
      while (up > 0 && node(up).function != function) up = node(up).parent;
      at_ = up > 0 ? up : below(0, function);
    } else {  // a tail call, or a trap
      at_ = below(std::max(up, 0), function);
    }
  } else if (jump_ == Jump::kReturn) {  // of a recursive function
    const int up = node(at_).parent;
    if (up > 0 && node(up).function == function) at_ = up;
  }
  Node& here = node(at_);
  here.instructions += e.retired ? 1 : 0;
  here.cycles += e.end - e.cycle - e.stall;
  here.stall += e.stall;

  jump_ = jump_of(e);
}

std::string Profile::folded() const {
  std::vector<std::string> stacks(nodes_.size());
  std::string text;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    const std::string name = frame(names_[static_cast<std::size_t>(n.function)]);
    stacks[i] = n.parent < 0 ? name : stacks[static_cast<std::size_t>(n.parent)] + ";" + name;
    if (n.cycles > 0) text += fmt::format("{} {}\n", stacks[i], n.cycles);
    if (n.stall > 0) text += fmt::format("{};{} {}\n", stacks[i], kStall, n.stall);
  }
  return text;
}

std::vector<Profile::Total> Profile::totals() const {
  std::vector<Total> totals(names_.size());
  std::vector<std::uint64_t> inclusive(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const Node& n = nodes_[i];
    inclusive[i] += n.cycles + n.stall;
    if (n.parent >= 0) inclusive[static_cast<std::size_t>(n.parent)] += inclusive[i];
    Total& t = totals[static_cast<std::size_t>(n.function)];
    t.instructions += n.instructions;
    t.self += n.cycles;
    t.stall += n.stall;
    bool again = false;  // recursion counts once
    for (int up = n.parent; up >= 0 && !again; up = nodes_[static_cast<std::size_t>(up)].parent) {
      again = nodes_[static_cast<std::size_t>(up)].function == n.function;
    }
    if (!again) t.inclusive += inclusive[i];
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].function = names_[i];
  std::stable_sort(totals.begin(), totals.end(), [](const Total& a, const Total& b) { return a.self > b.self; });
  return totals;
}

std::string folded(const std::vector<const Profile*>& profiles) {
  std::string text;
  for (const Profile* p : profiles) text += p->folded();
  return text;
}

}  // namespace attnvp::riscv
