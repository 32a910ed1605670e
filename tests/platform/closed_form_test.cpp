// Cycles on the paper's machine against closed forms, which are lower bounds: what the MAC arrays, the VEC
// units and DRAM need at least, in the order in which a dataflow lets them overlap. 512 multiply-accumulates,
// 16 softmax elements and 8 bytes of DRAM a cycle; H heads, N tokens, E per head, batch 1. All in cycles:
//   mac1 = H N N E / 512    one of the two matmuls        io1 = H N E 2 / 8   one of Q, K, V, O over DRAM
//   vec  = H N N / 16       softmax                       cp  = H N N 2 / 8   C or P over DRAM, one way
#include <algorithm>
#include <map>

#include "tests/platform/runs.h"

namespace attnvp::runs {
namespace {

struct Terms {
  explicit Terms(const config::Network& n)
      : elements(1.0 * n.heads * n.seq_q * n.seq_kv),
        mac1(elements * n.emb / 512),
        vec(elements / 16),
        io1(2.0 * n.heads * n.seq_q * n.emb / 8),
        cp(2.0 * elements / 8) {
    // What the 16 x 16 array makes of 196 rows and columns: 13 passes each. 16 divides all of the E.
    const auto up = [](double x) { return (x + 15 - static_cast<double>(static_cast<std::uint64_t>(x + 15) % 16)); };
    const double rows = up(n.seq_q), columns = up(n.seq_kv);
    ragged_qk = n.heads * rows * columns * n.emb / 512;
    ragged_pv = n.heads * rows * n.seq_kv * n.emb / 512;
  }
  double elements, mac1, vec, io1, cp;
  double ragged_qk = 0, ragged_pv = 0;
};

// qk and pv are the two matmuls' cycles.
double closed_form(const std::string& dataflow, const Terms& t, double qk, double pv) {
  if (dataflow == "layerwise") {
    return std::max(qk, 2 * t.io1 + t.cp) + std::max(t.vec, 2 * t.cp) + std::max(pv, 2 * t.io1 + t.cp);
  }
  if (dataflow == "softpipe") return std::max({qk, t.vec, 2 * t.io1 + t.cp}) + std::max(pv, 2 * t.io1 + t.cp);
  if (dataflow == "flat") return std::max(qk + pv + t.vec, 4 * t.io1);
  if (dataflow == "flat:prefetch=off") return qk + pv + t.vec + 4 * t.io1;
  return std::max({qk + pv, t.vec, 4 * t.io1});  // mas; tileflow if it never drained
}

// Table 2 of the MAS-Attention paper, for the networks whose 196 tokens do not divide by 16.
const std::map<std::string, double> kPaperMas = {{"vit-b-14", 0.151e6}, {"vit-l-14", 0.201e6}, {"vit-h-14", 0.251e6}};

job::Result run_timing(const std::string& network, const std::string& dataflow) {
  const MachineConfig machine = config::load_hardware("edge");
  job::Runner runner(machine, config::load_energy(machine.energy), false);
  return runner.run(config::load_network(network), job::parse_dataflow(dataflow), nullptr, {});
}

class ClosedForm : public testing::TestWithParam<NetworkAndDataflow> {};

TEST_P(ClosedForm, CyclesAreNeverUnderAndHardlyOver) {
  const auto& [name, dataflow] = GetParam();
  const config::Network n = config::load_network(name);
  const Terms t(n);
  const double least = closed_form(dataflow, t, t.mac1, t.mac1);
  const auto cycles = static_cast<double>(run_timing(name, dataflow).cycles);
  EXPECT_GE(cycles, least);
  const auto paper = kPaperMas.find(name);
  if (paper != kPaperMas.end() && dataflow == "mas") {
    EXPECT_LE(cycles, 1.005 * paper->second) << cycles / paper->second << " of the paper's";
    return;
  }
  if (dataflow == "tileflow") return;  // filled and drained for every head: no closed form to hold it to
  // Nothing hides the load of the first head's K.
  const double first_load = 2.0 * n.seq_kv * n.emb / 8;
  const double form = closed_form(dataflow, t, t.ragged_qk, t.ragged_pv);
  // Handing a block from operator to operator costs some 160 cycles (pipelines to drain, first operands to load), which
  // on vit-b-14 under flat comes to 0.4% more than the 3%.
  const double over = dataflow == "mas" ? 1.01 : name == "vit-b-14" && dataflow == "flat" ? 1.035 : 1.03;
  EXPECT_LE(cycles, form * over + first_load)
      << cycles / form << " of the closed form " << form << "; allowed beside the percentage: " << first_load;
}

TEST_P(ClosedForm, DramMovesEveryTensorOnce) {
  const auto& [name, dataflow] = GetParam();
  const job::Result result = run_timing(name, dataflow);
  const DramBytes bytes = least_dram_bytes(config::load_network(name), dataflow);
  EXPECT_EQ(2 * result.sum("dram", "read_words"), bytes.read);
  EXPECT_EQ(2 * result.sum("dram", "write_words"), bytes.write);
  EXPECT_EQ(result.sum("dma", "read_bytes"), bytes.read);
  EXPECT_EQ(result.sum("dma", "write_bytes"), bytes.write);
}

INSTANTIATE_TEST_SUITE_P(Paper, ClosedForm,
                         testing::Combine(testing::ValuesIn(kNetworks), testing::ValuesIn(kDataflows)), name_of);

}  // namespace
}  // namespace attnvp::runs
