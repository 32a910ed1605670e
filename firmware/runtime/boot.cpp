#include "firmware/hal/list.h"
#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/attention/stream_k.h"
#include "firmware/runtime/dataflow.h"
#include "firmware/runtime/runtime.h"

// Linker-defined bounds of the section that ATTNVP_DATAFLOW fills.
extern "C" {
extern const attnvp::firmware::Dataflow* const __start_attnvp_dataflows;
extern const attnvp::firmware::Dataflow* const __stop_attnvp_dataflows;
}

namespace attnvp::firmware {

namespace {

constexpr uint32_t kBuffers = 2, kPartOfL1 = 8;

// Cache update before attention: DMA copies K and V of the new tokens into the (possibly paged) cache. Clusters share
// batches and heads, and all of them synchronise at the end.
class Appending {
 public:
  explicit Appending(Runtime& rt)
      : rt_(rt), loaded_(rt.events(1)), free_(rt.events(1, kBuffers)), stored_(rt.events(1)), met_(rt.events(1)) {
    rt.read(hal::kAppendAddress, &from_, sizeof from_);
  }
  void run() {
    if (rt_.dry()) return;
    const uint64_t mark = rt_.allocated();
    bytes_ = static_cast<uint32_t>(rt_.machine().l1_bytes / kPartOfL1 / kBuffers);
    buffer_ = rt_.allocate(uint64_t{kBuffers} * bytes_);
    tensor(from_.k, rt_.layer().k, rt_.layer().emb);
    tensor(from_.v, rt_.layer().v, rt_.value_emb());
    rt_.wait(stored_, chunks_);
    rt_.free_to(mark);
    meet();
  }

 private:
  void tensor(uint64_t from, uint64_t to, uint32_t emb);
  void copy_heads(const Matrix& from, uint64_t from_plane, const Matrix& to, uint64_t to_plane, uint32_t heads);
  void meet();

  Runtime& rt_;
  Events loaded_, free_, stored_, met_;
  hal::Append from_{};
  uint64_t buffer_ = 0;
  uint32_t bytes_ = 0, chunks_ = 0;
};

void Appending::tensor(uint64_t from, uint64_t to, uint32_t emb) {
  const hal::Layer& l = rt_.layer();
  const Contexts contexts(rt_, max(l.seq_q, uint32_t{1}), l.seq_kv);
  const uint32_t clusters = rt_.machine().clusters, all = l.batch * l.heads;
  const auto part = [&](uint32_t c) { return static_cast<uint32_t>(uint64_t{all} * c / clusters); };
  const uint32_t begin = part(rt_.cluster()), end = part(rt_.cluster() + 1), stride = emb * rt_.bytes();
  uint64_t row = 0;  // rows of new tokens in earlier batches
  for (uint32_t b = 0; rt_.ok() && b < l.batch; ++b) {
    const uint32_t tokens = l.ragged == 2 ? contexts.new_tokens(b) : from_.tokens;
    const uint32_t first = l.ragged == 2 ? contexts.all_tokens(b) - tokens : from_.first;
    const uint32_t head = max(begin, b * l.heads) - b * l.heads, last = min(end, (b + 1) * l.heads);
    for (uint32_t done = 0; last > b * l.heads + head && done < tokens;) {
      const uint32_t rows = contexts.run_of(first + done, tokens - done), heads = last - b * l.heads - head;
      const uint64_t at = contexts.row_of(rt_, b, head, first + done), plane = contexts.head_rows(b);
      copy_heads({from + (row + uint64_t{head} * tokens + done) * stride, rows, emb, stride, rt_.type()},
                 uint64_t{tokens} * stride, {to + at * stride, rows, emb, stride, rt_.type()}, plane * stride, heads);
      done += rows;
    }
    row += uint64_t{l.heads} * tokens;
  }
}

// Copies rows of several heads, in chunks that fit into a buffer.
void Appending::copy_heads(const Matrix& from, uint64_t from_plane, const Matrix& to, uint64_t to_plane,
                           uint32_t heads) {
  if (from.stride > bytes_) rt_.has_space(uint64_t{kPartOfL1} * kBuffers * from.stride);
  const bool far = from_plane > 0xFFFF'FFFF || to_plane > 0xFFFF'FFFF;
  const uint32_t rows = max(min(from.rows, bytes_ / from.stride), uint32_t{1});
  const uint32_t planes = far || rows < from.rows ? 1 : min(heads, bytes_ / (rows * from.stride));
  for (uint32_t head = 0; head < heads; head += planes) {
    for (uint32_t row = 0; rt_.ok() && row < from.rows; row += rows) {
      const uint32_t some = min(rows, from.rows - row), of = min(planes, heads - head);
      const Matrix here{buffer_ + uint64_t{chunks_ % kBuffers} * bytes_, some, from.columns, from.stride, from.type};
      Matrix source = rows_of(from, row, some), target = rows_of(to, row, some);
      source.address += head * from_plane;
      target.address += head * to_plane;
      const auto transfer = [&](const Matrix& a, uint64_t a_plane, const Matrix& b, uint64_t b_plane) {
        Command command = copy(a, b);
        if (of > 1) {
          command.planes(of, static_cast<uint32_t>(a_plane), static_cast<uint32_t>(b_plane));
        }
        return command;
      };
      const uint64_t here_plane = uint64_t{some} * from.stride;
      rt_.dma(kLoadChannel, transfer(source, from_plane, here, here_plane).after(free_).then(loaded_));
      rt_.dma(kStoreChannel, transfer(here, here_plane, target, to_plane).after(loaded_).then(free_).then(stored_));
      ++chunks_;
    }
  }
}

void Appending::meet() {
  const uint32_t clusters = rt_.machine().clusters;
  for (uint32_t c = 0; c < clusters; ++c) {
    if (c != rt_.cluster()) rt_.dma(kStoreChannel, fence().then_remote(c, met_));
  }
  rt_.wait(met_, clusters - 1);
}

// Apart from boot(), whose registers it would take in every job.
[[gnu::noinline]] void append(Runtime& rt) { Appending(rt).run(); }

}  // namespace

void boot(hal::Cpu& cpu, uint32_t cluster) {
  Runtime rt(cpu, cluster);
  if (rt.ok() && (rt.job().flags & hal::kListed) != 0) {  // the list also writes status and statistics
    hal::CommandList list{};
    if (rt.read(hal::list_address(cluster), &list, sizeof list) && hal::play(cpu, list)) return;
    rt.fail(Status::kEngineFault, list.address);
    return rt.finish();
  }
  const hal::Layer& l = rt.layer();
  if (l.batch == 0 || l.heads == 0 || l.seq_q == 0 || l.seq_kv == 0 || l.emb == 0) rt.fail(Status::kBadJob);
  const Dataflow* dataflow = find_dataflow(rt.job().dataflow);
  if (dataflow == nullptr) rt.fail(Status::kUnknownDataflow);
  if (rt.ok() && (rt.job().flags & hal::kAppends) != 0) append(rt);
  if (rt.ok()) rt.run(*dataflow);
  rt.finish();
}

Dataflows dataflows() { return {&__start_attnvp_dataflows, &__stop_attnvp_dataflows}; }

namespace {
bool equal(const char* a, const char* b) {
  for (int i = 0; i < hal::kNameBytes; ++i) {
    if (a[i] != b[i]) return false;
    if (a[i] == '\0') return true;
  }
  return true;
}
}  // namespace

const Dataflow* find_dataflow(const char* name) {
  for (const Dataflow* d : dataflows()) {
    if (equal(d->name, name)) return d;
  }
  return nullptr;
}

}  // namespace attnvp::firmware
