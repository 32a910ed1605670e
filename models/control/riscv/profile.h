// Call stacks of a running program, and the profile of a hart's cycles by call stack. Calls and returns are recognised
// by their instructions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/control/riscv/elf_file.h"
#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

// Calls and returns by instruction: jumps that link ra or t0, and jumps through these registers.
enum class Jump : std::uint8_t { kNone, kCall, kReturn };

inline Jump jump_of(const Executed& e) {
  constexpr std::uint32_t kRa = 1, kT0 = 5;
  const auto links = [](std::uint32_t reg) { return reg == kRa || reg == kT0; };
  const Decoded& d = *e.instruction;
  if (!e.retired) return Jump::kCall;  // a trap calls its handler
  if (d.op == Op::kMret) return Jump::kReturn;
  if (d.op == Op::kJal && links(d.rd)) return Jump::kCall;
  if (d.op != Op::kJalr) return Jump::kNone;
  return links(d.rd) ? Jump::kCall : links(d.rs1) ? Jump::kReturn : Jump::kNone;
}

// Call stack of a running program: its calls that have not returned.
class CallStack final : public Observer {
 public:
  bool before(Hart& /*hart*/, std::uint32_t pc) override {
    pc_ = pc;
    return true;
  }
  bool after(Hart& /*hart*/, const Executed& executed) override {
    const Jump jump = jump_of(executed);
    if (jump == Jump::kCall) calls_.push_back(executed.pc);
    if (jump == Jump::kReturn && !calls_.empty()) calls_.pop_back();
    return true;
  }
  // Current instruction and the calls that lead to it, innermost first.
  std::vector<std::uint32_t> now() const {
    std::vector<std::uint32_t> stack(calls_.rbegin(), calls_.rend());
    stack.insert(stack.begin(), pc_);
    return stack;
  }

 private:
  std::uint32_t pc_ = 0;
  std::vector<std::uint32_t> calls_;
};

// Profile of a hart's cycles by call stack, self and stalled. Any change of function other than a call or a return is a
// jump at the same depth.
class Profile {
 public:
  struct CallNode {
    int function = 0;                            // index in names()
    int parent = -1;                             // index in nodes(); -1: the root
    std::uint64_t instructions = 0, cycles = 0;  // self, without stalls
    std::uint64_t stall = 0;                     // waiting for the bus, or in wfi
    std::map<int, int> callees;                  // node by function
  };

  Profile(const ElfFile& program, std::string root);

  void executed(const Executed& e);
  void slept(std::uint64_t cycles) { nodes_[static_cast<std::size_t>(at_)].stall += cycles; }

  const std::vector<CallNode>& nodes() const { return nodes_; }  // parents first
  const std::vector<std::string>& names() const { return names_; }
  // One line per call stack: "hart 0;main;boot 1234". Stalls are a frame of their own.
  std::string folded() const;
  // Totals of a function over all stacks.
  struct Total {
    std::string function;
    std::uint64_t instructions = 0, self = 0, stall = 0, inclusive = 0;
  };
  std::vector<Total> totals() const;  // sorted by self cycles, descending

 private:
  int function_of(std::uint32_t pc);
  int below(int node, int function);

  const ElfFile& program_;
  std::vector<std::string> names_;
  std::map<std::uint32_t, int> known_;  // functions by address
  std::vector<int> cache_;              // by pc
  std::vector<CallNode> nodes_;
  int at_ = 0;
  Jump jump_ = Jump::kNone;  // of the previous instruction
};

// Profiles of several harts as text, or as an HTML page with a flame graph.
std::string folded(const std::vector<const Profile*>& profiles);
std::string flame_page(const std::string& title, const std::vector<const Profile*>& profiles);

}  // namespace attnvp::riscv
