#include "rtl/vec/vec_rtl.h"

#include <Vvec_unit.h>
#include <verilated.h>

#include "rtl/vec/vcd_guest.h"
#include "rtl/vec/vec_driver.h"

namespace attnvp::rtl {

namespace {

template <class Driver, class Model>
class VecRtlOf : public VecRtl {
 public:
  VecRtlOf() : driver_((context_.traceEverOn(true), context_), "rtl"), guest_(driver_.model()) {}

  std::size_t lanes() const override { return Driver::kLanes; }
  std::size_t word() const override { return Driver::kWord; }
  std::size_t buffer() const override { return Driver::kBuffer; }

  Edge settle(const VecCommand* command, const arith::Half* word) override {
    driver_.offer(command);
    driver_.offer_word(word, Driver::kWord);
    driver_.take(true);
    driver_.settle();
    return {driver_.takes_command(), driver_.takes_word(), driver_.row_taken(), driver_.gives_beat(),
            driver_.last_beat()};
  }
  void beat(arith::Half* out, std::size_t count) const override { driver_.beat(out, count); }
  arith::Half row_max() const override { return driver_.row_max(); }
  std::uint32_t row_sum() const override { return driver_.row_sum(); }
  std::uint32_t row_scale() const override { return driver_.row_scale(); }
  void rise() override { driver_.rise(); }
  void fall() override { driver_.fall(); }

  TraceGuest& guest() override { return guest_; }
  bool traced() const override { return guest_.attached(); }
  void dump(std::uint64_t time) override {
    driver_.settle();
    guest_.dump(time);
  }

 private:
  VerilatedContext context_;
  Driver driver_;
  VcdGuest<Model> guest_;
};

}  // namespace

const std::vector<std::uint64_t>& VecRtl::widths() {
  static const std::vector<std::uint64_t> kWidths = {8};
  return kWidths;
}

std::unique_ptr<VecRtl> VecRtl::make(std::uint64_t /*elements_per_cycle*/) {
  return std::make_unique<VecRtlOf<VecDriver<Vvec_unit, 8, 32, 7>, Vvec_unit>>();
}

}  // namespace attnvp::rtl
