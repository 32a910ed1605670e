// C++ drivers of Verilated vec_unit and vec_linear, with one call per clock cycle: set the inputs, settle(), read the
// handshakes, clock(). Model is one of the Verilated classes.
#pragma once

#include <cstdint>
#include <cstring>

#include "rtl/vec/vec_rtl.h"

namespace attnvp::rtl {

// Driver of a vec_unit.
template <class Model, std::size_t kLanesValue, std::size_t kWordValue, std::size_t kLogWords>
class VecDriver {
 public:
  static constexpr std::size_t kLanes = kLanesValue;          // elements per beat at the output
  static constexpr std::size_t kWord = kWordValue;            // elements per word at the input
  static constexpr std::size_t kBuffer = kWord << kLogWords;  // longest row that is fed only once

  VecDriver(VerilatedContext& context, const char* name) : context_(context), model_(&context, name) {
    model_.clk = 0;
    reset();
  }
  ~VecDriver() {
    model_.final();
    Verilated::threadContextp(&context_);  // the model's destructor uses the thread's context, not its own
  }
  VecDriver(const VecDriver&) = delete;
  VecDriver& operator=(const VecDriver&) = delete;

  void reset() {
    offer(nullptr);
    offer_word(nullptr, 0);
    model_.out_ready = 0;
    model_.rst = 1;
    for (int i = 0; i < 2; ++i) {
      settle();
      clock();
    }
    model_.rst = 0;
    settle();
  }

  void offer(const VecCommand* command) {
    model_.cmd_valid = command != nullptr;
    if (command == nullptr) return;
    model_.cmd_flags = command->flags;
    model_.cmd_length = command->length;
    model_.cmd_max = command->running_max;
  }
  void offer_word(const arith::Half* elements, std::size_t count) {
    model_.in_valid = elements != nullptr;
    if (elements != nullptr) std::memcpy(&model_.in_data, elements, count * sizeof(arith::Half));
  }
  void take(bool ready) { model_.out_ready = ready; }
  void settle() { model_.eval(); }

  // Valid after settle(): effects of the next clock edge.
  bool takes_command() const { return model_.cmd_valid && model_.cmd_ready; }
  bool takes_word() const { return model_.in_valid && model_.in_ready; }
  bool gives_beat() const { return model_.out_valid && model_.out_ready; }
  bool last_beat() const { return model_.out_last; }
  bool row_taken() const { return model_.row_taken; }
  void beat(arith::Half* out, std::size_t count) const { std::memcpy(out, &model_.out_data, count * sizeof *out); }
  arith::Half row_max() const { return model_.out_max; }
  std::uint32_t row_sum() const { return model_.out_sum; }
  std::uint32_t row_scale() const { return model_.out_scale; }

  void rise() {
    model_.clk = 1;
    model_.eval();
  }
  void fall() { model_.clk = 0; }  // evaluated by the next settle()
  void clock() {
    rise();
    fall();
  }
  Model& model() { return model_; }

 private:
  VerilatedContext& context_;
  Model model_;
};

// Driver of a vec_linear.
template <class Model, std::size_t kLanesValue>
class LinearDriver {
 public:
  static constexpr std::size_t kLanes = kLanesValue;  // elements per beat

  LinearDriver(VerilatedContext& context, const char* name) : context_(context), model_(&context, name) {
    model_.clk = 0;
    offer(nullptr);
    offer_beat(nullptr, nullptr, nullptr, nullptr, 0);
    model_.out_ready = 0;
    model_.rst = 1;
    for (int i = 0; i < 2; ++i) {
      settle();
      clock();
    }
    model_.rst = 0;
    settle();
  }
  ~LinearDriver() {
    model_.final();
    Verilated::threadContextp(&context_);  // the model's destructor uses the thread's context, not its own
  }
  LinearDriver(const LinearDriver&) = delete;
  LinearDriver& operator=(const LinearDriver&) = delete;

  void offer(const LinearCommand* command) {
    model_.cmd_valid = command != nullptr;
    if (command == nullptr) return;
    model_.cmd_divide = command->divide;
    model_.cmd_length = command->length;
  }
  void offer_beat(const std::uint32_t* x, const std::uint32_t* z, const std::uint32_t* a, const std::uint32_t* b,
                  std::size_t count) {
    model_.in_valid = x != nullptr;
    if (x == nullptr) return;
    std::memcpy(&model_.in_x, x, count * sizeof *x);
    std::memcpy(&model_.in_z, z, count * sizeof *z);
    std::memcpy(&model_.in_a, a, count * sizeof *a);
    std::memcpy(&model_.in_b, b, count * sizeof *b);
  }
  void take(bool ready) { model_.out_ready = ready; }
  void settle() { model_.eval(); }

  // Valid after settle(): effects of the next clock edge.
  bool takes_command() const { return model_.cmd_valid && model_.cmd_ready; }
  bool takes_beat() const { return model_.in_valid && model_.in_ready; }
  bool gives_beat() const { return model_.out_valid && model_.out_ready; }
  bool last_beat() const { return model_.out_last; }
  void beat(std::uint32_t* out, std::size_t count) const { std::memcpy(out, &model_.out_data, count * sizeof *out); }

  void rise() {
    model_.clk = 1;
    model_.eval();
  }
  void fall() { model_.clk = 0; }  // evaluated by the next settle()
  void clock() {
    rise();
    fall();
  }
  Model& model() { return model_; }

 private:
  VerilatedContext& context_;
  Model model_;
};

}  // namespace attnvp::rtl
