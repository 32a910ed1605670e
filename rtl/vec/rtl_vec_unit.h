// A Verilated vec_unit in the simulation. Its clock is the platform's, and runs only while a row is on its way: an idle
// unit costs nothing. At every edge it sees what was asked before that cycle, so that the order of processes within a
// cycle does not matter.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/arith/half.h"
#include "models/module.h"
#include "rtl/vec/vec_rtl.h"

namespace attnvp::rtl {

// One softmax of rows x columns, plain or online, and how far it is. Results are dense; empty without data.
struct VecWork {
  std::uint8_t flags = 0;  // kOnline, kFirst, kScalar
  std::uint64_t rows = 0, columns = 0;
  const unsigned char* in = nullptr;      // first row; nullptr: no data, zeros are fed
  std::uint64_t in_stride = 0;            // bytes
  const unsigned char* max_in = nullptr;  // online: the running maxima, one a row
  std::uint64_t max_stride = 0;
  std::vector<arith::Half> out;  // rows x columns
  struct OfRow {
    arith::Half max = 0;
    std::uint32_t sum = 0, scale = 0;  // FP32
  };
  std::vector<OfRow> of_row;   // online
  std::uint64_t loaded = 0;    // rows whose last word the unit has taken
  std::uint64_t taken = 0;     // rows that its second pass has read
  std::uint64_t finished = 0;  // rows whose last result is there
};

class RtlVecUnit : public Module {
 public:
  RtlVecUnit(sc_core::sc_module_name name, Context& context, std::uint64_t elements_per_cycle);

  // From the next clock edge on. Rows are fed in the order of the calls.
  void feed(std::shared_ptr<VecWork> work, std::uint64_t row);
  // Some work has gone on.
  const sc_core::sc_event& progress() const { return progress_; }

  TraceGuest* trace_guest() override { return &rtl_->guest(); }

  Counter clocked_cycles{*this, "clocked_cycles", "cycles", "cycles in which the RTL's clock ran"};

 private:
  struct Request {
    std::shared_ptr<VecWork> work;
    std::uint64_t row = 0;
    std::uint64_t cycle = 0;  // asked in
  };

  void tick();
  void begin_row(std::uint64_t now);
  void next_feed();
  void next_word();
  void collect(const VecRtl::Edge& edge);
  bool busy() const { return !requests_.empty() || !results_.empty() || feeding_; }

  std::unique_ptr<VecRtl> rtl_;
  VecCommand command_;
  std::vector<arith::Half> word_;
  std::deque<Request> requests_;
  // The row being fed, and which feed of it.
  Request fed_;
  bool feeding_ = false;
  bool falling_ = false;  // only while traced: the next tick is the falling edge
  std::vector<std::uint8_t> feeds_;
  std::size_t feed_ = 0;
  std::uint64_t fed_elements_ = 0;
  // What has been fed and is still inside, in order.
  struct Reading {
    std::shared_ptr<VecWork> work;
    bool completes;
  };
  std::deque<Reading> readings_;
  struct Result {
    std::shared_ptr<VecWork> work;
    std::uint64_t row, elements;
  };
  std::deque<Result> results_;
  bool running_ = false;
  sc_core::sc_event tick_, progress_;
};

}  // namespace attnvp::rtl
