// LeanAttention study on the paper's machine: decoding with contexts of 1K to 512K keys and few or many heads, under
// stream-K, FlashDecoding and FlashAttention-2. It also evaluates how limits of GPU memory affect the gain.
#pragma once

#include <array>

#include "explore/papers/papers.h"

namespace attnvp::papers {

struct LeanPoint {
  std::uint32_t batch = 0, heads = 0, context = 0, emb = 0;  // context 0: batches have different lengths
  std::string network;                                       // inline shape
  job::RunResult lean, flash_decoding, flash2;

  std::string shape() const;
};

struct LeanStudy {
  std::string hardware;
  std::uint32_t slots = 0;  // workers of the machine
  std::vector<LeanPoint> points;

  struct LeanMachine {
    std::string what;  // difference from the first machine
    std::vector<std::array<double, 2>>
        gains{};  // per shape: cycles of FlashDecoding and FlashAttention-2 relative to lean
    double mean(std::size_t over) const;
    double most(std::size_t over) const;
  };
  Names shapes, contexts;             // with 1K and 4K keys
  std::vector<LeanMachine> machines;  // machines for these shapes
};

LeanStudy run_lean_study(const MachineConfig& machine, const StudyProgress& progress);
StudyReport lean_report(const LeanStudy& study);

}  // namespace attnvp::papers
