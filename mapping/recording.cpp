#include "mapping/recording.h"

#include <algorithm>

#include "mapping/untimed.h"

namespace attnvp::mapping {

namespace {

constexpr std::size_t kUsual = 4096;  // of commands: room for so many is made at once

class Recorder final : public Reader {
 public:
  Recorder(Recording& recording, std::uint32_t cluster, Costs& costs, double macs_of_a_score, std::size_t most,
           Recording* half)
      : r_(recording),
        half_(half),
        cluster_(cluster),
        costs_(costs),
        word_(costs.machine().control.bus_bytes),
        macs_of_a_score_(macs_of_a_score),
        most_(most),
        untimed_(recording) {}

  void command(const Queue& queue, const hal::Descriptor& d) override {
    const auto number = static_cast<std::uint32_t>(r_.commands.size());
    Recording::Command& c = r_.commands.emplace_back();  // here: a copy of what was just written has to wait
    std::copy(std::begin(d.wait), std::end(d.wait), c.wait);
    std::copy(std::begin(d.signal), std::end(d.signal), c.signal);
    if (d.remote != 0 && d.remote != cluster_ + 1) c.signal[hal::kSignals - 1] = {0};
    c.cost = costs_.number_of(queue.unit, d);
    c.transfer = d.opcode == hal::Opcode::kCopy;
    if (queue.unit != Unit::kDma) {
      const std::size_t engine = 2 * std::size_t{queue.index} + (queue.unit == Unit::kVec ? 1 : 0);
      if (engine >= r_.busy.size()) r_.busy.resize(engine + 1);
      r_.busy[engine] += costs_.of(c.cost).pace;
    }
    if (c.transfer) {
      r_.bus += costs_.of(c.cost).bus;
      if (d.operand[1].address < hal::kL2Base) r_.out += costs_.of(c.cost).dram;
    }
    r_.l1 += costs_.of(c.cost).l1_bytes / costs_.machine().l1.port_bytes_per_cycle;
    c.deferrable = c.transfer && (d.flags & hal::kDeferrable) != 0;
    static_assert(hal::kWaits == 4 && hal::kSignals == 4);
    const auto two = [](const hal::EventRef* refs) { return std::uint64_t{refs[0].bits} << 32 | refs[1].bits; };
    digest(two(c.wait), two(c.wait + 2));
    digest(two(c.signal), two(c.signal + 2));
    if (queue.unit == Unit::kMac && d.opcode != hal::Opcode::kNop) {
      const hal::Product p = hal::product_of(d);
      const double macs = 1.0 * p.m * p.n * p.k;
      const bool scores = d.opcode == hal::Opcode::kScoreTile || (d.flags & hal::kTransposeB) != 0;
      r_.macs += macs;
      if (scores) r_.score_macs += macs;
    }
    r_.hidden += costs_.of(c.cost).hidden * macs_of_a_score_;
    const std::uint32_t kind = c.cost << 2 | (c.transfer ? 2U : 0U) | (c.deferrable ? 1U : 0U);
    Recording::Step& step = add(Recording::Kind::kCommand, queue, 0, 0, kind);
    step.command = number;
    step.commands = number;
    untimed_.push(queue, number);
    if (r_.commands.size() >= most_) r_.complete = false;
  }
  std::uint32_t level(const Queue& queue) override {
    const auto same = [&](const Queue& q) { return q.unit == queue.unit && q.index == queue.index; };
    if (std::none_of(r_.asked.begin(), r_.asked.end(), same)) {
      r_.asked.push_back(queue);
      digest(number_of(queue), 0);
    }
    return untimed_.waiting(queue);
  }
  void give(std::uint32_t event, std::uint32_t tokens) override {
    add(Recording::Kind::kGive, {}, event, tokens);
    untimed_.give(event, tokens);
  }
  void take(std::uint32_t event, std::uint32_t tokens) override {
    add(Recording::Kind::kTake, {}, event, tokens);
    untimed_.take(event, tokens);
  }
  void allocated(std::uint64_t bytes) override { r_.peak_bytes = std::max(r_.peak_bytes, bytes); }
  void access(std::uint64_t bytes) override {
    if (half_ != nullptr && r_.commands.size() >= most_ / 2) {  // here firmware would have been stopped
      *half_ = r_;
      half_->complete = false;
      half_ = nullptr;
    }
    if (!r_.complete) return;
    if (bytes != asked_bytes_) {  // mostly as many as before, and a division takes long
      asked_bytes_ = bytes;
      asked_words_ = (bytes + word_ - 1) / word_ * word_;
    }
    r_.bus_bytes += asked_words_;
  }
  bool enough() const override { return !r_.complete; }
  bool by_itself() { return r_.complete && untimed_.by_itself(); }

 private:
  // `more`: what else a replay depends on.
  Recording::Step& add(Recording::Kind kind, const Queue& queue, std::uint32_t event, std::uint32_t tokens,
                       std::uint32_t more = 0) {
    Recording::Step& step = r_.steps.emplace_back();
    step.kind = kind;
    step.queue = queue;
    step.event = event;
    step.tokens = tokens;
    step.bus_bytes = r_.bus_bytes;
    step.commands = r_.commands.size();
    digest(static_cast<std::uint64_t>(kind) << 62 | number_of(queue) << 32 | (event ^ more),
           r_.bus_bytes << 32 | tokens);
    return step;
  }
  static std::uint64_t number_of(const Queue& queue) {
    return static_cast<std::uint64_t>(queue.unit) << 24 | queue.index;
  }
  void digest(std::uint64_t word, std::uint64_t other) {
    other *= 0xC2B2'AE3D'27D4'EB4F;  // on its own, which need not wait for the digest so far
    r_.digest = (r_.digest ^ word ^ other ^ other >> 29) * 0x9E37'79B9'7F4A'7C15;
    r_.digest ^= r_.digest >> 32;
  }
  Recording& r_;
  Recording* half_;  // nullptr: it is not asked for, or is there
  std::uint32_t cluster_;
  Costs& costs_;
  std::uint32_t word_;
  double macs_of_a_score_;
  std::size_t most_;
  std::uint64_t asked_bytes_ = 0, asked_words_ = 0;  // of the last access; in whole bus words
  Untimed untimed_;
};

}  // namespace

double Recording::busiest() const { return busy.empty() ? 0 : *std::max_element(busy.begin(), busy.end()); }

Recording record(const Job& job, std::uint32_t cluster, Costs& costs, std::size_t most, Recording* half) {
  Recording recording;
  recording.steps.reserve(std::min(most, kUsual));
  recording.commands.reserve(std::min(most, kUsual));
  const std::uint32_t emb = job.block.layer.emb, value_emb = job.types.value_emb > 0 ? job.types.value_emb : emb;
  Recorder recorder(recording, cluster, costs, 1.0 * emb + value_emb, most, half);
  recording.result = read_stream(job, cluster, recorder);
  recording.by_itself = recorder.by_itself();
  return recording;
}

}  // namespace attnvp::mapping
