#include "models/streaming/channel.h"

#include <algorithm>

namespace attnvp::stream {

namespace {

constexpr std::uint64_t kFirstWindow = 1024;  // elements

std::uint64_t power_of_two_from(std::uint64_t n) {
  std::uint64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

}  // namespace

Channel::Channel(sc_core::sc_module_name name, Context& context, const ChannelSpec& spec)
    : Module(name, context), spec_(spec), depth_(spec.depth), host_("channel '" + spec.name + "'") {
  Channel::reset();
  if (!refusal_.empty()) throw host_memory::Exceeded(refusal_);
}

void Channel::set_depth(std::uint64_t depth) {
  depth_ = depth;
  allocate(std::max(mask_ + 1, power_of_two_from(std::min(depth_, kFirstWindow))));
}

bool Channel::allocate(std::uint64_t slots) {
  const std::uint64_t bytes = slots * (element_bytes() + sizeof(std::uint64_t));
  if (!host_.raise_to(bytes)) {
    refusal_ =
        host_memory::refusal("channel '" + spec_.name + "', " + std::to_string(slots) + " elements deep,", bytes);
    return false;
  }
  std::vector<std::uint64_t> arrivals(slots);
  std::vector<float> values(slots * spec_.width);
  for (std::uint64_t i = taken_; i < sent_; ++i) {
    arrivals[i & (slots - 1)] = arrivals_[i & mask_];
    std::copy_n(&values_[(i & mask_) * spec_.width], spec_.width, &values[(i & (slots - 1)) * spec_.width]);
  }
  arrivals_ = std::move(arrivals);
  values_ = std::move(values);
  mask_ = slots - 1;
  limit_ = std::min(depth_, slots);
  return true;
}

bool Channel::grow_window() {
  if (!writer_waits_ || limit_ == depth_) return false;
  if (!allocate(2 * (mask_ + 1))) return false;
  release_writer();
  return true;
}

void Channel::release_writer() {
  writer_waits_ = false;
  writer_wake_->notify(sc_core::SC_ZERO_TIME);
}

void Channel::count() {
  settle(UINT64_MAX);
  const std::uint64_t words = element_bytes() / 2;
  transfers += taken_;
  peak.raise_to(most_);
  writes += sent_ * words;
  reads += taken_ * words;
}

std::uint64_t Channel::size_bytes() const {
  return (depth_ == kUnbounded ? std::max<std::uint64_t>(most_, 1) : depth_) * element_bytes();
}

void Channel::reset() {
  sent_ = taken_ = counted_ = freed_ = most_ = 0;
  sends_.clear();
  free_.clear();
  writer_waits_ = reader_waits_ = false;
  mask_ = 0;
  occupancy_.set(0);
  refusal_.clear();
  if (!allocate(power_of_two_from(std::max<std::uint64_t>(std::min(depth_, kFirstWindow), spec_.tokens)))) return;
  const std::vector<float> token(spec_.width, spec_.initial);
  for (std::uint32_t i = 0; i < spec_.tokens; ++i) {
    push(0, 0, token.data());
    arrivals_[i & mask_] = 0;
  }
}

TraceLog::TraceLog(sc_core::sc_module_name name, const Clock& clock) : sc_core::sc_module(name), clock_(clock) {
  SC_HAS_PROCESS(TraceLog);
  SC_METHOD(step);
  sensitive << go_;
  dont_initialize();
}

std::uint64_t TraceLog::play() {
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const LoggedChange& a, const LoggedChange& b) { return a.cycle < b.cycle; });
  next_ = 0;
  start_ = sc_core::sc_time_stamp();
  if (changes_.empty()) return 0;
  go_.notify(clock_.cycles(changes_.front().cycle));
  return changes_.back().cycle;
}

void TraceLog::step() {
  const std::uint64_t cycle = changes_[next_].cycle;
  std::vector<std::pair<Signal*, std::uint64_t>> now;
  for (; next_ < changes_.size() && changes_[next_].cycle == cycle; ++next_) {
    const LoggedChange& change = changes_[next_];
    auto entry = std::find_if(now.begin(), now.end(), [&](const auto& e) { return e.first == change.signal; });
    if (entry == now.end()) entry = now.insert(now.end(), {change.signal, change.signal->value()});
    entry->second = change.relative ? entry->second + change.value : change.value;
  }
  for (const auto& [signal, value] : now) signal->set(value);
  if (next_ == changes_.size()) {
    changes_.clear();
  } else {
    next_trigger(start_ + clock_.cycles(changes_[next_].cycle) - sc_core::sc_time_stamp());
  }
}

}  // namespace attnvp::stream
