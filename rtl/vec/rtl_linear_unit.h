// Verilated vec_linear as a SystemC module: FP32 row operations. A descriptor is one command with its rows packed over
// the lanes.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "rtl/vec/clocked_rtl.h"
#include "rtl/vec/row_work.h"
#include "rtl/vec/vec_rtl.h"

namespace attnvp::rtl {

class RtlLinearUnit : public ClockedRtl {
 public:
  RtlLinearUnit(sc_core::sc_module_name name, Context& context, sim::Event& progress);

  // Feeds the first `rows` rows, more with a later call, from the next clock edge on and each when it is ready.
  // Descriptors are fed in the order of their first calls.
  void feed(const std::shared_ptr<LinearWork>& work, std::uint64_t rows);
  // Withdraws work that has not started; true if there was any.
  bool withdraw(const LinearWork& work);

 private:
  struct Request {
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
  void collect(const LinearRtl::Edge& edge, std::uint64_t now);

  LinearRtl& rtl_;
  LinearCommand command_;
  std::vector<std::uint32_t> x_, z_, a_, b_;
  bool offered_ = false;  // the operands are a beat
  std::deque<Request> requests_;
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
