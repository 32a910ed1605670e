// Where a hart's cycles go: by call stack, self and stalled. Calls and returns are told by the instructions that make
// them (jumps that link ra or t0, jumps through ra); whatever else changes the function is a jump of the same depth.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/riscv/elf_file.h"
#include "models/riscv/hart.h"
#include "models/riscv/jump.h"

namespace attnvp::riscv {

class Profile {
 public:
  struct Node {
    int function = 0;                            // of names()
    int parent = -1;                             // of nodes(); -1: the root
    std::uint64_t instructions = 0, cycles = 0;  // itself, stalls not counted
    std::uint64_t stall = 0;                     // waiting for the bus, or asleep
    std::map<int, int> callees;                  // function to node
  };

  Profile(const ElfFile& program, std::string root);

  void executed(const Executed& e);
  void slept(std::uint64_t cycles) { nodes_[static_cast<std::size_t>(at_)].stall += cycles; }

  const std::vector<Node>& nodes() const { return nodes_; }  // parents first
  const std::vector<std::string>& names() const { return names_; }
  // A line for each call stack: "hart 0;main;boot 1234"; what is stalled is a frame of its own.
  std::string folded() const;
  // Calls of a function, all stacks together.
  struct Total {
    std::string function;
    std::uint64_t instructions = 0, self = 0, stall = 0, inclusive = 0;
  };
  std::vector<Total> totals() const;  // the one with most cycles of its own first

 private:
  int function_of(std::uint32_t pc);
  int below(int node, int function);

  const ElfFile& program_;
  std::vector<std::string> names_;
  std::map<std::uint32_t, int> known_;  // functions by their addresses
  std::vector<int> cache_;              // by pc
  std::vector<Node> nodes_;
  int at_ = 0;
  Jump jump_ = Jump::kNone;  // of the instruction before
};

// Several harts' profiles as one text, or as a page that shows them as a flame graph.
std::string folded(const std::vector<const Profile*>& profiles);
std::string flame_page(const std::string& title, const std::vector<const Profile*>& profiles);

}  // namespace attnvp::riscv
