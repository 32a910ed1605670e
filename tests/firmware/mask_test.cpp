// Masks against their definition, key by key; what they leave of a layer's blocks.
#include "firmware/hal/mask.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "firmware/runtime/work.h"
#include "tests/models/bench.h"

namespace attnvp::firmware {
namespace {

// The definition, one query and one key at a time.
bool sees(const hal::Mask& m, uint32_t row, uint32_t key) {
  const uint32_t p = m.history + row % m.queries;
  if (key < m.prefix) return true;
  if (m.causal != 0 && key > p) return false;
  if (key < m.sinks) return true;
  const uint32_t away = key > p ? key - p : p - key;
  return m.window == 0 || away < m.window;
}

bool in(const hal::Visible& v, uint32_t key) { return key < v.head || (key >= v.first && key < v.end); }

struct Layer {
  hal::Mask mask{};
  uint32_t rows = 0, keys = 0;
};

Layer random_layer(std::mt19937& random) {
  const auto from = [&](uint32_t low, uint32_t high) {
    return low + static_cast<uint32_t>(random() % (high - low + 1));
  };
  Layer l;
  hal::Mask& m = l.mask;
  m.queries = from(1, 40);
  l.keys = m.queries + from(0, 60);
  m.history = random() % 2 == 0 ? l.keys - m.queries : from(0, l.keys - m.queries);
  l.rows = m.queries * from(1, 3);
  m.causal = static_cast<std::uint8_t>(random() % 3 != 0 ? 1 : 0);
  if (m.causal == 0 || random() % 2 == 0) m.window = from(1, l.keys);
  if (random() % 3 == 0) m.sinks = from(0, std::min(l.keys, 9U));
  if (random() % 4 == 0) m.prefix = from(0, l.keys);
  return l;
}

std::string text(const Layer& l) {
  const hal::Mask& m = l.mask;
  return testing::PrintToString(
             std::vector<uint32_t>{uint32_t{m.causal}, m.queries, m.history, m.window, m.sinks, m.prefix}) +
         " on " + std::to_string(l.rows) + " x " + std::to_string(l.keys);
}

TEST(Mask, IsItsDefinition) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const Layer l = random_layer(random);
    SCOPED_TRACE(text(l));
    for (uint32_t row = 0; row < l.rows; ++row) {
      const hal::Visible v = hal::visible_rows(l.mask, row, 1, l.keys);
      ASSERT_TRUE(v.head == 0 || v.head < v.first);
      ASSERT_LE(v.first, v.end);
      ASSERT_LE(v.end, l.keys);
      for (uint32_t key = 0; key < l.keys; ++key) ASSERT_EQ(in(v, key), sees(l.mask, row, key)) << row << " " << key;
    }
    // Runs of rows: every key that one of them sees is in, and the ends are seen.
    const uint32_t row = static_cast<uint32_t>(random() % l.rows);
    const uint32_t rows = 1 + static_cast<uint32_t>(random() % (l.rows - row));
    const hal::Visible v = hal::visible_rows(l.mask, row, rows, l.keys);
    const auto any = [&](uint32_t key) {
      bool seen = false;
      for (uint32_t r = row; r < row + rows; ++r) seen = seen || sees(l.mask, r, key);
      return seen;
    };
    const bool wraps = row % l.mask.queries + rows > l.mask.queries;  // then: of all tokens
    for (uint32_t key = 0; key < l.keys; ++key) {
      ASSERT_TRUE(in(v, key) || !any(key)) << key;
      const bool simple = !wraps && l.mask.sinks == 0 && l.mask.prefix == 0;
      ASSERT_TRUE(any(key) || !in(v, key) || !simple) << key;
    }
    const uint32_t key = static_cast<uint32_t>(random() % l.keys);
    const uint32_t count = 1 + static_cast<uint32_t>(random() % (l.keys - key));
    bool all = true;
    for (uint32_t r = row; r < row + rows; ++r) {
      for (uint32_t k = key; k < key + count; ++k) all = all && sees(l.mask, r, k);
    }
    if (hal::all_visible(l.mask, row, rows, key, count)) {
      ASSERT_TRUE(all);
    } else if (!wraps && l.mask.sinks == 0 && l.mask.prefix == 0) {
      ASSERT_FALSE(all) << "a mask where none is needed";
    }
  }
}

// A runtime for a job on `lanes` cores under a mask.
struct Job {
  hal::JobBlock block{};
  hal::Rules rules{{}, hal::kUnitScale, 1, 0};
};
Job job_of(const Layer& l, uint32_t heads, uint32_t clusters, uint32_t lanes, uint32_t mac_rows) {
  Job j;
  j.block.magic = hal::kJobMagic;
  j.block.bytes = sizeof(hal::JobBlock);
  j.block.flags = hal::kRuled;
  j.block.machine.clusters = clusters;
  j.block.machine.cores = lanes;
  j.block.machine.mac_rows = j.block.machine.mac_columns = mac_rows;
  j.block.layer.batch = 1;
  j.block.layer.heads = heads;
  j.block.layer.seq_q = l.rows;
  j.block.layer.seq_kv = l.keys;
  j.block.layer.emb = 8;
  j.rules.mask = l.mask;
  return j;
}
void put(bench::Bench& b, const Job& j) {
  b.platform().write(hal::kJobAddress, &j.block, sizeof j.block);
  b.platform().write(hal::kRulesAddress, &j.rules, sizeof j.rules);
}

// Blocks of keys cover what is needed, each once, and an item's parts what its rows need.
TEST(Mask, PartsOfBlocksAreWhatRowsNeed) {
  bench::Bench bench;
  bench.run([](bench::Bench& b) {
    std::mt19937 random(2);
    for (int i = 0; i < 500; ++i) {
      const Layer l = random_layer(random);
      SCOPED_TRACE(text(l));
      put(b, job_of(l, 1, 1, 2, 4));
      Runtime rt(b.cpu(), 0);
      const uint32_t nkv = 1 + static_cast<uint32_t>(random() % 30), nq = 1 + static_cast<uint32_t>(random() % 30);
      const KeyBlocks cut(rt, nkv);
      std::vector<int> loads(l.keys, 0);
      for (uint32_t j = 0; j < cut.count(); ++j) {
        ASSERT_GE(cut.rows(j), 1U);
        ASSERT_LE(cut.rows(j), nkv);
        for (uint32_t k = 0; k < cut.rows(j); ++k) {
          ++loads.at(cut.row(j) + k);
          ASSERT_EQ(cut.place(cut.row(j) + k), j * nkv + k);
          ASSERT_LT(cut.place(cut.row(j) + k), cut.places());
        }
      }
      for (uint32_t k = 0; k < l.keys; ++k) {
        bool seen = false;
        for (uint32_t r = 0; r < l.rows; ++r) seen = seen || sees(l.mask, r, k);
        ASSERT_LE(loads[k], 1);
        ASSERT_TRUE(!seen || loads[k] == 1) << k;
      }
      const RowBlocks rows(rt, nq, 1, 2);
      std::vector<int> dealt(l.rows, 0);
      for (uint32_t block = 0; block < rows.count(); ++block) {
        Item item{};
        rows.fill(item, block);
        ASSERT_LE(item.rows, std::max(nq, 1U));
        ASSERT_LE(item.keys, rows.most_keys());
        for (uint32_t r = item.row; r < item.row + item.rows; ++r) ++dealt.at(r);
        std::vector<bool> covered(l.keys, false);
        uint32_t number = 0, firsts = 0, lasts = 0;
        for (uint32_t j = 0; j < cut.count(); ++j) {
          const KeyBlocks::KeyPart part = cut.part(item, j);
          if (!part.any()) continue;
          ASSERT_EQ(cut.number_of(item, j), number);
          ASSERT_EQ(cut.block_of(item, number), j);
          ++number;
          firsts += part.first ? 1 : 0;
          lasts += part.last ? 1 : 0;
          ASSERT_EQ(part.first, firsts == 1 && number == 1);
          ASSERT_GE(part.key, cut.row(j));
          ASSERT_LE(part.key + part.keys, cut.row(j) + cut.rows(j));
          for (uint32_t k = part.key; k < part.key + part.keys; ++k) covered[k] = true;
        }
        ASSERT_EQ(number, cut.parts(item));
        ASSERT_EQ(firsts, 1U);
        ASSERT_EQ(lasts, 1U);
        for (uint32_t r = item.row; r < item.row + item.rows; ++r) {
          for (uint32_t k = 0; k < l.keys; ++k) {
            ASSERT_TRUE(covered[k] || !sees(l.mask, r, k)) << r << " " << k;
          }
        }
      }
      for (const int times : dealt) ASSERT_EQ(times, 1);
    }
  });
}

// Every row once, whoever takes it, and equal shares of the scores.
TEST(Mask, WorkIsDealtEvenly) {
  bench::Bench bench;
  bench.run([](bench::Bench& b) {
    for (const uint32_t heads : {1U, 3U}) {
      for (const uint32_t clusters : {1U, 2U, 5U}) {
        for (const uint32_t lanes : {1U, 2U, 4U}) {
          Layer l;
          l.mask.causal = 1;
          l.mask.queries = l.rows = l.keys = 4096;
          put(b, job_of(l, heads, clusters, lanes, 16));
          std::vector<uint64_t> scores(clusters * lanes, 0);
          std::vector<int> taken(heads * l.rows, 0);
          for (uint32_t c = 0; c < clusters; ++c) {
            Runtime rt(b.cpu(), c);
            RowTiling tiling{};
            tiling.bb = tiling.hh = 1;
            tiling.nq = 16;
            const Work work(rt, tiling);
            for (Work::Round i = work.first(); i.valid; i = work.after(i)) {
              for (uint32_t lane = 0; lane < lanes; ++lane) {
                const Item item = work.item(i.group, i.round, lane);
                for (uint32_t r = 0; item.valid && r < item.rows; ++r) {
                  ++taken.at(item.head * l.rows + item.row + r);
                  scores[c * lanes + lane] += item.row + r + 1;
                }
              }
            }
          }
          for (const int times : taken) ASSERT_EQ(times, 1);
          const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
          // Of one cluster; several share whole row blocks.
          const uint64_t block = clusters == 1 ? 0 : 16 * 4096;
          EXPECT_LE(static_cast<double>(*most - 2 * std::min(block, *most / 2)), 1.01 * static_cast<double>(*least))
              << heads << " heads, " << clusters << " clusters of " << lanes;
        }
      }
    }
  });
}

}  // namespace
}  // namespace attnvp::firmware
