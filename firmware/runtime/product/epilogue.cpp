#include "firmware/runtime/product/epilogue.h"

namespace attnvp::firmware {

Epilogue::Epilogue(Runtime& rt, const hal::FusedProduct& what, uint32_t columns, const GemmTiling& tiling, bool panels,
                   uint32_t least)
    : rt_(rt),
      what_(what),
      t_(tiling),
      panels_(panels),
      cores_(rt.cores()),
      least_(least),
      m_(rt.layer().seq_q),
      n_(columns) {
  if (!any()) return;
  const uint32_t grain = what.is_gated != 0 ? 2 : what.rotated > 0 ? what.head : 1;
  if (t_.nkv % grain != 0) rt.refuse(GemmTiling::kNkv, t_.nkv);
  bias_ = {0, 2, 1, t_.nkv};
  residual_ = {0, 2 * cores_, t_.nq, of_result(t_.nkv)};
  angles_ = {0, 2 * cores_, t_.nq, what.head};
  converted_ = {0, 2 * cores_, t_.nq, of_result(t_.nkv), hal::element_bytes(what.out)};
  finished_ = rt.events(cores_);
  if (has_bias()) {
    bias_.make(rt, L1Region::kOther);
    bias_ready_ = rt.events(cores_);
    bias_free_.make(rt, 2, what.is_gated != 0 ? 2 : 1, least);
  }
  if (what.rotated > 0) {
    angles_.make(rt, L1Region::kOther);
    angles_ready_ = rt.events(cores_);
    angles_free_ = rt.events(cores_, 2);
  }
  if (has_residual()) {
    residual_.make(rt, L1Region::kOther);
    residual_ready_ = rt.events(cores_);
    residual_free_ = rt.events(cores_, 2);
  }
  if (converts()) converted_.make(rt, L1Region::kOther);
}

void Epilogue::load(uint32_t channel, const ProductBlock& b) {
  const uint32_t width = of_result(b.columns);
  if (has_bias()) {
    const Matrix here = bias_.of(blocks_.all, 1, b.columns);
    for (uint32_t part = 0; part * width < b.columns; ++part) {  // gates and factors
      const Matrix to = columns_of(here, part * width, width);
      const Matrix from = {what_.bias + (uint64_t{b.column} + part * uint64_t{n_ / 2}) * kHalfBytes, 1, width,
                           width * kHalfBytes};
      Command load = copy(from, to);
      bias_free_.wait(load, b.cores, part);
      rt_.dma(channel, load.then({bias_ready_.first, b.cores}).label(0, b.row_block));
    }
  }
  for (uint32_t core = 0; core < b.cores; ++core) {
    const uint32_t row = b.row + core * t_.nq, rows = rows_of(b, core);
    if (rotated(b) > 0) {
      const Matrix to = angles_.of(slot(rotations_, core), rows, what_.head);
      const uint32_t stride = what_.head * kHalfBytes;
      const Matrix from = {what_.angles + uint64_t{row} * stride, rows, what_.head, stride};
      rt_.dma(channel, copy(from, to).after(angles_free_.of(core)).then(angles_ready_.of(core)).label(0, b.row_block));
    }
    if (has_residual()) {
      const Matrix to = residual_.of(slot(blocks_, core), rows, width);
      const uint32_t columns = of_result(n_), apart = panels_ ? rows : 1;
      const uint64_t before = uint64_t{row} * columns + uint64_t{b.column} * apart;
      const Matrix from = {what_.residual + before * kHalfBytes, rows, width, (panels_ ? width : columns) * kHalfBytes};
      rt_.dma(channel,
              copy(from, to).after(residual_free_.of(core)).then(residual_ready_.of(core)).label(0, b.row_block));
    }
  }
}

void Epilogue::compute(const ProductBlock& b, uint32_t core, const Matrix& product, Events ready, const Landing& to) {
  const uint32_t width = of_result(b.columns), rows = rows_of(b, core);
  uint32_t left = operations() - (what_.rotated > 0 && rotated(b) == 0 ? 1 : 0);
  const auto land = [&to](Command& command) {
    command.after(to.after, to.after.span);
    for (const Events& then : to.then) command.then(then, then.span);
  };
  if (left == 0) {  // a block without rotated columns
    Command none = fence();
    land(none.after(ready).label(0, b.row_block));
    rt_.vec(core, none);
    return;
  }
  bool is_first = true;
  // The operation replaces the first `columns` columns.
  const auto issue = [&](hal::Opcode opcode, uint32_t columns) {
    const Matrix here = columns_of(product, 0, columns);
    Command command(opcode, rows);
    command.operand(0, here).operand(1, left == 1 ? columns_of(to.tile, 0, columns) : here).label(0, b.row_block);
    if (is_first) {
      command.after(ready);
    } else {
      command.with(hal::kInOrder);
    }
    is_first = false;
    if (--left == 0) land(command);
    return command;
  };
  if (has_bias()) {
    const uint32_t loads = what_.is_gated != 0 ? 2 : 1;
    Command bias = issue(hal::Opcode::kBias, b.columns);
    bias.operand(2, bias_.of(blocks_.all, 1, b.columns)).after(bias_ready_.of(core), loads);
    rt_.vec(core, bias.then(bias_free_.free(core), loads));
  }
  if (rotated(b) > 0) {
    Command rotate = issue(hal::Opcode::kRotate, rotated(b));
    rotate.operand(2, angles_.of(slot(rotations_, core), rows, what_.head)).after(angles_ready_.of(core));
    rt_.vec(core, rotate.then(angles_free_.of(core)));
  }
  if (what_.is_activated != 0) {
    Command activate = issue(hal::Opcode::kActivate, width);
    activate.raw().tail.activate.function = what_.function;
    if (what_.is_gated != 0) activate.operand(2, columns_of(product, width, width));
    rt_.vec(core, activate);
  }
  if (has_residual()) {
    Command add = issue(hal::Opcode::kAdd, width);
    add.operand(2, residual_.of(slot(blocks_, core), rows, width)).after(residual_ready_.of(core));
    rt_.vec(core, add.then(residual_free_.of(core)));
  }
  if (converts()) {
    Command convert = issue(hal::Opcode::kConvert, width);
    convert.raw().tail.convert.factor = hal::kUnitScale;
    rt_.vec(core, convert);
  }
}

}  // namespace attnvp::firmware
