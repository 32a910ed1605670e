#include "platform/schedule/counter.h"

#include <algorithm>
#include <vector>

#include "models/engine/dma_controller/transfer.h"

namespace attnvp::schedule {

namespace {

class TrafficReader final : public Reader {
 public:
  TrafficReader(const MachineConfig& m, Counts& counts)
      : counts_(counts), mac_(mac_planners(m)), vec_(vec_planners(m)) {}

  void command(const Queue& queue, const hal::Descriptor& d) override {
    ++counts_.commands;
    if (d.opcode == hal::Opcode::kNop) return;
    if (queue.unit == Unit::kDma) return copy(d);
    Plan plan;
    if (queue.unit == Unit::kMac) {
      MacPlanner& mac = mac_[queue.index];
      if (mac.plan(d, plan).any()) return refuse();
      counts_.mac += mac.work(d);
    } else {
      const VecPlanner& vec = vec_[queue.index % vec_.size()];
      if (vec.plan(d, plan).any()) return refuse();
      counts_.vec += vec.work(d);
    }
    (queue.unit == Unit::kMac ? counts_.mac_cycles : counts_.vec_cycles) +=
        plan.body.pace_cycles + plan.last.pace_cycles;
    for (const Stream* stream : {&plan.fill, &plan.body, &plan.last, &plan.drain}) add(*stream, counts_.l1);
    add(plan.l0, counts_.l0);
  }
  void allocated(std::uint64_t bytes) override { counts_.l1_peak_bytes = std::max(counts_.l1_peak_bytes, bytes); }

 private:
  void refuse() { ++counts_.refused; }

  // Counters count whole words of each access.
  static void add(const Stream& stream, Traffic& traffic) {
    for (int i = 0; i < stream.regions; ++i) {
      const Region& r = stream.region[static_cast<std::size_t>(i)];
      (r.write ? traffic.written : traffic.read) += r.traffic_bytes;
    }
  }

  void copy(const hal::Descriptor& d) {
    const std::uint64_t bytes = copy_bytes(d);
    for (int i = (d.flags & hal::kForwarded) != 0 ? 1 : 0; i < 2; ++i) {
      const std::uint64_t address = d.operand[i].address;
      Traffic& memory = address >= hal::kL1Base ? counts_.l1 : address >= hal::kL2Base ? counts_.l2 : counts_.dram;
      (i == 0 ? memory.read : memory.written) += bytes;
    }
  }

  Counts& counts_;
  std::vector<MacPlanner> mac_;  // one for each core: tiles stay in an array between commands
  std::vector<VecPlanner> vec_;  // one for each core, or one if cores are equal
};

}  // namespace

Counts count(const Job& job, const MachineConfig& machine) {
  Counts counts;
  for (std::uint32_t c = 0; c < machine.clusters; ++c) {
    TrafficReader counter(machine.with_cluster(c), counts);
    const hal::JobResult result = read_stream(job, c, counter);
    if (result.status != hal::Status::kDone && counts.status == hal::Status::kDone) counts.status = result.status;
  }
  return counts;
}

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
