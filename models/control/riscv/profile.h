// Profile of a hart's cycles by call stack, self and stalled. Calls and returns are recognised by their instructions
// (call_stack.h). Any other change of function is a jump at the same depth.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/control/riscv/call_stack.h"
#include "models/control/riscv/elf_file.h"
#include "models/control/riscv/hart.h"

namespace attnvp::riscv {

class Profile {
 public:
  struct Node {
    int function = 0;                            // index in names()
    int parent = -1;                             // index in nodes(); -1: the root
    std::uint64_t instructions = 0, cycles = 0;  // self, without stalls
    std::uint64_t stall = 0;                     // waiting for the bus, or in wfi
    std::map<int, int> callees;                  // node by function
  };

  Profile(const ElfFile& program, std::string root);

  void executed(const Executed& e);
  void slept(std::uint64_t cycles) { nodes_[static_cast<std::size_t>(at_)].stall += cycles; }

  const std::vector<Node>& nodes() const { return nodes_; }  // parents first
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
  std::vector<Node> nodes_;
  int at_ = 0;
  Jump jump_ = Jump::kNone;  // of the previous instruction
};

// Profiles of several harts as text, or as an HTML page with a flame graph.
std::string folded(const std::vector<const Profile*>& profiles);
std::string flame_page(const std::string& title, const std::vector<const Profile*>& profiles);

}  // namespace attnvp::riscv
