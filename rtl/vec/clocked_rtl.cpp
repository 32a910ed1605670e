#include "rtl/vec/clocked_rtl.h"

#include <utility>

namespace attnvp::rtl {

ClockedRtl::ClockedRtl(sc_core::sc_module_name name, Context& context, std::unique_ptr<RtlBlock> block,
                       sim::Event& progress)
    : Module(name, context),
      block_(std::move(block)),
      tick_(context.event_queue, sim::Callback::of<&ClockedRtl::tick>(this)),
      progress_(progress) {
  for (const RtlBlock::Wire& wire : block_->wires()) {
    wires_.push_back(std::make_unique<Signal>(*this, wire.path, wire.bits));
    wires_.back()->sparse();
  }
  show();
}

void ClockedRtl::wake() {
  if (running_) return;
  running_ = true;
  tick_.notify_at(ctx_.clock.after(1));
}

// One call per clock cycle; two while traced, so that both edges are visible.
void ClockedRtl::tick() {
  const bool traced = !wires_.empty() && wires_.front()->on();
  const std::uint64_t period = ctx_.clock.period_fs();
  const bool high_phase = traced && !falling_;
  if (falling_) {
    block_->fall();
  } else {
    at_edge(ctx_.clock.now());
    block_->rise();
    clocked_cycles += 1;
    if (!high_phase) block_->fall();
  }
  if (traced) show();
  const std::uint64_t wait = high_phase ? period / 2 : falling_ ? period - period / 2 : period;
  falling_ = high_phase;
  running_ = high_phase || busy();
  if (running_) tick_.notify_at(ctx_.clock.now_fs() + wait);
}

void ClockedRtl::show() {
  block_->changes([this](std::size_t wire, std::uint64_t value) { wires_[wire]->set(value); });
}

}  // namespace attnvp::rtl
