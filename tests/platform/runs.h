// Common parts of tests of whole jobs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "platform/machine/energy.h"
#include "platform/machine/hardware.h"
#include "platform/run/golden/golden.h"
#include "platform/run/job.h"
#include "platform/workload/workload.h"

namespace attnvp::runs {

inline const std::vector<std::string> kNetworks = {"bert-base", "bert-large", "bert-small", "llama3-8b",
                                                   "t5-mini",   "vit-b-14",   "vit-l-14",   "vit-h-14",
                                                   "vit-b-16",  "vit-l-16",   "vit-h-16",   "xlm"};
inline const std::vector<std::string> kDataflows = {"layerwise",         "softpipe", "flat",
                                                    "flat:prefetch=off", "tileflow", "mas"};

// gtest allows letters and digits only.
inline std::string test_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

using NetworkAndDataflow = std::tuple<std::string, std::string>;
inline std::string name_of(const ::testing::TestParamInfo<NetworkAndDataflow>& of) {
  return test_name(std::get<0>(of.param) + "_" + std::get<1>(of.param));
}

// DRAM bytes of a schedule without reloads: Q, K and V in, O out; C and P in and out if they leave L1.
struct DramBytes {
  std::uint64_t read, write;
};
inline DramBytes least_dram_bytes(const workload::Attention& n, const std::string& dataflow) {
  const std::uint64_t heads = std::uint64_t{n.batch} * n.heads;
  const std::uint64_t q = heads * n.seq_q * n.emb * 2, kv = 2 * heads * n.seq_kv * n.emb * 2;
  const std::uint64_t score_matrices = dataflow == "layerwise" ? 2 : dataflow == "softpipe" ? 1 : 0;
  const std::uint64_t scores = score_matrices * heads * n.seq_q * n.seq_kv * 2;
  return {q + kv + scores, q + scores};
}

// Compares everything that does not depend on the host.
inline void expect_same_counts(const job::RunResult& a, const job::RunResult& b) {
  EXPECT_EQ(a.cycles, b.cycles);
  ASSERT_EQ(a.counters.size(), b.counters.size());
  for (std::size_t i = 0; i < a.counters.size(); ++i) {
    EXPECT_EQ(a.counters[i].module + "." + a.counters[i].name, b.counters[i].module + "." + b.counters[i].name);
    EXPECT_EQ(a.counters[i].value, b.counters[i].value) << a.counters[i].module << "." << a.counters[i].name;
    EXPECT_EQ(a.counters[i].energy_pj, b.counters[i].energy_pj);
  }
}

// The golden check depends on the bias: a wrong or missing bias makes the run's output fail.
inline void expect_bias_is_seen(const workload::Attention& n, const job::Tensors& tensors, const job::RunResult& r) {
  ASSERT_TRUE(r.golden.passed) << r.golden.to_string();
  job::AttentionShape shape{n.batch, n.heads, n.seq_q, n.seq_kv, n.emb, n.mask, n.scale};
  const auto passes = [&](double times) {
    shape.bias = [&](std::uint32_t head, std::uint32_t query, std::uint32_t key) {
      return times * workload::bias_of(n, head, query, key);
    };
    return job::check_attention(shape, tensors.q.data(), tensors.k.data(), tensors.v.data(), r.output.data()).passed;
  };
  EXPECT_TRUE(passes(1));
  EXPECT_FALSE(passes(1.01));
  EXPECT_FALSE(passes(0));
}

}  // namespace attnvp::runs
