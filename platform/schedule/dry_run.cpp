#include "platform/schedule/dry_run.h"

#include <algorithm>

#include "models/engine/dma_controller/transfer.h"

namespace attnvp::schedule {

namespace {

struct PeakReader final : Reader {
  void command(const Queue& /*queue*/, const hal::Descriptor& /*descriptor*/) override {}
  void allocated(std::uint64_t bytes) override { peak = std::max(peak, bytes); }
  std::uint64_t peak = 0;
};

struct CountingReader final : Reader {
  CountingReader(std::uint64_t of_burst, std::uint64_t at_most) : burst_bytes(of_burst), most(at_most) {}
  void command(const Queue& queue, const hal::Descriptor& d) override {
    count += queue.unit == Unit::kDma ? copy_bursts(d, burst_bytes) : 1;
  }
  bool enough() const override { return count >= most; }
  std::uint64_t burst_bytes, most, count = 0;
};

}  // namespace

Need need_of(const Job& job) {
  Job dry = job;
  dry.block.flags |= hal::kDryRun;
  dry.block.machine.l1_bytes = hal::kEndlessL1;
  PeakReader reader;
  Need need;
  need.result = read_stream(dry, 0, reader);
  need.l1_bytes = reader.peak;
  return need;
}

bool is_nearer(const Need& a, const Need& b) {
  const auto rank = [](const Need& need) {
    switch (need.result.status) {
      case hal::Status::kDone:
        return 0;
      case hal::Status::kL1TooSmall:
      case hal::Status::kL0TooSmall:
      case hal::Status::kL2TooSmall:
      case hal::Status::kTooFewEvents:
        return 1;
      default:
        return 2;
    }
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) == 0 ? a.l1_bytes < b.l1_bytes : a.result.detail[0] < b.result.detail[0];
}

hal::JobResult dry_answer_of(const Job& job) {
  Job dry = job;
  dry.block.flags |= hal::kDryRun;
  return answer_of(dry);
}

hal::JobResult answer_of(const Job& job) {
  PeakReader reader;
  return read_stream(job, 0, reader);
}

std::uint64_t count_steps(const Job& job, std::uint64_t burst_bytes, std::uint64_t most) {
  CountingReader reader(burst_bytes, most);
  for (std::uint32_t c = 0; c < job.block.machine.clusters && !reader.enough(); ++c) read_stream(job, c, reader);
  return reader.count;
}

}  // namespace attnvp::schedule
