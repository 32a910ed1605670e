#include "mapping/sample.h"

#include <algorithm>

#include "mapping/candidates.h"
#include "mapping/programs.h"

namespace attnvp::mapping {

namespace {
constexpr std::size_t kFewCommands = 1000;
}  // namespace

double work(const Job& job, const Deal& deal) {
  const double all = job.scores() * job.block.layer.emb;
  if (deal.core == 0) return all;
  const std::uint32_t rows = job.block.layer.seq_q, left = rows % deal.rows;
  return all / rows * (rows - left + 1.0 * std::min(left, deal.core) * (deal.rows / deal.core));
}

double products_of(const Job& job) { return find_dataflow(job.block.dataflow)->is(firmware::kOneStep) ? 1 : 2; }

bool halve_heads(Job& job, const Deal& deal) {
  hal::Layer& l = job.block.layer;
  if (l.batch > deal.batches) {
    l.batch = (l.batch + 2 * deal.batches - 1) / (2 * deal.batches) * deal.batches;
  } else if (l.heads > 2 * deal.heads * job.block.machine.clusters) {
    l.heads = (l.heads / (4 * deal.heads) + (l.heads % (4 * deal.heads) != 0 ? 1 : 0)) * 2 * deal.heads;
  } else {
    return false;
  }
  return true;
}

bool halve(Job& job, const Deal& deal) {
  hal::Layer& l = job.block.layer;
  hal::Mask& mask = job.rules.mask;
  if (l.ragged != 0) return false;
  if (halve_heads(job, deal)) return true;
  const std::uint32_t rows = mask.any() ? mask.queries : l.seq_q;  // of a query head
  if (rows <= 2 * deal.rows) return false;
  const std::uint32_t heads = l.seq_q / rows;
  // Two row blocks of a core may share what is loaded.
  const std::uint32_t unit = rows > 4 * deal.rows ? 2 * deal.rows : deal.rows;
  mask.queries = (rows / 2 + unit - 1) / unit * unit;
  // Those in the middle attend to as many keys as all do on average.
  if (mask.by_place() && mask.block == 0) mask.history += (rows - mask.queries) / 2;
  l.seq_q = heads * mask.queries;
  return true;
}

bool is_rough(std::size_t most) { return most < kFewCommands; }

bool make_smaller(Job& job, const Deal& deal, std::size_t most) {
  Job half = job;
  if (!halve(half, deal)) return false;
  Job quarter = half;
  if (is_rough(most) && !halve(quarter, deal)) return false;
  job = half;
  return true;
}

Deal deal_of(const Job& job) {
  const hal::MachineInfo& m = job.block.machine;
  const firmware::Dataflow& dataflow = *find_dataflow(job.block.dataflow);
  Deal deal;
  const int nq = index_of(dataflow, "nq");
  for (std::size_t i = 0; dataflow.parameters[i] != nullptr; ++i) {
    const std::uint32_t word = job.block.parameter[i], value = word == hal::kWord ? 1 : std::max(word, 1U);
    const firmware::Extent extent = dataflow.parameters[i]->extent;
    if (extent == firmware::Extent::kHeads) deal.heads *= value;
    if (extent == firmware::Extent::kBatch) deal.batches *= value;
    if (extent == firmware::Extent::kBlocks || static_cast<int>(i) == nq) deal.rows *= value;
  }
  const std::uint32_t heads = std::max(job.block.layer.batch * job.block.layer.heads, 1U);
  if (dataflow.is(firmware::kOneStep)) deal.core = deal.rows;
  deal.rows *= m.cores * (deal.core > 0 ? 1 : std::max(m.clusters / heads, 1U));
  return deal;
}

}  // namespace attnvp::mapping
