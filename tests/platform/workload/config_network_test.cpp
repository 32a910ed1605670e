#include <map>

#include "platform/machine/catalog.h"
#include "platform/workload/workload.h"
#include "tests/platform/test_files.h"

namespace attnvp::workload {

using namespace config;

namespace {

using attnvp::testing::message_of;
using attnvp::testing::TemporaryFolder;

std::string inline_refusal(const std::string& text) {
  const std::string message = message_of([&] { load(text); });
  const std::string prefix = "--net " + text + ": ";
  EXPECT_EQ(message.substr(0, prefix.size()), prefix);
  return message.substr(prefix.size());
}

std::string file_refusal(const std::string& text) {
  TemporaryFolder folder;
  const std::string path = folder.write("my.yaml", text);
  return message_of([&] { load(path); });
}

// MAS-Attention, table 1: heads, sequence length, embedding per head.
TEST(Workload, TheTwelveNetworksOfThePaper) {
  struct Row {
    std::uint32_t heads, seq, emb;
  };
  const std::map<std::string, Row> rows = {
      {"bert-base", {12, 512, 64}},  {"bert-large", {16, 512, 64}}, {"bert-small", {8, 512, 64}},
      {"llama3-8b", {32, 512, 128}}, {"t5-mini", {8, 512, 32}},     {"vit-b-14", {12, 196, 64}},
      {"vit-l-14", {16, 196, 64}},   {"vit-h-14", {16, 196, 80}},   {"vit-b-16", {12, 256, 64}},
      {"vit-l-16", {16, 256, 64}},   {"vit-h-16", {16, 256, 80}},   {"xlm", {8, 512, 128}}};
  std::size_t found = 0;
  for (const CatalogEntry& entry : list(Folder::kNetworks)) {
    const Workload network = load(entry.name);
    EXPECT_EQ(network.name(), entry.name);
    EXPECT_FALSE(entry.description.empty()) << entry.path;
    const auto row = rows.find(entry.name);
    if (row == rows.end()) continue;
    ++found;
    EXPECT_EQ(network.attention().batch, 1u);
    EXPECT_EQ(network.attention().heads, row->second.heads);
    EXPECT_EQ(network.attention().seq_q, row->second.seq);
    EXPECT_EQ(network.attention().seq_kv, row->second.seq);
    EXPECT_EQ(network.attention().emb, row->second.emb);
  }
  EXPECT_EQ(found, rows.size());
}

TEST(Workload, InlineShapes) {
  const Workload simple = load("H=12,N=512,E=64");
  EXPECT_EQ(simple.name(), "H=12,N=512,E=64");
  EXPECT_EQ(simple.attention().batch, 1u);
  EXPECT_EQ(simple.attention().heads, 12u);
  EXPECT_EQ(simple.attention().seq_q, 512u);
  EXPECT_EQ(simple.attention().seq_kv, 512u);
  EXPECT_EQ(simple.attention().emb, 64u);
  const Workload apart = load("B=2, H=1, NQ=1, NKV=4194304, E=4096");
  EXPECT_EQ(apart.attention().batch, 2u);
  EXPECT_EQ(apart.attention().seq_q, 1u);
  EXPECT_EQ(apart.attention().seq_kv, 4194304u);
  const Workload overridden = load("NQ=16,H=1,N=64,E=8");
  EXPECT_EQ(overridden.attention().seq_q, 16u);
  EXPECT_EQ(overridden.attention().seq_kv, 64u);
}

TEST(Workload, ElementTypesSoftCapAndWidthOfV) {
  using hal::ElementType;
  const Workload n = load("H=8,N=64,E=48,EV=32,type=int8,softcap=50");
  EXPECT_EQ(n.type(), ElementType::kInt8);
  EXPECT_EQ(n.out(), ElementType::kFp16);
  EXPECT_EQ(n.attention().soft_cap, 50);
  EXPECT_EQ(n.attention().query_elements(), 8U * 64 * 48);
  EXPECT_EQ(n.attention().value_elements(), 8U * 64 * 32);
  EXPECT_EQ(n.attention().output_elements(), 8U * 64 * 32);
  EXPECT_NE(n.identity(), load("H=8,N=64,E=48,type=int8,softcap=50").identity());
  EXPECT_NE(n.identity(), load("H=8,N=64,E=48,EV=32,softcap=50").identity());
  EXPECT_NE(n.identity(), load("H=8,N=64,E=48,EV=32,type=int8").identity());
  EXPECT_EQ(load("H=1,N=8,E=8,type=bf16").out(), ElementType::kBf16);
  EXPECT_EQ(load("H=1,N=8,E=8,type=bf16,out=fp16").out(), ElementType::kFp16);
  EXPECT_EQ(load("H=1,N=8,E=8,type=fp8_e5m2,out=bf16").out(), ElementType::kBf16);
  EXPECT_EQ(load("H=1,N=8,E=8,EV=8").attention().value_emb, 0U);
  EXPECT_EQ(load("gemma2-9b").attention().soft_cap, 50);
  EXPECT_EQ(load("deepseek-v3").attention().values(), 512U);
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,type=int4"),
            "key 'type': found 'int4'; allowed: fp16, bf16, fp8_e4m3, fp8_e5m2, int8");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,softcap=0"), "key 'softcap': found '0'; allowed is a number of 2^-10 to 32768");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,softcap=50x"),
            "key 'softcap': found '50x'; allowed is a number of 2^-10 to 32768");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,type=int8,softmax=none"),
            "key 'softmax': found 'none'; with a type or a soft-cap allowed is 'softmax'");
}

TEST(Workload, RefusesBadInlineShapes) {
  EXPECT_EQ(inline_refusal("H=12,N=512"), "key 'E' is missing; allowed is 1 to 65536");
  EXPECT_EQ(inline_refusal("N=512,E=64"), "key 'H' is missing; allowed is 1 to 65536");
  EXPECT_EQ(inline_refusal("H=12,NQ=5,E=64"), "key 'N' (or both 'NQ' and 'NKV') is missing; allowed is 1 to 4194304");
  EXPECT_EQ(inline_refusal("H=0,N=512,E=64"), "key 'H': found '0'; allowed is 1 to 65536");
  EXPECT_EQ(inline_refusal("H=-1,N=512,E=64"),
            "key 'H': found '-1', which is negative; allowed is a plain whole number");
  EXPECT_EQ(inline_refusal("H=1.5,N=512,E=64"),
            "key 'H': found '1.5', which is not a plain whole number; allowed is a plain whole number");
  EXPECT_EQ(inline_refusal("H=,N=512,E=64"),
            "key 'H': found '', which is not a number; allowed is a plain whole number");
  EXPECT_EQ(inline_refusal("H=1,N=4194305,E=64"), "key 'N': found '4194305'; allowed is 1 to 4194304");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=65537"), "key 'E': found '65537'; allowed is 1 to 65536");
  EXPECT_EQ(inline_refusal("B=65537,H=1,N=8,E=1"), "key 'B': found '65537'; allowed is 1 to 65536");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,D=2"),
            "key 'D' is unknown; allowed: B, H, N, E, L, ... (all: attnvp describe keys)");
  EXPECT_EQ(inline_refusal("h=1,N=8,E=8"), "key 'h' is unknown; did you mean 'H'?");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,dtype=int8"), "key 'dtype' is unknown; did you mean 'type'?");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,H=1"), "key 'H' is given twice");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,"), "found '' without '='; allowed is a shape such as H=12,N=512,E=64");
  EXPECT_EQ(inline_refusal("H=1,N,E=8"), "found 'N' without '='; allowed is a shape such as H=12,N=512,E=64");
  EXPECT_EQ(inline_refusal("H=99999999999999999999,N=8,E=8"),
            "key 'H': found '99999999999999999999', which is out of range; allowed is a plain whole number");
}

TEST(Workload, MasksAndScale) {
  const Workload plain = load("H=2,N=64,E=16,causal=1,scale=1/sqrt(E)");
  EXPECT_EQ(plain.attention().mask.causal, 1u);
  EXPECT_EQ(plain.attention().mask.queries, 64u);
  EXPECT_EQ(plain.attention().mask.history, 0u);
  EXPECT_EQ(plain.attention().scale, 0.25F);
  const Workload chunk = load("H=2,N=16,history=48,E=16,causal=1,window=8,sinks=2");
  EXPECT_EQ(chunk.attention().seq_q, 16u);
  EXPECT_EQ(chunk.attention().seq_kv, 64u);
  EXPECT_EQ(chunk.attention().mask.history, 48u);
  EXPECT_EQ(chunk.attention().mask.window, 8u);
  EXPECT_EQ(chunk.attention().mask.sinks, 2u);
  EXPECT_EQ(load("H=2,NQ=4,NKV=9,E=16,causal=1").attention().mask.history, 5u);
  const Workload folded = load("H=4,HKV=2,N=8,E=16,causal=1").attention().folded();
  EXPECT_EQ(folded.attention().seq_q, 16u);
  EXPECT_EQ(folded.attention().mask.queries, 8u);
  EXPECT_EQ(folded.attention().visible_scores(), 4u * 36);
  TemporaryFolder folder;
  EXPECT_EQ(load(folder.write("m.yaml", "heads: 1\nseq: 8\nemb: 4\ncausal: 1\nscale: 1/2\n")).attention().scale, 0.5F);
}

TEST(Workload, ModelsByNameWithKeys) {
  const Workload prefill = load("llama3.1-8b");
  EXPECT_EQ(prefill.attention().heads, 32u);
  EXPECT_EQ(prefill.attention().kv_heads, 8u);
  EXPECT_EQ(prefill.attention().seq_q, 2048u);
  EXPECT_EQ(prefill.attention().seq_kv, 2048u);
  EXPECT_EQ(prefill.attention().mask.causal, 1u);
  EXPECT_EQ(prefill.model.layers, 32u);
  const Workload decode = load("llama3.1-8b,phase=decode,batch=32,cache=4096");
  EXPECT_EQ(decode.name(), "llama3.1-8b,phase=decode,batch=32,cache=4096");
  EXPECT_EQ(decode.attention().batch, 32u);
  EXPECT_EQ(decode.attention().seq_q, 1u);
  EXPECT_EQ(decode.attention().seq_kv, 4097u);
  EXPECT_EQ(decode.attention().mask.history, 4096u);
  EXPECT_EQ(load("gpt2,phase=decode").attention().seq_kv, 1024u);
  const Workload chunk = load("qwen2.5-7b,N=64,cache=256");
  EXPECT_EQ(chunk.attention().seq_q, 64u);
  EXPECT_EQ(chunk.attention().seq_kv, 320u);
  EXPECT_EQ(message_of([] { load("gpt2,cache=2,history=3"); }),
            "--net gpt2,cache=2,history=3: key 'history' is given twice");
}

TEST(Workload, RefusesMasksThatCannotBe) {
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,window=0"), "key 'window': found '0'; allowed is 1 to 4194304");
  EXPECT_EQ(inline_refusal("H=1,N=64,NKV=100,E=8,causal=1,history=40"),
            "key 'history': found 40; allowed is at most 36, as 64 new tokens come behind it and there are 100 keys");
  EXPECT_EQ(inline_refusal("H=1,NQ=9,NKV=8,E=8,causal=1"),
            "key 'NQ': found 9; under a mask every query has a key: allowed is at most 'NKV', 8");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,sinks=2"), "key 'sinks': found 2; it needs 'causal' or 'window'");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,causal=1,sinks=9"), "key 'sinks': found 9; allowed is at most 'NKV', 8");
  EXPECT_EQ(inline_refusal("H=1,N=8,E=8,scale=-1"),
            "key 'scale': found '-1'; allowed is a number of 2^-24 to 1024, a quotient such as 1/8, or 1/sqrt(E)");
  EXPECT_EQ(inline_refusal("H=1,L=8+9,NQ=1,E=8,causal=1"), "key 'L': batches of different lengths take no mask");
}

TEST(Workload, RefusesShapesBeyond64BitCounters) {
  EXPECT_EQ(inline_refusal("B=65536,H=65536,N=4194304,E=4096"),
            "the shape needs 3.09e+26 multiply-accumulates per matrix product; allowed are 1.15e+18");
  EXPECT_NO_THROW(load("H=32,N=4194304,E=128"));
}

TEST(Workload, Files) {
  TemporaryFolder folder;
  const Workload plain = load(folder.write("mine.yaml", "heads: 3\nseq: 7\nemb: 5\n"));
  EXPECT_EQ(plain.name(), "mine");
  EXPECT_EQ(plain.attention().seq_q, 7u);
  EXPECT_EQ(plain.attention().seq_kv, 7u);
  const Workload apart =
      load(folder.write("a=b.yaml", "name: decode\nbatch: 4\nheads: 3\nseq_q: 1\nseq_kv: 9\nemb: 5\n"));
  EXPECT_EQ(apart.name(), "decode");
  EXPECT_EQ(apart.attention().batch, 4u);
  EXPECT_EQ(apart.attention().seq_q, 1u);
  EXPECT_EQ(apart.attention().seq_kv, 9u);
}

TEST(Workload, RefusesBadFiles) {
  EXPECT_EQ(file_refusal("heads: 3\nseq: 7\n"), "my.yaml: key 'emb' is missing; allowed is 1 to 65536");
  EXPECT_EQ(file_refusal("heads: 3\nseq_q: 7\nemb: 1\n"),
            "my.yaml: key 'seq' (or both 'seq_q' and 'seq_kv') is missing; allowed is 1 to 4194304");
  EXPECT_EQ(file_refusal("head: 3\n"), "my.yaml:1: key 'head' is unknown; did you mean 'heads'?");
  EXPECT_EQ(
      file_refusal("width: 3\n"),
      "my.yaml:1: key 'width' is unknown; allowed: window, batch, sinks, sink, bias, ... (all: attnvp describe keys)");
  EXPECT_EQ(file_refusal("heads: 3\nseq: 0\n"), "my.yaml:2: key 'seq': found '0'; allowed is 1 to 4194304");
  EXPECT_EQ(file_refusal("emb: 3\nemb: 3\n"), "my.yaml:2: key 'emb' is given twice, first in line 1");
  EXPECT_EQ(message_of([] { load("bert-bas"); }).find("'bert-bas' is not in "), 0u);
}

}  // namespace
}  // namespace attnvp::workload
