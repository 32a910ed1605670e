// LeanAttention's experiment on its machine: decoding with contexts of 1K to 512K keys, few and many heads, under
// stream-K, FlashDecoding and FlashAttention-2.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explore/reproduce/section.h"
#include "platform/job/job.h"

namespace attnvp::reproduce {

struct LeanPoint {
  std::uint32_t batch = 0, heads = 0, context = 0, emb = 0;  // context 0: batches of different lengths
  std::string network;                                       // inline shape
  job::Result lean, flash_decoding, flash2;
};

struct LeanStudy {
  std::string hardware;
  std::uint32_t slots = 0;  // workers of the machine
  std::vector<LeanPoint> points;
};

LeanStudy run_lean_study(const MachineConfig& machine, const std::function<void(const std::string&)>& progress);

std::vector<Section> lean_sections(const LeanStudy& study);
std::string lean_json(const LeanStudy& study);
std::string lean_csv(const LeanStudy& study);
std::string lean_markdown(const std::vector<Section>& sections);

}  // namespace attnvp::reproduce
