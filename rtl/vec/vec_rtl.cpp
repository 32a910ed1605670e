#include "rtl/vec/vec_rtl.h"

#include <verilated.h>

#include <stdexcept>
#include <string>

#include "rtl/vec/vec_driver.h"
#include "rtl/vec/wire_probe.h"
#include "vec_widths.h"

namespace attnvp::rtl {

namespace {

template <class Base, class Driver, class Model>
class VerilatedAs : public Base {
 public:
  VerilatedAs() : driver_((context_.traceEverOn(true), context_), "rtl"), probe_(driver_.model()) {}
  std::size_t lanes() const override { return Driver::kLanes; }
  void rise() override { driver_.rise(); }
  void fall() override { driver_.fall(); }
  const std::vector<RtlBlock::Wire>& wires() const override { return probe_.wires(); }
  void changes(const RtlBlock::WireHook& change) override { probe_.changes(change); }

 private:
  VerilatedContext context_;

 protected:
  Driver driver_;

 private:
  WireProbe<Model> probe_;
};

template <class Driver, class Model>
class VecRtlOf : public VerilatedAs<VecRtl, Driver, Model> {
 public:
  std::size_t word() const override { return Driver::kWord; }
  std::size_t buffer() const override { return Driver::kBuffer; }

  VecRtl::VecEdge settle(const VecCommand* command, const arith::Half* word) override {
    d().offer(command);
    d().offer_word(word, Driver::kWord);
    d().take(true);
    d().settle();
    return {d().takes_command(), d().takes_word(), d().row_taken(), d().gives_beat(), d().last_beat()};
  }
  void beat(arith::Half* out, std::size_t count) const override { d().beat(out, count); }
  arith::Half row_max() const override { return d().row_max(); }
  std::uint32_t row_sum() const override { return d().row_sum(); }
  std::uint32_t row_scale() const override { return d().row_scale(); }

 private:
  Driver& d() { return this->driver_; }
  const Driver& d() const { return this->driver_; }
};

using Linear = LinearDriver<Vvec_linear, ATTNVP_LINEAR_LANES>;
class LinearRtlOf : public VerilatedAs<LinearRtl, Linear, Vvec_linear> {
 public:
  LinearRtl::LinearEdge settle(const LinearCommand* command, const std::uint32_t* x, const std::uint32_t* z,
                               const std::uint32_t* a, const std::uint32_t* b) override {
    driver_.offer(command);
    driver_.offer_beat(x, z, a, b, Linear::kLanes);
    driver_.take(true);
    driver_.settle();
    return {driver_.takes_command(), driver_.takes_beat(), driver_.gives_beat(), driver_.last_beat()};
  }
  void beat(std::uint32_t* out, std::size_t count) const override { driver_.beat(out, count); }
};

}  // namespace

const std::vector<std::uint64_t>& VecRtl::widths() {
#define ATTNVP_WIDTH(width) width,
  static const std::vector<std::uint64_t> kWidths = {ATTNVP_RTL_WIDTHS(ATTNVP_WIDTH)};
#undef ATTNVP_WIDTH
  return kWidths;
}

std::unique_ptr<VecRtl> VecRtl::make(std::uint64_t elements_per_cycle) {
  switch (elements_per_cycle) {
#define ATTNVP_WIDTH(width) \
  case width:               \
    return std::make_unique<VecRtlOf<VecDriver<Vvec_unit##width, width, 32, 7>, Vvec_unit##width>>();
    ATTNVP_RTL_WIDTHS(ATTNVP_WIDTH)
#undef ATTNVP_WIDTH
  }
  throw std::logic_error("there is no RTL of that width");
}

std::unique_ptr<LinearRtl> LinearRtl::make() { return std::make_unique<LinearRtlOf>(); }

}  // namespace attnvp::rtl

// Verilator's stop function: a failing assertion in the RTL throws instead of ending the program.

void vl_stop(const char* file, int line, const char* module) {
  throw std::logic_error(std::string("RTL assertion failed in ") + module + ", " + file + ":" + std::to_string(line));
}
