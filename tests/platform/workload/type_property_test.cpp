// Random layers of all element types under masks, with grouped queries, soft-caps, a width of V, histories, and batches
// of requests with their caches of pages, maps of blocks, biases, padding, scales of blocks and appended tokens, on
// random machines under every dataflow: values within their bound, the same bytes whatever whole-row dataflow made
// them, the same counts without data, and readers of the command stream that agree. Integers only: the cases are the
// same everywhere.
#include <algorithm>
#include <numeric>

#include "tests/platform/random_jobs.h"
#include "tests/platform/random_runs.h"

namespace attnvp::runs {
namespace {

#ifdef ATTNVP_LONG
constexpr int kFirst = 20, kShards = 250;  // 2,000 jobs
#else
constexpr int kFirst = 0, kShards = 20;
#endif
constexpr int kCasesPerShard = 8;

using hal::ElementType;

constexpr ElementType kTypes[] = {ElementType::kInt8, ElementType::kFp8E4M3, ElementType::kFp8E5M2, ElementType::kBf16,
                                  ElementType::kFp16};

// Each with its own cache, the pages of which lie in any order.
void random_requests(Random& r, workload::Attention& n) {
  n.page = r.of({0, 16, 32});
  n.batch = r.from(1, 4);
  n.seq_q = n.seq_kv = 1;
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    workload::Request request;
    request.new_tokens = r.one_in(2) ? 1 : r.from(1, 60);
    request.cached_tokens = r.one_in(4) ? 0 : r.from(1, 120);
    n.requests.push_back(request);
    n.contexts.push_back(request.tokens());
    n.seq_q = std::max(n.seq_q, request.new_tokens);
    n.seq_kv = std::max(n.seq_kv, request.tokens());
  }
  n.mask = {1, 0, 0, n.seq_q, 0, 0, 0, 0};
  if (n.page == 0) return;
  std::vector<std::uint32_t> free(n.pages() + 3);
  n.cache_pages = static_cast<std::uint32_t>(free.size());
  std::iota(free.begin(), free.end(), 0U);
  for (workload::Request& request : n.requests) {
    for (std::uint32_t i = 0; i < (request.tokens() + n.page - 1) / n.page; ++i) {
      const auto at = free.begin() + r.from(0, static_cast<std::uint32_t>(free.size()) - 1);
      request.pages.push_back(*at);
      free.erase(at);
    }
  }
}

Case random_case(std::uint32_t number) {
  Random r(number * 2654435761U + 808);
  Case c;
  c.machine = random_machine(r);
  if (r.one_in(3)) {
    c.machine.mac.resident_tiles = r.of({1, 2, 12});
    c.machine.mac.reduce_cycles = 15;
  }
  c.machine.mac.int8_rate = r.of({1, 2, 4});
  c.machine.mac.fp8_rate = r.of({1, 2});
  c.network = random_network(r);
  random_rules(r, c.network);
  config::check_machine(c.machine, {"random"});
  c.schedule = job::parse_dataflow(kUnderRules[r.from(0, static_cast<std::uint32_t>(kUnderRules.size()) - 1)]);
  c.decodes = firmware::find_dataflow(c.schedule.dataflow.c_str())->is(firmware::kRagged);
  workload::Attention& n = c.network;
  if (c.decodes && r.one_in(2)) random_requests(r, n);
  n.type = kTypes[r.from(0, 4)];
  if (r.one_in(3)) n.out = ElementType::kBf16;
  if (r.one_in(4)) n.soft_cap = static_cast<float>(r.from(1, 20));
  if (r.one_in(4)) n.value_emb = r.from(1, 60);
  if (n.value_emb == n.emb) n.value_emb = 0;
  random_places(r, n);
  job::Tiling& t = c.schedule.tiling;
  if (c.schedule.dataflow == "weave" && !r.one_in(4)) t.set("walk", r.from(1, 7));
  if (!c.decodes && r.one_in(2)) t.set("nq", r.from(1, n.folded().seq_q));
  if (r.one_in(2)) t.set("nkv", r.from(1, n.seq_kv));
  if (r.one_in(4)) t.set("kv", r.one_in(2) ? hal::kWord : r.from(1, 4));
  return c;
}

void check(const Case& c, const job::RunResult& r) {
  const workload::Attention& n = c.network;
  EXPECT_EQ(r.output.size(), n.output_elements());
  EXPECT_GE(r.sum("mac", "macs"), n.visible_scores() * (n.emb + n.values()));
  if (!job::has(r.schedule, firmware::kOnePass)) {
    EXPECT_EQ(r.sum("vec", "elements"), n.visible_scores());
  }
  expect_counted(c, r);
}

class TypeProperty : public testing::TestWithParam<int> {};

TEST_P(TypeProperty, HoldsForRandomJobs) { hold_for_random_jobs(GetParam(), kCasesPerShard, random_case, check); }

// Scores up to some 3e4, of the same jobs: of the machine's results only those fail that overflow of FP16 leaves
// without a number.
TEST_P(TypeProperty, GoldenAcceptsLargeScores) {
  for (int number = GetParam() * kCasesPerShard; number < (GetParam() + 1) * kCasesPerShard; ++number) {
    const Case c = random_case(static_cast<std::uint32_t>(number));
    Random r(static_cast<std::uint32_t>(number) + 4000);
    const float factor = static_cast<float>(1U << r.from(3, 12));
    SCOPED_TRACE(fmt::format("case {}, Q times {}: {}", number, factor, c.text()));
    job::Tensors tensors = job::random_tensors(c.network, 7);
    for (arith::Half& x : tensors.q) {
      x = arith::half_from_float(std::clamp(arith::float_from_half(x) * factor, -60000.0F, 60000.0F));
    }
    const Attempt full = attempt(c, true, &tensors);
    if (!full.done) continue;
    const job::GoldenResult& golden = full.result.golden;
    const std::vector<arith::Half>& out = full.result.output;
    const auto none =
        static_cast<std::size_t>(std::count_if(out.begin(), out.end(), [](auto x) { return !arith::is_finite(x); }));
    EXPECT_EQ(golden.failures, none) << golden.to_string();
    EXPECT_EQ(golden.rows_of_score_overflow, none / c.network.values());
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, TypeProperty, testing::Range(kFirst, kFirst + kShards));

}  // namespace
}  // namespace attnvp::runs
