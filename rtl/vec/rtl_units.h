// Verilated blocks as SystemC modules.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "models/sim/module.h"
#include "rtl/vec/row_work.h"
#include "rtl/vec/vec_rtl.h"

namespace attnvp::rtl {

// Verilated block as a SystemC module. It has the platform's clock, which runs only while the block has work. At every
// edge it samples requests of earlier cycles, so that the order of processes within a cycle has no effect. Its wires
// are signals of the module for waveforms.
class ClockedRtl : public Module {
 public:
  void reset() override { show(); }

  // Called on progress of other work, which may allow this block to continue.
  void poke() {
    if (can_go_on()) wake();
  }

  Counter clocked_cycles{*this, "clocked_cycles", "cycles", "cycles in which the RTL's clock ran"};

 protected:
  // `progress` is notified when work has progressed.
  ClockedRtl(sc_core::sc_module_name name, Context& context, std::unique_ptr<RtlBlock> block, sim::Event& progress);

  void wake();  // starts the clock with the next cycle; it runs while busy()
  void notify_progress() { progress_.notify_delta(); }
  RtlBlock& block() { return *block_; }

  // Sets the block's inputs and reads its outputs before the edge of cycle `now`.
  virtual void at_edge(std::uint64_t now) = 0;
  virtual bool busy() const = 0;
  virtual bool can_go_on() const = 0;  // has input for the next edge

 private:
  sim::Process run_clock();
  void show();

  std::unique_ptr<RtlBlock> block_;
  std::vector<std::unique_ptr<Signal>> wires_;
  bool running_ = false;
  sim::Event edge_;
  sim::Event& progress_;
  sim::Process clock_;
};

// Verilated vec_unit as a SystemC module: softmax and its online form.
class RtlVecUnit : public ClockedRtl {
 public:
  RtlVecUnit(sc_core::sc_module_name name, Context& context, std::uint64_t elements_per_cycle, sim::Event& progress);

  // Feeds a row from the next clock edge on, when it is ready. Rows are fed in the order of the calls.
  void feed(std::shared_ptr<VecRowWork> work, std::uint64_t row);
  // Withdraws rows that have not started; true if there were any.
  bool withdraw(const VecRowWork& work);

 private:
  struct VecRequest {
    std::shared_ptr<VecRowWork> work;
    std::uint64_t row = 0;
    std::uint64_t cycle = 0;  // cycle of the request
  };

  void at_edge(std::uint64_t now) override;
  bool busy() const override { return feeding_ || !results_.empty() || can_go_on(); }
  bool can_go_on() const override;
  void begin_row(std::uint64_t now);
  void next_feed();
  void next_word();
  void collect(const VecRtl::VecEdge& edge, std::uint64_t now);

  VecRtl& rtl_;
  VecCommand command_;
  std::vector<arith::Half> word_;
  std::deque<VecRequest> requests_;
  // Row being fed, and number of the feed.
  VecRequest fed_;
  bool feeding_ = false;
  std::vector<std::uint8_t> feeds_;
  std::size_t feed_ = 0;
  std::uint64_t fed_elements_ = 0;
  // Feeds that are inside the block, in order.
  struct Reading {
    std::shared_ptr<VecRowWork> work;
    bool completes;
  };
  std::deque<Reading> readings_;
  struct RowResult {
    std::shared_ptr<VecRowWork> work;
    std::uint64_t row, elements;
  };
  std::deque<RowResult> results_;
};

// Verilated vec_linear as a SystemC module: FP32 row operations. A descriptor is one command with its rows packed over
// the lanes.
class RtlLinearUnit : public ClockedRtl {
 public:
  RtlLinearUnit(sc_core::sc_module_name name, Context& context, sim::Event& progress);

  // Feeds the first `rows` rows, more with a later call, from the next clock edge on and each when it is ready.
  // Descriptors are fed in the order of their first calls.
  void feed(const std::shared_ptr<LinearWork>& work, std::uint64_t rows);
  // Withdraws work that has not started; true if there was any.
  bool withdraw(const LinearWork& work);

 private:
  struct LinearRequest {
    std::shared_ptr<LinearWork> work;
    std::uint64_t cycle = 0;  // cycle of the request
  };

  void at_edge(std::uint64_t now) override;
  bool busy() const override { return beats_inside_ > 0 || can_go_on(); }
  bool can_go_on() const override;
  static bool is_ready(const LinearWork& work, std::uint64_t row, std::uint64_t now);
  std::uint64_t beat_elements() const;
  bool has_beat(std::uint64_t now) const;
  void next_beat();
  void collect(const LinearRtl::LinearEdge& edge, std::uint64_t now);

  LinearRtl& rtl_;
  LinearCommand command_;
  std::vector<std::uint32_t> x_, z_, a_, b_;
  bool offered_ = false;  // the operands are a beat
  std::deque<LinearRequest> requests_;
  std::shared_ptr<LinearWork> fed_;
  bool feeding_ = false;
  std::uint64_t fed_elements_ = 0, beats_inside_ = 0;
  struct LinearResult {
    std::shared_ptr<LinearWork> work;
    std::uint64_t elements;
  };
  std::deque<LinearResult> results_;
};

}  // namespace attnvp::rtl
