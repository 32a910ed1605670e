// LeanAttention's experiment on its machine: decoding with contexts of 1K to 512K keys, few and many heads, under
// stream-K, FlashDecoding and FlashAttention-2; and what each limit of a GPU's memory does to what it gains.
#pragma once

#include <array>

#include "explore/papers/papers.h"

namespace attnvp::papers {

struct LeanPoint {
  std::uint32_t batch = 0, heads = 0, context = 0, emb = 0;  // context 0: batches of different lengths
  std::string network;                                       // inline shape
  job::Result lean, flash_decoding, flash2;

  std::string shape() const;
};

struct LeanStudy {
  std::string hardware;
  std::uint32_t slots = 0;  // workers of the machine
  std::vector<LeanPoint> points;

  struct Machine {
    std::string what;  // is different from the first one
    std::vector<std::array<double, 2>>
        gains{};  // of each shape: FlashDecoding's and FlashAttention-2's cycles over lean's
    double mean(std::size_t over) const;
    double most(std::size_t over) const;
  };
  Names shapes, contexts;         // of 1K and 4K,
  std::vector<Machine> machines;  // on which these run
};

LeanStudy run_lean_study(const MachineConfig& machine, const Progress& progress);
Report lean_report(const LeanStudy& study);

}  // namespace attnvp::papers
