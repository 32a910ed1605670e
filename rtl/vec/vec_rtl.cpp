#include "rtl/vec/vec_rtl.h"

#include <Vvec_linear.h>
#include <Vvec_unit.h>
#include <verilated.h>

#include "rtl/vec/linear_driver.h"
#include "rtl/vec/vec_driver.h"
#include "rtl/vec/wire_probe.h"

namespace attnvp::rtl {

namespace {

// What the two have in common.
template <class Base, class Driver, class Model>
class VerilatedAs : public Base {
 public:
  VerilatedAs() : driver_((context_.traceEverOn(true), context_), "rtl"), probe_(driver_.model()) {}
  std::size_t lanes() const override { return Driver::kLanes; }
  void rise() override { driver_.rise(); }
  void fall() override { driver_.fall(); }
  const std::vector<RtlBlock::Wire>& wires() const override { return probe_.wires(); }
  void changes(const RtlBlock::Change& change) override { probe_.changes(change); }

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

  VecRtl::Edge settle(const VecCommand* command, const arith::Half* word) override {
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

template <class Driver, class Model>
class LinearRtlOf : public VerilatedAs<LinearRtl, Driver, Model> {
 public:
  LinearRtl::Edge settle(const LinearCommand* command, const std::uint32_t* x, const std::uint32_t* z) override {
    d().offer(command);
    d().offer_beat(x, z, Driver::kLanes);
    d().take(true);
    d().settle();
    return {d().takes_command(), d().takes_beat(), d().gives_beat(), d().last_beat()};
  }
  void beat(std::uint32_t* out, std::size_t count) const override { d().beat(out, count); }

 private:
  Driver& d() { return this->driver_; }
  const Driver& d() const { return this->driver_; }
};

}  // namespace

const std::vector<std::uint64_t>& VecRtl::widths() {
  static const std::vector<std::uint64_t> kWidths = {8};
  return kWidths;
}

std::unique_ptr<VecRtl> VecRtl::make(std::uint64_t /*elements_per_cycle*/) {
  return std::make_unique<VecRtlOf<VecDriver<Vvec_unit, 8, 32, 7>, Vvec_unit>>();
}

std::unique_ptr<LinearRtl> LinearRtl::make(std::uint64_t /*elements_per_cycle*/) {
  return std::make_unique<LinearRtlOf<LinearDriver<Vvec_linear, 8>, Vvec_linear>>();
}

}  // namespace attnvp::rtl
