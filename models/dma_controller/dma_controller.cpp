#include "models/dma_controller/dma_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "firmware/hal/registers.h"
#include "models/bus/initiator.h"
#include "models/dma_controller/copy_check.h"
#include "models/trace/operation.h"

namespace attnvp {

namespace {
enum State : std::uint64_t { kIdle, kWaitEvent, kTransfer, kFault };
const char* const kStateNames[] = {"idle", "wait_event", "transfer", "fault", nullptr};
}  // namespace

DmaController::Channel::Channel(DmaController& owner, std::uint32_t i)
    : index(i),
      queue(owner.ctx_, owner.config_.queue_depth, owner.place_.partition),
      events(fmt::format("events{}", i).c_str(), owner.place_.events_base, owner.place_.events),
      ages(owner.config_.queue_depth),
      state(owner, fmt::format("channel{}.state", i), kStateNames),
      operation(owner, fmt::format("channel{}.operation", i), kOperationNames),
      number(owner, fmt::format("channel{}.descriptor", i), 32),
      head(owner, fmt::format("channel{}.head", i), 16),
      row_block(owner, fmt::format("channel{}.row_block", i), 32),
      waits_for(owner, fmt::format("channel{}.waits_for_event", i), 12),
      level(owner, fmt::format("channel{}.queue_level", i), 16) {
  for (Signal* s : {&state, &operation, &number, &head, &row_block, &waits_for, &level}) s->sparse();  // if unused
  queue.show_level_in(&level);
  events.show_waiting_in(&waits_for);
}

DmaController::DmaController(sc_core::sc_module_name name, Context& context, const DmaConfig& config,
                             const Place& place)
    : Module(name, context),
      config_(config),
      most_counted_(config.most_counted()),
      most_of_a_channel_(config.most_of_a_channel()),
      place_(place),
      buffers_(config.outstanding, std::vector<unsigned char>(config.burst_bytes)),
      free_buffers_(config.outstanding) {
  std::iota(free_buffers_.rbegin(), free_buffers_.rend(), std::size_t{0});
  control.register_b_transport(this, &DmaController::control_transport);
  control.register_transport_dbg(this, &DmaController::control_peek);
  for (std::uint32_t i = 0; i < config.channels; ++i) {
    channels_.push_back(std::make_unique<Channel>(*this, i));
    Channel* channel = channels_.back().get();
    channel->events.account_in(ctx_.givers, [this, channel](std::uint64_t event, const hal::Descriptor& descriptor) {
      if (channel->account.pends(ctx_.clock.now())) channel->account.resolve(ctx_.givers.cause(event, descriptor));
    });
    sc_core::sc_spawn([this, channel] { front(*channel); }, fmt::format("channel{}", i).c_str());
  }
  if (!context.full_data) {
    for (auto* payload : {&issue_payload_, &retire_payload_}) {
      payload->set_extension(new TimingOnlyExtension);  // the payload owns it
    }
  }
  issue_payload_.set_extension(&completion_);  // targets on the bus may say later when they are done
  SC_HAS_PROCESS(DmaController);
  SC_THREAD(issue);
  SC_THREAD(retire);
}

void DmaController::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t offset = payload.get_address() - place_.control_base;
  const std::uint64_t channel = offset / hal::kQueueStride;
  if (!CommandQueue::builds(payload, offset % hal::kQueueStride)) arrive(delay);
  if (channel >= channels_.size()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  CommandQueue& queue = channels_[channel]->queue;
  const std::size_t level = queue.pushed_count();
  queue.access(payload, offset % hal::kQueueStride);
  if (queue.pushed_count() != level) channels_[channel]->ages.push_back(++doorbells_);
}

// Reading registers has no effects.
unsigned DmaController::control_peek(tlm::tlm_generic_payload& payload) {
  const std::uint64_t offset = payload.get_address() - place_.control_base, channel = offset / hal::kQueueStride;
  if (!payload.is_read() || channel >= channels_.size()) return 0;
  channels_[channel]->queue.access(payload, offset % hal::kQueueStride);
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

std::string DmaController::waiting_for() const {
  std::string text;
  for (const auto& c : channels_) {
    if (c->queue.empty()) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("channel {}, {} descriptors queued", c->index, c->queue.level());
    if (c->events.waiting_for() >= 0) {
      text += fmt::format(", head {}, row block {} waits for event {}", c->queue.front().head,
                          c->queue.front().row_block, c->events.waiting_for());
    }
  }
  return text;
}

void DmaController::reset() {
  for (auto& c : channels_) {
    c->queue.reset();
    c->ages.clear();
    c->taken = 0;
    c->account.reset(ctx_.clock.now());
    c->busy = false;
    c->busy_cycles = c->bytes = 0;
    c->waits_for.set_none();
    c->under_way.clear();
    c->show();
  }
  next_ = 0;
  doorbells_ = 0;
}

std::vector<Ledger> DmaController::ledgers() const {
  std::vector<Ledger> all;
  for (const auto& c : channels_) {
    all.push_back({fmt::format("channel{}", c->index), c->busy_cycles, 0, 0, 0, c->bytes, c->account.lines()});
  }
  return all;
}

void DmaController::stop_with(Channel& channel, FaultCode code, std::uint64_t address, std::string detail) {
  stopped_ = true;
  channel.queue.set_fault(code, address);
  channel.state.set(kFault);
  fault(code, address, fmt::format("channel {}: {}", channel.index, detail));
}

bool DmaController::own_l1(const hal::Operand& operand) const {
  return place_.map->find(operand.address) == place_.map->find(place_.l1_base);
}

void DmaController::front(Channel& channel) {
  while (true) {
    channel.state.set(kIdle);
    channel.account.waits({Cause::kProcessor}, ctx_.clock.now());
    while (channel.queue.empty()) channel.queue.pushed().wait();
    const hal::Descriptor& d = channel.queue.front();
    channel.state.set(kWaitEvent);
    channel.account.waits({Cause::kPending}, ctx_.clock.now());
    ++channel.taken;
    channel.id = ctx_.journal == nullptr
                     ? Journal::kNobody
                     : ctx_.journal->open(fmt::format("{}.channel{}", name(), channel.index), d, ctx_.clock.now());
    Refusal refusal = check_header(d);
    if (!refusal.any()) refusal = channel.events.check(d);
    if (refusal.any()) {
      stop_with(channel, refusal.code, refusal.address, std::move(refusal.detail));
      return;
    }
    if (!channel.events.take(d, channel.id)) return;
    if (ctx_.journal != nullptr && channel.id != Journal::kNobody)
      ctx_.journal->of(channel.id).ready = ctx_.clock.now();
    if (d.opcode != hal::Opcode::kCopy && d.opcode != hal::Opcode::kNop) {
      stop_with(channel, FaultCode::kBadOpcode, 0,
                fmt::format("a DMA controller has no opcode {}", static_cast<int>(d.opcode)));
      return;
    }
    if (d.opcode == hal::Opcode::kCopy) {
      refusal = check_copy(d, *place_.map, place_.l1_base);
      if (refusal.any()) {
        stop_with(channel, refusal.code, refusal.address, std::move(refusal.detail));
        return;
      }
      channel.state.set(kTransfer);
      channel.current = d;
      channel.from_l1 = own_l1(d.operand[0]);
      channel.to_l1 = own_l1(d.operand[1]);
      channel.forwarded = (d.flags & hal::kForwarded) != 0;
      channel.transfer = Transfer(d, config_.burst_bytes);
      channel.ready = true;
      channel.bytes += d.row_bytes(0) * d.rows * d.tail.copy.planes;
      channel.settle(ctx_.clock.now());
      channel.started = false;
      channel.deferrable = (d.flags & hal::kDeferrable) != 0;
      channel.age = channel.ages.front();
      channel.ages.pop_front();
      channel.queue.pop();
      work_.notify();
      while (channel.ready) channel.issued.wait();
    } else {
      channel.account.waits({Cause::kDrain}, ctx_.clock.now());
      while (!channel.ending.empty()) channel.drained.wait();
      const hal::Descriptor nop = d;
      channel.ages.pop_front();
      channel.queue.pop();
      channel.events.give(nop, channel.id);
    }
  }
}

DmaController::Channel* DmaController::choose() {
  const auto n = static_cast<std::uint32_t>(channels_.size());
  limited_ = false;
  const auto can_go = [this](const Channel& c) {
    if (!c.ready) return false;
    const bool room = c.counted < most_of_a_channel_;
    limited_ = limited_ || !room;
    return room;
  };
  if (config_.arbitration == DmaArbitration::kAge) {
    Channel* oldest = nullptr;
    for (const auto& c : channels_) {
      if (!can_go(*c)) continue;
      if (oldest == nullptr || std::tie(c->deferrable, c->age) < std::tie(oldest->deferrable, oldest->age)) {
        oldest = c.get();
      }
    }
    return oldest;
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t c = config_.arbitration == DmaArbitration::kPriority ? i : (next_ + i) % n;
    if (!can_go(*channels_[c])) continue;
    return channels_[c].get();
  }
  return nullptr;
}

// Leaves the time until data from the interconnect are here in `delay`.
bool DmaController::read(const Channel& channel, const Burst& burst, unsigned char* data, sc_core::sc_time& delay) {
  fill_payload(issue_payload_, tlm::TLM_READ_COMMAND, burst.source, data, burst.bytes);
  if (channel.forwarded) return !ctx_.full_data || l1->transport_dbg(issue_payload_) == burst.bytes;
  if (channel.from_l1) return access(l1, issue_payload_);
  read_bytes += burst.bytes;
  return request(bus, issue_payload_, delay);
}

// Nothing else is to happen at this time: what would be done in the next delta may as well be done at once.
bool DmaController::alone() { return !sc_core::sc_pending_activity_at_current_time(); }

std::size_t DmaController::take_buffer(std::uint64_t bytes) {
  if (free_buffers_.empty()) {  // of short bursts there may be more
    free_buffers_.push_back(buffers_.size());
    buffers_.emplace_back();
  }
  const std::size_t buffer = free_buffers_.back();
  free_buffers_.pop_back();
  if (buffers_[buffer].size() < bytes) buffers_[buffer].resize(bytes);
  return buffer;
}

// The channel's next burst. False: the DMA controller has stopped.
bool DmaController::send(Channel& channel) {
  if (config_.arbitration == DmaArbitration::kRoundRobin) {
    next_ = (channel.index + 1) % static_cast<std::uint32_t>(channels_.size());
  }
  const Burst burst = channel.transfer.next();
  const std::size_t buffer = take_buffer(burst.bytes);
  unsigned char* data = buffers_[buffer].data();
  if (active_++ == 0) busy_since_ = ctx_.clock.now();
  busy_.set(1);
  if (!channel.started) {
    channel.started = true;
    channel.begun();
    channel.ending.push_back({channel.current, channel.id, 0, false});
    if (ctx_.journal != nullptr && channel.id != Journal::kNobody)
      ctx_.journal->of(channel.id).start = ctx_.clock.now();
  }

  channel.counted += config_.counted(burst.bytes);
  Channel::Ending& descriptor = channel.ending.back();
  ++descriptor.bursts;

  const std::uint64_t begin = ctx_.clock.now();
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  completion_.ticket = tickets_;
  completion_.deferred = false;
  bool ok = read(channel, burst, data, delay);
  bus_waits_ = bus_waits_ || (!channel.from_l1 && ctx_.clock.now() != begin);
  const bool written = channel.from_l1 && !channel.to_l1;
  if (ok && written) {
    fill_payload(issue_payload_, tlm::TLM_WRITE_COMMAND, burst.destination, data, burst.bytes);
    write_bytes += burst.bytes;
    ok = request(bus, issue_payload_, delay);
  }
  if (!ok) {
    stop_with(channel, FaultCode::kUnmapped, burst.source, "a burst was answered with an error");
    return false;
  }
  bursts += 1;
  ++tickets_;
  if (burst.last) {
    descriptor.issued = true;
    channel.ready = false;
    channel.issued.notify();
  }
  InFlight& entry = in_flight_.emplace_back();
  entry.destination = burst.destination;
  entry.bytes = burst.bytes;
  entry.channel = &channel;
  entry.descriptor = &descriptor;
  entry.to_l1 = channel.to_l1;
  entry.written = written;
  entry.open = completion_.deferred;
  entry.done_cycle = ctx_.clock.now() + ctx_.clock.ceil_cycles(delay);
  entry.buffer = buffer;
  counted_ += config_.counted(burst.bytes);
  outstanding_.set(++live_);
  news_.notify();
  return true;
}

void DmaController::issue() {
  while (true) {
    while (full()) {
      starved_ = true;
      credit_.wait();
      starved_ = false;
    }
    Channel* channel = choose();
    if (channel == nullptr) {
      work_.wait();
      continue;
    }
    const bool last = channel->transfer.at_last();
    if (!send(*channel)) return;
    // Let this channel's next descriptor compete for the next burst: its front end needs two deltas to present it.
    // Where no more bursts may be under way, there is time for that anyway.
    for (int deltas = 0; last && deltas < 2 && !full() && !alone(); ++deltas) sc_core::wait(sc_core::SC_ZERO_TIME);
  }
}

// A burst is done, and the issue stage may go on. Where it would wake to send a burst that takes it no time, that is
// done from here.
void DmaController::give_credit() {
  if (starved_ && !bus_waits_ && alone()) {
    Channel* channel = choose();
    if (channel != nullptr && !channel->from_l1) {
      send(*channel);
      return;
    }
  }
  credit_.notify();
  if (limited_) work_.notify();
}

}  // namespace attnvp
