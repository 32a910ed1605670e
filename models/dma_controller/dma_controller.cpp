#include "models/dma_controller/dma_controller.h"

#include <fmt/format.h>

#include <tuple>

#include "firmware/hal/registers.h"
#include "models/trace/operation.h"

namespace attnvp {

namespace {
enum State : std::uint64_t { kIdle, kWaitEvent, kTransfer, kFault };
const char* const kStateNames[] = {"idle", "wait_event", "transfer", "fault", nullptr};
}  // namespace

DmaController::Channel::Channel(DmaController& owner, std::uint32_t i)
    : index(i),
      queue(owner.ctx_, owner.config_.queue_depth),
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

// The oldest descriptor under way, or nothing.
void DmaController::Channel::show() {
  const UnderWay* now = under_way.empty() ? nullptr : &under_way.front();
  operation.set(static_cast<std::uint64_t>(now != nullptr ? operation_of(now->descriptor) : Operation::kNone));
  number.set(now != nullptr ? now->number : Signal::kNone);
  head.set(now != nullptr ? now->descriptor.head : Signal::kNone);
  row_block.set(now != nullptr ? now->descriptor.row_block : Signal::kNone);
}

void DmaController::Channel::begun() {
  if (!operation.on()) return;
  under_way.push_back({current, taken});
  show();
}

void DmaController::Channel::done() {
  if (under_way.empty()) return;
  under_way.pop_front();
  show();
}

DmaController::DmaController(sc_core::sc_module_name name, Context& context, const DmaConfig& config,
                             const Place& place)
    : Module(name, context),
      config_(config),
      place_(place),
      in_flight_(config.outstanding),
      buffers_(config.outstanding, std::vector<unsigned char>(config.burst_bytes)) {
  control.register_b_transport(this, &DmaController::control_transport);
  for (std::uint32_t i = 0; i < config.channels; ++i) {
    channels_.push_back(std::make_unique<Channel>(*this, i));
    Channel* channel = channels_.back().get();
    sc_core::sc_spawn([this, channel] { front(*channel); }, fmt::format("channel{}", i).c_str());
  }
  if (!context.full_data) {
    dram_payload_.set_extension(new TimingOnlyExtension);  // the payload owns it
  }
  SC_HAS_PROCESS(DmaController);
  SC_THREAD(issue);
  SC_THREAD(retire);
}

void DmaController::control_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
  const std::uint64_t offset = payload.get_address() - place_.control_base;
  const std::uint64_t channel = offset / hal::kQueueStride;
  if (channel >= channels_.size()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  CommandQueue& queue = channels_[channel]->queue;
  const std::size_t level = queue.pushed_count();
  queue.access(payload, offset % hal::kQueueStride);
  if (queue.pushed_count() != level) channels_[channel]->ages.push_back(++doorbells_);
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
    c->waits_for.set_none();
    c->under_way.clear();
    c->show();
  }
  next_ = 0;
  next_buffer_ = 0;
  doorbells_ = 0;
}

void DmaController::stop_with(Channel& channel, FaultCode code, std::uint64_t address, std::string detail) {
  stopped_ = true;
  channel.queue.set_fault(code, address);
  channel.state.set(kFault);
  fault(code, address, fmt::format("channel {}: {}", channel.index, detail));
}

FaultCode DmaController::check(const hal::Descriptor& d, std::string& detail, std::uint64_t& address) const {
  const std::uint64_t row_bytes = d.dims[0], rows = d.dims[1], planes = d.dims[2];
  const std::string shape = fmt::format("copy of {} planes of {} rows of {} bytes", planes, rows, row_bytes);
  address = d.operand[0].address;
  detail = shape;
  if (row_bytes == 0 || rows == 0 || planes == 0) return FaultCode::kZeroSize;

  Region side[2];
  bool in_l1[2] = {};
  for (int i = 0; i < 2; ++i) {
    const hal::Operand& o = d.operand[i];
    const char* const which = i == 0 ? "source" : "destination";
    address = o.address;
    if ((o.address | row_bytes | (rows > 1 ? o.row_stride : 0) | (planes > 1 ? o.plane_stride : 0)) & 1) {
      detail = fmt::format("{}: {} addresses, strides and lengths must be even", shape, which);
      return FaultCode::kMisaligned;
    }
    const std::uint64_t plane_bytes = (rows - 1) * o.row_stride + row_bytes;
    if ((rows > 1 && o.row_stride < row_bytes) || (planes > 1 && o.plane_stride < plane_bytes)) {
      detail = fmt::format("{}: the {}'s stride is shorter than what it strides over", shape, which);
      return FaultCode::kBadOperand;
    }
    side[i] = {o.address, planes, plane_bytes, o.plane_stride};
    const auto within = [&](std::uint64_t base, std::uint64_t bytes, const char* memory) {
      if (o.address < base || o.address >= base + bytes) return FaultCode::kUnmapped;
      if (side[i].end() <= base + bytes) return FaultCode::kNone;
      detail =
          fmt::format("{}: the {} ends at {:#x}, {} ends at {:#x}", shape, which, side[i].end(), memory, base + bytes);
      return FaultCode::kOutOfRange;
    };
    FaultCode code = within(place_.l1_base, place_.l1_bytes, "L1");
    in_l1[i] = code == FaultCode::kNone;
    if (code == FaultCode::kUnmapped) code = within(place_.dram_base, place_.dram_bytes, "DRAM");
    if (code == FaultCode::kUnmapped) {
      detail = fmt::format("{}: the {} is neither in DRAM nor in this cluster's L1", shape, which);
    }
    if (code != FaultCode::kNone) return code;
  }
  if (in_l1[0] == in_l1[1]) {
    address = d.operand[1].address;
    const bool over = overlap(side[0], side[1]);
    detail = fmt::format("{}: one side must be DRAM, the other L1", shape);
    return over ? FaultCode::kOverlap : FaultCode::kBadOperand;
  }
  return FaultCode::kNone;
}

void DmaController::front(Channel& channel) {
  while (true) {
    channel.state.set(kIdle);
    while (channel.queue.empty()) sc_core::wait(channel.queue.pushed());
    const hal::Descriptor& d = channel.queue.front();
    channel.state.set(kWaitEvent);
    ++channel.taken;
    channel.id = ctx_.journal == nullptr
                     ? Journal::kNobody
                     : ctx_.journal->open(fmt::format("{}.channel{}", name(), channel.index), d, ctx_.clock.now());
    if (!channel.events.valid(d)) {
      stop_with(channel, FaultCode::kBadEvent, 0, "the descriptor names an event that the event unit does not have");
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
      std::string detail;
      std::uint64_t address = 0;
      const FaultCode code = check(d, detail, address);
      if (code != FaultCode::kNone) {
        stop_with(channel, code, address, std::move(detail));
        return;
      }
      channel.state.set(kTransfer);
      channel.current = d;
      channel.to_l1 = d.operand[1].address >= place_.l1_base;
      channel.transfer = Transfer(d, config_.burst_bytes);
      channel.ready = true;
      channel.started = false;
      channel.deferrable = (d.flags & hal::kDeferrable) != 0;
      channel.age = channel.ages.front();
      channel.ages.pop_front();
      channel.queue.pop();
      work_.notify(sc_core::SC_ZERO_TIME);
      while (channel.ready) sc_core::wait(channel.issued);
    } else {
      while (channel.pending > 0) sc_core::wait(channel.drained);
      const hal::Descriptor nop = d;
      channel.ages.pop_front();
      channel.queue.pop();
      channel.events.give(nop, channel.id);
    }
  }
}

DmaController::Channel* DmaController::choose() {
  const auto n = static_cast<std::uint32_t>(channels_.size());
  if (config_.arbitration == DmaArbitration::kAge) {
    Channel* oldest = nullptr;
    for (const auto& c : channels_) {
      if (!c->ready) continue;
      if (oldest == nullptr || std::tie(c->deferrable, c->age) < std::tie(oldest->deferrable, oldest->age)) {
        oldest = c.get();
      }
    }
    return oldest;
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t c = config_.arbitration == DmaArbitration::kPriority ? i : (next_ + i) % n;
    if (!channels_[c]->ready) continue;
    next_ = (c + 1) % n;
    return channels_[c].get();
  }
  return nullptr;
}

bool DmaController::access_dram(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                std::uint64_t bytes, sc_core::sc_time& delay) {
  fill_payload(dram_payload_, command, address, data, bytes);
  dram->b_transport(dram_payload_, delay);
  return dram_payload_.is_response_ok();
}

bool DmaController::access_l1(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                              std::uint64_t bytes) {
  tlm::tlm_generic_payload& payload = command == tlm::TLM_READ_COMMAND ? l1_read_payload_ : l1_write_payload_;
  fill_payload(payload, command, address, data, bytes);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  l1->b_transport(payload, delay);
  if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
  return payload.is_response_ok();
}

void DmaController::issue() {
  while (true) {
    while (in_flight_.full()) sc_core::wait(credit_);
    Channel* channel = choose();
    if (channel == nullptr) {
      sc_core::wait(work_);
      continue;
    }
    InFlight entry;
    entry.channel = channel;
    entry.to_l1 = channel->to_l1;
    entry.burst = channel->transfer.next();
    entry.buffer = next_buffer_;
    next_buffer_ = (next_buffer_ + 1) % buffers_.size();
    unsigned char* data = buffers_[entry.buffer].data();
    const Burst burst = entry.burst;
    if (active_++ == 0) busy_since_ = ctx_.clock.now();
    busy_.set(1);
    if (!channel->started) {
      channel->started = true;
      channel->begun();
      if (ctx_.journal != nullptr && channel->id != Journal::kNobody)
        ctx_.journal->of(channel->id).start = ctx_.clock.now();
    }

    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    bool ok = true;
    if (entry.to_l1) {
      ok = access_dram(tlm::TLM_READ_COMMAND, burst.source, data, burst.bytes, delay);
    } else {
      ok = access_l1(tlm::TLM_READ_COMMAND, burst.source, data, burst.bytes) &&
           access_dram(tlm::TLM_WRITE_COMMAND, burst.destination, data, burst.bytes, delay);
    }
    if (!ok) {
      stop_with(*channel, FaultCode::kUnmapped, burst.source, "a burst was answered with an error");
      return;
    }
    bursts += 1;
    (entry.to_l1 ? read_bytes : write_bytes) += burst.bytes;
    entry.done_cycle = ctx_.clock.now() + ctx_.clock.ceil_cycles(delay);
    if (burst.last) {
      entry.descriptor = channel->current;
      entry.id = channel->id;
      ++channel->pending;
      channel->ready = false;
      channel->issued.notify(sc_core::SC_ZERO_TIME);
    }
    in_flight_.push_back(entry);
    outstanding_.set(in_flight_.size());
    sent_.notify(sc_core::SC_ZERO_TIME);
    // Let this channel's next descriptor compete for the next burst: its front end needs two deltas to present it.
    if (burst.last) {
      sc_core::wait(sc_core::SC_ZERO_TIME);
      sc_core::wait(sc_core::SC_ZERO_TIME);
    }
  }
}

void DmaController::retire() {
  while (true) {
    while (in_flight_.empty()) sc_core::wait(sent_);
    InFlight& entry = in_flight_.front();
    const std::uint64_t now = ctx_.clock.now();
    if (entry.done_cycle > now) sc_core::wait(ctx_.clock.cycles(entry.done_cycle - now));
    if (entry.to_l1 &&
        !access_l1(tlm::TLM_WRITE_COMMAND, entry.burst.destination, buffers_[entry.buffer].data(), entry.burst.bytes)) {
      stop_with(*entry.channel, FaultCode::kUnmapped, entry.burst.destination, "L1 answered with an error");
      return;
    }
    if (entry.burst.last) {
      if (!entry.channel->events.give(entry.descriptor, entry.id)) return;
      if (ctx_.journal != nullptr && entry.id != Journal::kNobody) {
        Journal::Entry& journal = ctx_.journal->of(entry.id);
        journal.end = journal.done = ctx_.clock.now();
      }
      entry.channel->done();
      descriptors += 1;
      entry.channel->queue.count_done();
      --entry.channel->pending;
      entry.channel->drained.notify(sc_core::SC_ZERO_TIME);
    }
    in_flight_.pop_front();
    outstanding_.set(in_flight_.size());
    if (--active_ == 0) {
      busy_cycles += ctx_.clock.now() - busy_since_;
      busy_.set(0);
    }
    credit_.notify(sc_core::SC_ZERO_TIME);
  }
}

}  // namespace attnvp
