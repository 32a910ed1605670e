#include <fmt/format.h>

#include <algorithm>

#include "models/arith/number.h"
#include "models/control/riscv_processor/riscv_processor.h"
#include "platform/machine/error.h"
#include "platform/run/beside.h"
#include "platform/run/control/commands.h"
#include "platform/run/operations.h"
#include "platform/run/platform.h"
#include "platform/run/results/accounting.h"
#include "platform/schedule/bus.h"
#include "platform/schedule/programs.h"
#include "platform/workload/workload.h"

namespace attnvp::job {

namespace {

// Removes and returns the rows of new tokens; they stay separate until firmware appends them to the cache.
template <typename Element>
std::vector<Element> taken_out(const workload::Attention& n, std::size_t columns, std::vector<Element>& rows) {
  const std::size_t stride = columns * hal::element_bytes(n.type) / sizeof(Element);
  std::vector<Element> taken;
  auto head = rows.begin();
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    for (std::uint32_t h = 0; h < n.heads_of_kv(); ++h) {
      const auto from = head + static_cast<std::ptrdiff_t>(n.cached_tokens(b) * stride),
                 to = from + static_cast<std::ptrdiff_t>(n.new_tokens(b) * stride);
      taken.insert(taken.end(), from, to);
      std::fill(from, to, static_cast<Element>(0));
      head += static_cast<std::ptrdiff_t>(n.context(b) * stride);
    }
  }
  return taken;
}

// Bias in the layout of firmware: a row of keys for every query of every head of Q.
template <typename Put>
void put_bias(const workload::Attention& n, std::uint64_t address, const Put& put) {
  std::vector<arith::Half> row(n.seq_kv);
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    for (std::uint32_t h = 0; h < n.heads; ++h) {
      for (std::uint32_t q = 0; q < n.seq_q; ++q, address += row.size() * sizeof row[0]) {
        for (std::uint32_t key = 0; key < n.seq_kv; ++key) row[key] = n.bias_tensor->at(b, h, q, key);
        put(address, row);
      }
    }
  }
}

// K or V in the layout of the cache: pages of all heads' tokens, or contiguous.
template <typename Element>
std::vector<Element> in_pages(const workload::Attention& n, std::size_t columns, const std::vector<Element>& rows) {
  if (n.page == 0) return rows;
  const std::size_t bytes = hal::element_bytes(n.type), heads = n.heads_of_kv(),
                    emb = columns * bytes / sizeof(Element);
  std::vector<Element> cache(std::size_t{n.pages()} * n.page * heads * emb, 0);
  std::vector<bool> filled(n.shares_pages() ? std::size_t{n.pages()} * n.page * heads : 0);  // rows of the cache
  const std::vector<std::uint32_t> table = n.page_table();
  std::size_t row = 0, first = 0;  // first row of the batch in `rows`; its first page in the table
  for (std::uint32_t b = 0; b < n.batch; ++b) {
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t t = 0; t < n.context(b); ++t, ++row) {
        const std::size_t page = table[first + t / n.page], at = (page * heads + head) * n.page + t % n.page;
        const Element *const from = rows.data() + row * emb, *const to = cache.data() + at * emb;
        if (!filled.empty() && filled[at] && !std::equal(from, from + emb, to)) {
          throw config::ConfigError(
              fmt::format("{}: request {} has other numbers in page {} than the requests it shares "
                          "it with",
                          n.name, b + 1, page));
        }
        if (!filled.empty()) filled[at] = true;
        std::copy_n(from, emb, cache.data() + at * emb);
      }
    }
    first += (n.context(b) + n.page - 1) / n.page;
  }
  return cache;
}

std::vector<std::uint32_t>& table_at(schedule::Job& job, std::uint64_t address) {
  const auto table = std::find_if(job.tables.begin(), job.tables.end(),
                                  [&](const schedule::Job::MailboxTable& t) { return t.address == address; });
  return table->words;
}

GoldenResult check(const workload::Attention& n, const Tensors& t, const Quantised& kept, const OnePass& softmax,
                   const arith::Half* output) {
  GoldenResult all;
  for (const AttentionPart& part : parts_of(n, kept)) {
    all.add(check_attention(part.shape, t.q.data() + part.query, t.k.data() + part.key, t.v.data() + part.value,
                            output + part.output, softmax),
            part.first_batch);
  }
  return all;
}

}  // namespace

Placed::Placed(Platform& platform, const Partition& partition, const MachineConfig& machine,
               const workload::Workload& network, const Schedule& schedule, const Tensors* tensors)
    : platform_(platform),
      partition_(partition),
      machine_(machine),
      network_(network),
      schedule_(schedule),
      tensors_(platform.context().full_data ? tensors : nullptr),
      made_(make_job(machine, network, schedule)),
      pages_(fmt::format("the tensors of {} in DRAM", network.name())) {
  const hal::JobResult unwritten{};
  for (std::uint32_t c = 0; c < machine.clusters; ++c) write(hal::result_address(c), &unwritten, sizeof unwritten);
  if (tensors_ != nullptr && network_.rows() != nullptr && converts()) {
    const float factor = 1 / scale_of_result(*network.rows(), *tensors_);
    hal::RowStep step{};
    std::vector<std::uint32_t>& words = table_at(made_, hal::kRowStepAddress);
    std::memcpy(&step, words.data(), sizeof step);
    std::memcpy(&step.number, &factor, sizeof factor);
    std::memcpy(words.data(), &step, sizeof step);
  }
  if (tensors_ != nullptr && network.has_typed_operands()) {
    const bool one_pass = has(schedule, firmware::kOnePass);
    kept_ = quantised(network, *tensors_);
    if (!kept_.blocks.empty()) table_at(made_, hal::kScalesAddress) = block_scales(network.attention(), kept_.blocks);
    if (!kept_.factors.empty()) made_.scales = head_scales(kept_.factors, network.type(), one_pass);
  }
  put_tables();
  // Host memory for the DRAM pages and the copy of the output.
  if (platform.context().full_data) {
    pages_.require(made_.scratch.address - hal::kDramBase + network.result_elements() * sizeof(arith::Half));
  }
  if (tensors_ != nullptr) put_tensors();
}

void Placed::write(std::uint64_t address, const void* data, std::size_t bytes) const {
  platform_.write(partition_.place(address), data, bytes);
}

void Placed::read(std::uint64_t address, void* data, std::size_t bytes) const {
  platform_.read(partition_.place(address), data, bytes);
}

// Writes the job block and the tables for firmware.
void Placed::put_tables() {
  const hal::JobBlock& job = made_.block;
  const auto put = [&](std::uint64_t address, const auto& of) {
    if (!of.empty()) write(address, of.data(), of.size() * sizeof of[0]);
  };
  if ((job.flags & hal::kRuled) != 0) write(hal::kRulesAddress, &made_.rules, sizeof made_.rules);
  put(hal::kContextsAddress, made_.contexts);
  put(hal::kPagesAddress, made_.pages);
  if ((job.flags & hal::kTyped) != 0) write(hal::kTypesAddress, &made_.types, sizeof made_.types);
  put(hal::kScalesAddress, made_.scales);
  schedule::Job told = made_;
  if (machine_.control.lists) {
    for (const PlacedList& list : make_lists(told, machine_)) write(list.address, list.words.data(), list.bytes());
  }
  scratch_ = told.scratch.address;
  write(hal::kScratchAddress, &told.scratch, sizeof told.scratch);
  write(hal::kJobAddress, &told.block, sizeof told.block);
  for (const schedule::Job::MailboxTable& t : told.tables) write(t.address, t.words.data(), t.end() - t.address);
}

void Placed::put_tensors() const {
  const hal::JobBlock& job = made_.block;
  const auto put = [&](std::uint64_t address, const auto& rows) {
    if (!rows.empty()) write(address, rows.data(), rows.size() * sizeof rows[0]);
  };
  const auto put_all = [&](const auto& q, const auto& k, const auto& v) {
    put(operand_address(network_, job.layer), q);
    if (!network_.is_attention()) {
      put(job.layer.k, k);
      put(job.layer.v, v);
      return;
    }
    const workload::Attention& a = network_.attention();
    const auto put_cache = [&](std::uint64_t address, std::uint64_t made_at, std::size_t columns, auto rows) {
      if (a.append) put(made_at, taken_out(a, columns, rows));
      put(address, a.page == 0 ? rows : in_pages(a, columns, rows));
    };
    const hal::Append from = schedule::append_of(made_);
    put_cache(job.layer.k, from.k, a.emb, k);
    put_cache(job.layer.v, from.v, a.values(), v);
    if (a.bias == workload::Bias::kTensor) put_bias(a, schedule::addends_of(made_), put);
  };
  network_.has_typed_operands() ? put_all(kept_.q, kept_.k, kept_.v) : put_all(tensors_->q, tensors_->k, tensors_->v);
}

// The rows of a row operation get no Q and K tags.
void Placed::tag() const {
  const hal::Layer layer = takes_row_step(network_) ? hal::Layer{} : made_.block.layer;
  tag_tensors(platform_, layer, scratch_, schedule::addends_of(made_));
}

void Placed::read_answers(RunResult& result) const {
  const firmware::Dataflow& dataflow = schedule_.declaration();
  for (std::uint32_t c = 0; c < machine_.clusters; ++c) {
    hal::JobResult answer{};
    read(hal::result_address(c), &answer, sizeof answer);
    if (answer.status != hal::Status::kDone) {
      auto* const hart = dynamic_cast<RiscvProcessor*>(platform_.clusters[partition_.first_cluster + c]->cpu.get());
      const std::string access = hart == nullptr ? "" : hart->core().refused();
      throw RunError(fmt::format("{}: cluster {}'s firmware: {}{}{}", what(), c, refusal(answer, dataflow),
                                 access.empty() ? "" : "; ", access));
    }
    for (int i = 0; dataflow.statistics != nullptr && dataflow.statistics[i].name != nullptr; ++i) {
      if (c == 0) result.statistics.emplace_back(dataflow.statistics[i].name, 0);
      result.statistics[static_cast<std::size_t>(i)].second += answer.statistic[i];
    }
  }
  for (std::uint32_t c = 0; result.statistic("partition.workers") > 0 && c < machine_.clusters; ++c) {
    for (std::uint32_t k = 0; k < machine_.cores; ++k) {
      Worker w{partition_.first_cluster + c, k, 0};
      read(hal::worker_tiles_address(c, k), &w.tiles, sizeof w.tiles);
      result.workers.push_back(w);
    }
  }
}

// The product of rows x columns, from its result and from the rows of the caches.
void Placed::read_cached(const workload::Gemm& g, std::vector<arith::Half>& product) const {
  const workload::CacheAppend& c = g.fusion.append;
  const hal::CachedColumns cached = schedule::cached_columns_of(made_);
  const std::uint64_t width = c.columns() / 2, kept = g.columns - c.columns(), tokens = g.rows / c.sequences;
  const auto part = [&](std::uint64_t address, std::uint64_t row, std::uint64_t column, std::uint64_t elements) {
    read(address, product.data() + row * g.columns + column, elements * sizeof(arith::Half));
  };
  for (std::uint64_t row = 0; row < g.rows; ++row) {
    part(made_.block.layer.c + row * kept * sizeof(arith::Half), row, 0, kept);
    for (std::uint64_t head = 0; head < c.heads; ++head) {
      const std::uint64_t at = ((row / tokens * c.heads + head) * c.context + c.context - tokens + row % tokens) *
                               c.elements * sizeof(arith::Half);
      part(cached.k + at, row, kept + head * c.elements, c.elements);
      part(cached.v + at, row, kept + width + head * c.elements, c.elements);
    }
  }
}

void Placed::read_output(RunResult& result, bool check_golden) const {
  if (!platform_.context().full_data) return;
  const hal::Layer& layer = made_.block.layer;
  const firmware::Dataflow& dataflow = schedule_.declaration();
  const bool attention = network_.is_attention();
  result.output.resize(network_.result_elements());
  if (converts()) {
    std::vector<unsigned char> stored(result.output.size() * hal::element_bytes(network_.out()));
    read(result_address(network_, layer), stored.data(), stored.size());
    const bool is_scaled = tensors_ != nullptr && network_.rows() != nullptr;
    const float scale = is_scaled ? scale_of_result(*network_.rows(), *tensors_) : 1;
    result.output = converted_numbers(network_.out(), scale, stored.data(), result.output.size());
  } else if ((made_.block.flags & hal::kStoresCache) != 0) {
    read_cached(*network_.gemm(), result.output);
  } else {
    read(attention ? layer.o : result_address(network_, layer), result.output.data(),
         result.output.size() * sizeof(arith::Half));
  }
  if (network_.out() != hal::ElementType::kFp16 && !converts()) {
    for (arith::Half& x : result.output) x = arith::half_from_float(arith::float_from_bf16(x));
  }
  if (!check_golden || tensors_ == nullptr || dataflow.is(firmware::kPacked)) return;
  result.golden_checked = true;
  if (!attention) {
    const float factor = kept_.factors.empty() ? 1 : kept_.factors.front().score;
    const Tensors& operands = network_.has_typed_operands() ? kept_.numbers : *tensors_;
    result.golden = check_operation(network_, operands, result.output, factor);
    return;
  }
  const OnePass softmax{has(schedule_, firmware::kOnePass) ? schedule_.tiling["nkv"] : 0,
                        has(schedule_, firmware::kMerged)};
  const Tensors& seen = network_.has_typed_operands() ? kept_.numbers : *tensors_;
  result.golden = check(network_.attention(), seen, kept_, softmax, result.output.data());
}

std::string Placed::what() const {
  return fmt::format("{} on {} with {}", network_.name(), machine_.name, schedule_.text);
}

double ideal_cycles(const workload::Workload& n, const MachineConfig& m) {
  const workload::Extents e = n.extents();
  double queries = 1.0 * e.batch * e.heads * e.seq_q * e.emb, keys = 1.0 * e.batch * e.heads * e.seq_kv * e.emb;
  if (n.is_attention()) {
    queries = static_cast<double>(n.attention().query_elements());
    keys = static_cast<double>(n.attention().key_elements());
  }
  const double macs = m.macs_per_cycle();
  const double bytes = 2 * sizeof(arith::Half) * (queries + keys);
  return 2 * queries * e.seq_kv / macs + bytes / m.dram.bytes_per_second * m.clock_hz;
}

void check_ended(Platform& p, const std::string& what) {
  const FaultLog& faults = p.context().faults;
  if (faults.any()) throw StoppedError(fmt::format("{}: {}", what, to_sentence(faults.faults().front())));
  if (!p.all_finished()) {
    throw StoppedError(
        fmt::format("{}: deadlock at cycle {}: {}", what, p.context().cycles(), fmt::join(p.waiting(), "; ")));
  }
  if (const std::vector<std::string> left = p.waiting(); !left.empty()) {
    throw StoppedError(fmt::format("{}: firmware has ended, but commands still wait: {}", what, fmt::join(left, "; ")));
  }
}

}  // namespace attnvp::job
