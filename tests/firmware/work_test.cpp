// How layers are cut up and dealt out. Work asks the runtime only for the job, so one cluster's processor can
// play every cluster of every machine in turn.
#include "firmware/runtime/work.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/models/bench.h"

namespace attnvp::firmware {
namespace {

using bench::Bench;

struct Case {
  hal::JobBlock job{};
  RowTiling tiling{};
  uint32_t lanes = 0;
  std::string text() const {
    return "B " + std::to_string(job.layer.batch) + " H " + std::to_string(job.layer.heads) + " Nq " +
           std::to_string(job.layer.seq_q) + " bb " + std::to_string(tiling.bb) + " hh " + std::to_string(tiling.hh) +
           " nq " + std::to_string(tiling.nq) + " clusters " + std::to_string(job.machine.clusters) + " lanes " +
           std::to_string(lanes) + " rows " + std::to_string(job.machine.mac_rows);
  }
};

Case make_case(uint32_t batch, uint32_t heads, uint32_t seq_q, uint32_t bb, uint32_t hh, uint32_t nq, uint32_t clusters,
               uint32_t lanes, uint32_t mac_rows) {
  Case c;
  c.job.magic = hal::kJobMagic;
  c.job.bytes = sizeof(hal::JobBlock);
  c.job.machine.clusters = clusters;
  c.job.machine.cores = 2 * lanes;  // lanes of two cores
  c.lanes = lanes;
  c.job.machine.mac_rows = c.job.machine.mac_columns = mac_rows;
  c.job.machine.softmax_rate = 16;
  c.job.layer.batch = batch;
  c.job.layer.heads = heads;
  c.job.layer.seq_q = seq_q;
  c.job.layer.seq_kv = 16;
  c.job.layer.emb = 8;
  c.tiling.bb = bb;
  c.tiling.hh = hh;
  c.tiling.nq = nq;
  c.tiling.nkv = 16;
  return c;
}

// Calls `visit` with each cluster's Work.
template <typename Visit>
void each_cluster(Bench& b, const Case& c, Visit visit) {
  b.platform().write(hal::kJobAddress, &c.job, sizeof c.job);
  for (uint32_t cluster = 0; cluster < c.job.machine.clusters; ++cluster) {
    Runtime rt(b.cpu(), cluster);
    ASSERT_TRUE(rt.ok());
    visit(Work(rt, c.tiling, c.lanes));
  }
}

// All items of a case, checked one by one on the way.
struct Dealt {
  std::vector<Item> items;
  std::vector<uint32_t> per_cluster;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> per_lane;  // (cluster, lane)
};

void check_group(const Work& work, const Case& c, uint32_t group, uint32_t cluster, Dealt& dealt) {
  const hal::Layer& l = c.job.layer;
  const uint32_t members = work.members(group);
  ASSERT_GE(members, 1U);
  ASSERT_LE(members, c.tiling.bb * c.tiling.hh);
  std::set<uint32_t> heads;
  for (uint32_t m = 0; m < members; ++m) heads.insert(work.head_of(group, m));
  ASSERT_EQ(heads.size(), members);
  ASSERT_LT(*heads.rbegin(), l.batch * l.heads);

  const uint32_t rounds = work.rounds(group);
  ASSERT_GE(rounds, 1U);
  std::vector<uint32_t> items_of(c.lanes, 0), last(c.lanes, Work::kNoRound);
  for (uint32_t round = 0; round < rounds + 2; ++round) {
    uint32_t valid = 0;
    for (uint32_t lane = 0; lane < c.lanes; ++lane) {
      const Item item = work.item(group, round, lane);
      ASSERT_EQ(item.lane, lane);
      if (!item.valid) continue;
      ++valid;
      ASSERT_LT(round, rounds);
      ASSERT_LT(item.member, members);
      ASSERT_EQ(item.head, work.head_of(group, item.member));
      ASSERT_GE(item.rows, 1U);
      ASSERT_LE(item.rows, c.tiling.nq);  // the buffers are that large
      ASSERT_LE(item.row + item.rows, l.seq_q);
      ASSERT_EQ(item.key, 0U);  // nothing is masked: all keys
      ASSERT_EQ(item.keys, l.seq_kv);
      ++items_of[lane];
      last[lane] = round;
      dealt.items.push_back(item);
    }
    if (round + 1 < rounds) {
      ASSERT_EQ(valid, c.lanes) << "a gap before the last round";
    }
    if (round < rounds) {
      ASSERT_GE(valid, 1U) << "an empty round";
    }
  }
  for (uint32_t lane = 0; lane < c.lanes; ++lane) {
    ASSERT_EQ(work.last_round(group, lane), last[lane]);
    dealt.per_lane[{cluster, lane}] += items_of[lane];
  }
  ASSERT_LE(*std::max_element(items_of.begin(), items_of.end()) - *std::min_element(items_of.begin(), items_of.end()),
            1U);
}

void check_sequence(const Work& work) {
  uint32_t group = 0, round = 0;
  Work::Round r = work.first();
  for (; r.valid; r = work.after(r)) {
    ASSERT_EQ(r.group, group);
    ASSERT_EQ(r.round, round);
    if (++round == work.rounds(group)) ++group, round = 0;
  }
  ASSERT_EQ(group, work.groups());
  ASSERT_FALSE(work.after(r).valid);
}

Dealt deal(Bench& b, const Case& c) {
  Dealt dealt;
  uint32_t cluster = 0;
  each_cluster(b, c, [&](const Work& work) {
    const std::size_t before = dealt.items.size();
    for (uint32_t group = 0; group < work.groups(); ++group) {
      check_group(work, c, group, cluster, dealt);
      if (::testing::Test::HasFatalFailure()) return;
    }
    check_sequence(work);
    dealt.per_cluster.push_back(static_cast<uint32_t>(dealt.items.size() - before));
    EXPECT_EQ(work.items(), dealt.per_cluster.back());
    ++cluster;
  });
  return dealt;
}

void check_cover(const Dealt& dealt, const Case& c) {
  const hal::Layer& l = c.job.layer;
  std::vector<std::vector<uint32_t>> times(l.batch * l.heads, std::vector<uint32_t>(l.seq_q, 0));
  uint32_t most = 0, least = l.seq_q;
  for (const Item& item : dealt.items) {
    for (uint32_t row = item.row; row < item.row + item.rows; ++row) ++times[item.head][row];
    most = max(most, item.rows);
    if (item.row + item.rows < l.seq_q) least = min(least, item.rows);
  }
  for (const auto& head : times) {
    for (const uint32_t n : head) ASSERT_EQ(n, 1U);
  }
  // Blocks are whole array passes, one more or less; the last one of a head may be cut short.
  const uint32_t unit = min(c.job.machine.mac_rows, c.tiling.nq);
  ASSERT_LE(most - min(most, least), unit);
  const auto [few, many] = std::minmax_element(dealt.per_cluster.begin(), dealt.per_cluster.end());
  ASSERT_LE(*many - *few, 1U);
}

class WorkProperty : public ::testing::TestWithParam<int> {};

TEST_P(WorkProperty, EveryRowOfEveryHeadOnce) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  const auto upto = [&](uint32_t n) { return 1 + static_cast<uint32_t>(random() % n); };
  Bench bench;
  bench.run([&](Bench& b) {
    for (int i = 0; i < 250; ++i) {
      const uint32_t batch = upto(4), heads = upto(9), seq_q = random() % 4 == 0 ? upto(8) : upto(150);
      const uint32_t mac_rows = random() % 3 == 0 ? upto(20) : 1U << random() % 6;
      const Case c = make_case(batch, heads, seq_q, upto(batch), upto(heads), upto(seq_q), upto(4), upto(5), mac_rows);
      SCOPED_TRACE(c.text());
      const Dealt dealt = deal(b, c);
      check_cover(dealt, c);
      if (::testing::Test::HasFailure()) return;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, WorkProperty, ::testing::Range(1, 9));

TEST(Work, UnevenGroupsEvenOut) {
  // 3 blocks of each of 8 heads in 2 lanes, a head at a time: 2 and 1, then 1 and 2. (48 rows, blocks of one
  // pass. Three passes do not divide by two, so blocks stay odd.)
  Bench bench;
  bench.run([](Bench& b) {
    const Case c = make_case(1, 8, 48, 1, 1, 16, 1, 2, 16);
    const Dealt dealt = deal(b, c);
    check_cover(dealt, c);
    EXPECT_EQ(dealt.items.size(), 24U);
    EXPECT_EQ(dealt.per_lane.at({0, 0}), 12U);
    EXPECT_EQ(dealt.per_lane.at({0, 1}), 12U);
  });
}

TEST(Work, LanesDifferByOneBlockPerParityOfGroups) {
  // Groups of equal size with a remainder of r blocks start at another lane each: over as many groups as
  // lanes, every lane gets the same; in between, at most r more than another.
  Bench bench;
  bench.run([](Bench& b) {
    for (uint32_t lanes = 1; lanes <= 5; ++lanes) {
      for (uint32_t heads = 1; heads <= 12; ++heads) {
        for (const uint32_t blocks : {1U, 2U, 3U, 5U, 7U}) {
          const Case c = make_case(1, heads, 16 * blocks, 1, 1, 16, 1, lanes, 16);
          SCOPED_TRACE(c.text());
          const Dealt dealt = deal(b, c);
          uint32_t most = 0, least = UINT32_MAX;
          for (const auto& entry : dealt.per_lane) most = max(most, entry.second), least = min(least, entry.second);
          const uint32_t remainder = blocks % lanes;
          EXPECT_LE(most - least, heads % lanes == 0 ? 0U : min(remainder, heads % lanes));
        }
      }
    }
  });
}

TEST(Work, RowBlocks) {
  EXPECT_EQ(row_blocks(512, 64, 16, 1), 8U);
  EXPECT_EQ(row_blocks(512, 64, 16, 2), 8U);
  EXPECT_EQ(row_blocks(512, 64, 16, 3), 9U);  // a multiple of the workers
  EXPECT_EQ(row_blocks(196, 64, 16, 1), 4U);  // 13 passes of rows, 4 a block
  EXPECT_EQ(row_blocks(196, 512, 16, 2), 2U);
  EXPECT_EQ(row_blocks(1, 1, 1, 4), 1U);  // no more blocks than passes
  EXPECT_EQ(row_blocks(48, 16, 16, 2), 3U);
}

TEST(Work, MoreClustersThanItems) {
  Bench bench;
  bench.run([](Bench& b) {
    const Case c = make_case(1, 2, 16, 1, 1, 16, 4, 2, 16);
    const Dealt dealt = deal(b, c);
    check_cover(dealt, c);
    EXPECT_EQ(std::count(dealt.per_cluster.begin(), dealt.per_cluster.end(), 0U), 2);
  });
}

// 3 heads of 8 row blocks on 6 clusters: halves of heads where DRAM is fast, whole ones where fetching K and V takes
// the time.
TEST(Work, ClustersShareNoHeadWhereDramIsSlow) {
  Bench bench;
  bench.run([](Bench& b) {
    Case c = make_case(1, 3, 128, 1, 1, 16, 6, 1, 16);
    c.job.machine.dram_sharers = 16;
    c.job.machine.dram_rate = 65535;
    EXPECT_EQ(deal(b, c).per_cluster, (std::vector<uint32_t>{4, 4, 4, 4, 4, 4}));
    c.job.layer.seq_kv = 4096;
    c.tiling.nkv = 4096;
    c.job.machine.dram_rate = 1;
    std::vector<uint32_t> shares = deal(b, c).per_cluster;
    std::sort(shares.begin(), shares.end());
    EXPECT_EQ(shares, (std::vector<uint32_t>{0, 0, 0, 8, 8, 8}));
  });
}

TEST(Work, ManyHeadsManyClusters) {
  Bench bench;
  bench.run([](Bench& b) {
    const Case c = make_case(3, 64, 100, 2, 5, 32, 108, 1, 16);
    check_cover(deal(b, c), c);
  });
}

TEST(Runtime, RefusesABlockThatIsNoJob) {
  Bench bench;
  bench.run([](Bench& b) {
    Case c = make_case(1, 1, 1, 1, 1, 1, 1, 1, 1);
    b.platform().write(hal::kJobAddress, &c.job, sizeof c.job);
    EXPECT_TRUE(Runtime(b.cpu(), 0).ok());
    c.job.magic ^= 1;
    b.platform().write(hal::kJobAddress, &c.job, sizeof c.job);
    EXPECT_FALSE(Runtime(b.cpu(), 0).ok());
    c.job.magic ^= 1;
    c.job.bytes += 8;
    b.platform().write(hal::kJobAddress, &c.job, sizeof c.job);
    EXPECT_FALSE(Runtime(b.cpu(), 0).ok());
  });
}

TEST(Runtime, AllocatesAlignedAndSaysWhatWasMissing) {
  Bench bench;
  bench.run([](Bench& b) {
    Case c = make_case(1, 1, 1, 1, 1, 1, 1, 1, 1);
    c.job.machine.l1_bytes = 1024;
    b.platform().write(hal::kJobAddress, &c.job, sizeof c.job);
    Runtime rt(b.cpu(), 0);
    EXPECT_EQ(rt.allocate(1), hal::l1_base(0));
    EXPECT_EQ(rt.allocate(65), hal::l1_base(0) + 64);
    const uint64_t mark = rt.allocated();
    EXPECT_EQ(mark, 192U);
    EXPECT_EQ(rt.allocate(832), hal::l1_base(0) + 192);
    rt.free_to(mark);
    EXPECT_EQ(rt.allocate(832), hal::l1_base(0) + 192);
    EXPECT_TRUE(rt.ok());
    EXPECT_EQ(rt.allocate(1), 0U);
    EXPECT_FALSE(rt.ok());
    rt.finish();
    hal::JobResult answer{};
    b.platform().read(hal::result_address(0), &answer, sizeof answer);
    EXPECT_EQ(answer.status, Status::kL1TooSmall);
    EXPECT_EQ(answer.detail[0], 1088U);
    EXPECT_EQ(answer.detail[1], 1024U);
  });
  EXPECT_EQ(bench.cluster().l1->value("peak_bytes"), 1024U);
}

}  // namespace
}  // namespace attnvp::firmware
