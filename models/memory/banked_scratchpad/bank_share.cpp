#include "models/memory/banked_scratchpad/bank_share.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/keys/binding.h"
#include "models/memory/scratchpad/scratchpad.h"
#include "models/registry.h"

namespace attnvp {

BankShare::BankShare(const BankMap& map, std::uint32_t ports, std::uint64_t port_bytes, std::uint64_t base)
    : streams_(map, port_bytes, base), port_bytes_(port_bytes), ports_(ports), bank_words_(map.banks) {}

void BankShare::reset() {
  std::fill(ports_.begin(), ports_.end(), SharedPort{});
  std::fill(bank_words_.begin(), bank_words_.end(), 0);
  conflict_cycles_ = 0;
}

std::uint64_t BankShare::busiest_bank_words() const {
  return *std::max_element(bank_words_.begin(), bank_words_.end());
}

std::uint64_t BankShare::alone_cycles(std::uint64_t bytes, std::uint64_t pace) const {
  return std::max<std::uint64_t>({pace, (bytes + port_bytes_ - 1) / port_bytes_, 1});
}

std::size_t BankShare::open(std::uint64_t now, std::uint32_t port, std::uint64_t bytes, std::uint64_t pace,
                            const Stream& stream) {
  advance(now);
  std::size_t slot = 0;
  while (slot < flows_.size() && flows_[slot].active) ++slot;
  if (slot == flows_.size()) flows_.emplace_back();
  SharedFlow& flow = flows_[slot];
  flow.active = true;
  flow.port = port;
  flow.bytes = bytes;
  flow.stream = streams_.of(stream);
  flow.left = flow.stream->beats;
  flow.start = flow.ended = now;
  flow.pace_end = now + std::max<std::uint64_t>(pace, 1);
  flow.held_before = ports_[port].held;
  if (flow.left > 0) {
    BankState::BankFlow beats;
    beats.slot = static_cast<std::uint32_t>(slot);
    beats.port = port;
    beats.stream = flow.stream.get();
    beats.enter_part(0);
    const std::uint64_t gap = pace * BankState::kPaceSteps / flow.left;
    if (gap > BankState::kPaceSteps)
      beats.gap = static_cast<std::int64_t>(gap);  // a port moves at most one beat per cycle
    course_.add(beats, ports_[port].last);
  }
  return slot;
}

void BankShare::close(std::uint64_t now, std::size_t slot) {
  advance(now);
  SharedFlow& flow = flows_[slot];
  if (flow.left == 0) {
    for (std::size_t i = 0; i < bank_words_.size(); ++i) bank_words_[i] += flow.stream->words[i];
  } else {  // withdrawn
    std::uint64_t done = flow.stream->beats - flow.left;
    for (const StreamBeats::BeatPart& part : flow.stream->parts) {
      part.region->add_words(std::min(done, part.beats), bank_words_);
      done -= std::min(done, part.beats);
    }
    ports_[flow.port].last = course_.remove(static_cast<std::uint32_t>(slot));
    flow.left = 0;
  }
  flow.active = false;
}

// Lower bound of the end.
std::uint64_t BankShare::finish(std::size_t slot, std::uint64_t now) {
  const SharedFlow& flow = flows_[slot];
  if (flow.left > 0) advance(now);
  return std::max(flow.pace_end, flow.left > 0 ? now_ + flow.left : flow.ended);
}

double BankShare::remaining(std::size_t slot, std::uint64_t now) {
  advance(now);
  const SharedFlow& flow = flows_[slot];
  return static_cast<double>(flow.bytes) * static_cast<double>(flow.left) /
         static_cast<double>(std::max<std::uint64_t>(flow.stream->beats, 1));
}

void BankShare::port_rates(std::vector<double>& rates) const {
  rates.assign(ports_.size(), 0);
  for (const SharedFlow& flow : flows_) {
    if (!flow.active || flow.left == 0) continue;
    const double cycles = static_cast<double>(std::max(flow.pace_end - flow.start, flow.stream->beats));
    rates[flow.port] += static_cast<double>(flow.bytes) / cycles;
  }
  for (double& rate : rates) rate = std::min(rate, static_cast<double>(port_bytes_));
}

std::uint64_t BankShare::bank_cycles(std::size_t slot) const {
  return ports_[flows_[slot].port].held - flows_[slot].held_before;
}

void BankShare::advance(std::uint64_t now) {
  while (now_ < now && !course_.idle()) {
    const std::uint64_t cycles = std::min(now - now_, BankState::kHop);
    std::uint32_t last_end = 0;
    std::uint32_t port = BankState::kNone;
    for (const BankState::FlowStep& step : course_.go(cycles)) {
      if (step.port != port) last_end = 0;
      port = step.port;
      ports_[port].held += step.held;
      conflict_cycles_ += step.held;
      SharedFlow& flow = flows_[step.slot];
      flow.left -= step.beats;
      if (step.end == 0) continue;
      flow.ended = now_ + step.end;
      if (step.end > last_end) ports_[port].last = step.slot;
      last_end = std::max(last_end, step.end);
    }
    now_ += cycles;
  }
  now_ = std::max(now_, now);
}

std::size_t BankCourse::CourseKeyHash::operator()(const std::vector<std::uint64_t>& key) const {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;  // 2^64 / golden ratio
    hash ^= hash >> 32;
  }
  return hash;
}

const std::vector<BankState::FlowStep>& BankCourse::go(std::uint64_t cycles) {
  if (nodes_.size() >= kMost) {
    leave_node();
    nodes_.clear();
  }
  CourseNode& from = node();
  for (const CourseTransition& hop : from.hops) {
    if (hop.cycles != cycles) continue;
    follow(hop);
    return hop.steps;
  }
  leave_node();
  state_.run(cycles, steps_);
  from.hops.push_back({cycles, &node(), steps_});
  return from.hops.back().steps;
}

void BankCourse::add(const BankState::BankFlow& flow, std::uint32_t last) {
  CourseNode& from = node();
  const std::uint64_t stream = flow.stream->number;
  for (const Addition& a : from.additions) {
    if (a.stream != stream || a.gap != flow.gap || a.slot != flow.slot || a.port != flow.port || a.last != last)
      continue;
    state_.insert(flow);
    node_ = a.to;
    return;
  }
  leave_node();
  state_.add(flow, last);
  from.additions.push_back({stream, flow.gap, flow.slot, flow.port, last, &node()});
}

std::uint32_t BankCourse::remove(std::uint32_t slot) {
  leave_node();
  return state_.remove(slot);
}

BankCourse::CourseNode& BankCourse::node() {
  if (node_ == nullptr) {
    state_.key(key_);
    const auto [entry, fresh] = nodes_.try_emplace(key_);
    node_ = &entry->second;
    if (fresh) node_->ports = state_.ports();
  }
  return *node_;
}

void BankCourse::leave_node() {
  if (node_ != nullptr) state_.ports() = node_->ports;
  node_ = nullptr;
}

// Values beyond kHop are capped in keys, and are therefore carried over from the state.
void BankCourse::follow(const CourseTransition& hop) {
  constexpr std::uint64_t kHop = BankState::kHop;
  bool same = true;  // the key is that of the state in which the hop was computed
  const auto count = [&same](std::uint64_t had, std::uint64_t beats, std::uint64_t there) {
    if (had <= kHop) return there;
    same &= there > kHop && had - beats > kHop;
    return had - beats;
  };
  auto flow = state_.flows().begin();
  auto kept = flow;
  for (const BankState::FlowStep& step : hop.steps) {
    BankState::BankFlow& f = *flow++;
    if (step.end != 0) continue;
    std::uint64_t leg_left = step.leg_left, part_left = step.part_left;
    if (step.beats < f.part_left) {
      leg_left = count(f.leg_left, step.beats, leg_left);
      part_left = count(f.part_left, step.beats, part_left);
    } else {
      f.enter_part(step.part);
    }
    if (step.leg != f.leg) f.enter_leg(step.leg);
    f.leg_left = leg_left;
    f.part_left = part_left;
    f.beat = step.beat;
    if (f.late()) {
      f.release +=
          static_cast<std::int64_t>(step.beats) * f.gap - static_cast<std::int64_t>(hop.cycles) * BankState::kPaceSteps;
      same &= f.late() && BankState::late(step.release, f.gap);
    } else {
      f.release = step.release;
    }
    if (kept != flow - 1) *kept = f;
    ++kept;
  }
  state_.flows().erase(kept, state_.flows().end());
  node_ = hop.to;
  if (!same) leave_node();
}

// L1 of kind `banked`, with bank conflicts. A bank delivers one word of l1.bank_bandwidth bytes per cycle. Conflicts
// follow from the addresses that engines and DMA access.

namespace {

BankMap map_of(const MachineConfig& m) {
  const auto& own = m.own<BankConfig>();
  const std::uint64_t word = m.l1.bank_bytes_per_cycle;
  return {m.l1.banks, word, own.interleave_bytes == 0 ? word : own.interleave_bytes, own.swizzle};
}

std::string problem_of(const MachineConfig& m) {
  const BankMap map = map_of(m);
  if (map.banks > BankMap::kMostBanks) {
    return fmt::format("l1.kind banked has at most {} banks; l1.banks is {}", BankMap::kMostBanks, map.banks);
  }
  if (map.interleave_bytes % map.word_bytes != 0) {
    return fmt::format("l1.interleave must be a multiple of a bank's word, l1.bank_bandwidth, {} B; it is {} B",
                       map.word_bytes, map.interleave_bytes);
  }
  if (map.swizzle == Swizzle::kXor && (map.banks & (map.banks - 1)) != 0) {
    return fmt::format("l1.swizzle xor needs a number of banks that is a power of two; l1.banks is {}", map.banks);
  }
  return {};
}

class BankedScratchpad : public Scratchpad {
 public:
  BankedScratchpad(sc_core::sc_module_name name, const ModuleContext& module_context)
      : BankedScratchpad(name, module_context,
                         new BankShare(map_of(module_context.machine), module_context.machine.l1.ports,
                                       module_context.machine.l1.port_bytes_per_cycle, module_context.base)) {}

  Counter busiest_bank_words{*this, "busiest_bank_words", "words", "that the bank with the most has given"};
  Counter bank_conflict_cycles{*this, "bank_conflict_cycles", "cycles",
                               "in which a port waited for a bank, of all ports"};

 private:
  BankedScratchpad(sc_core::sc_module_name name, const ModuleContext& module_context, BankShare* banks)
      : Scratchpad(name, module_context, std::unique_ptr<Arbiter>(banks)), banks_(*banks) {}
  void closed() override {
    busiest_bank_words.raise_to(banks_.busiest_bank_words());
    bank_conflict_cycles.raise_to(banks_.conflict_cycles());
  }

  BankShare& banks_;
};

const bool kBankedScratchpadRegistered = add_kind(
    Kind<Memory>("l1", "banked", "has banks that can be taken, by the addresses that are really used", {"attnvp.l1"},
                 [](const ModuleContext& module_context) {
                   return std::make_unique<BankedScratchpad>(module_context.name, module_context);
                 })
        .with_keys<BankConfig>()
        .with_problem(problem_of));

}  // namespace

}  // namespace attnvp
