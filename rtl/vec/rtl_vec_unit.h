// Verilated vec_unit as a SystemC module: softmax and its online form.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "rtl/vec/clocked_rtl.h"
#include "rtl/vec/row_work.h"
#include "rtl/vec/vec_rtl.h"

namespace attnvp::rtl {

class RtlVecUnit : public ClockedRtl {
 public:
  RtlVecUnit(sc_core::sc_module_name name, Context& context, std::uint64_t elements_per_cycle, sim::Event& progress);

  // Feeds a row from the next clock edge on, when it is ready. Rows are fed in the order of the calls.
  void feed(std::shared_ptr<VecWork> work, std::uint64_t row);
  // Withdraws rows that have not started; true if there were any.
  bool withdraw(const VecWork& work);

 private:
  struct Request {
    std::shared_ptr<VecWork> work;
    std::uint64_t row = 0;
    std::uint64_t cycle = 0;  // cycle of the request
  };

  void at_edge(std::uint64_t now) override;
  bool busy() const override { return feeding_ || !results_.empty() || can_go_on(); }
  bool can_go_on() const override;
  void begin_row(std::uint64_t now);
  void next_feed();
  void next_word();
  void collect(const VecRtl::Edge& edge, std::uint64_t now);

  VecRtl& rtl_;
  VecCommand command_;
  std::vector<arith::Half> word_;
  std::deque<Request> requests_;
  // Row being fed, and number of the feed.
  Request fed_;
  bool feeding_ = false;
  std::vector<std::uint8_t> feeds_;
  std::size_t feed_ = 0;
  std::uint64_t fed_elements_ = 0;
  // Feeds that are inside the block, in order.
  struct Reading {
    std::shared_ptr<VecWork> work;
    bool completes;
  };
  std::deque<Reading> readings_;
  struct RowResult {
    std::shared_ptr<VecWork> work;
    std::uint64_t row, elements;
  };
  std::deque<RowResult> results_;
};

}  // namespace attnvp::rtl
