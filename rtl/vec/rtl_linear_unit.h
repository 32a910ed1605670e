// A Verilated vec_linear in the simulation: the FP32 row operations.
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
  RtlLinearUnit(sc_core::sc_module_name name, Context& context, std::uint64_t elements_per_cycle, Step& progress);

  // From the next clock edge on. Rows are fed in the order of the calls.
  void feed(std::shared_ptr<LinearWork> work, std::uint64_t row);

 private:
  struct Request {
    std::shared_ptr<LinearWork> work;
    std::uint64_t row = 0;
    std::uint64_t cycle = 0;  // asked in
  };

  void at_edge(std::uint64_t now) override;
  bool busy() const override { return !requests_.empty() || !results_.empty() || feeding_; }
  void begin_row(std::uint64_t now);
  void next_beat();
  void collect(const LinearRtl::Edge& edge);

  LinearRtl& rtl_;
  LinearCommand command_;
  std::vector<std::uint32_t> x_, z_;
  std::deque<Request> requests_;
  Request fed_;
  bool feeding_ = false;
  std::uint64_t fed_elements_ = 0;
  struct Result {
    std::shared_ptr<LinearWork> work;
    std::uint64_t row, elements;
  };
  std::deque<Result> results_;
};

}  // namespace attnvp::rtl
