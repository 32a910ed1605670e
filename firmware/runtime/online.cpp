#include "firmware/runtime/online.h"

namespace attnvp::firmware {

namespace {

hal::Operand operand(const Matrix& m) { return {m.address, m.stride, 0}; }

Command row_op(hal::Opcode opcode, uint32_t rows, uint32_t columns, uint32_t flags) {
  Command command(opcode);
  Descriptor& d = command.raw();
  d.flags = static_cast<std::uint8_t>(flags);
  d.dims[0] = rows;
  d.dims[1] = columns;
  d.dims[2] = 1;
  return command;
}

}  // namespace

Command online_max(const Matrix& m, const Matrix& before, const Matrix& scales, const Matrix& after, uint32_t flags) {
  Command command = row_op(hal::Opcode::kOnlineMax, m.rows, 1, flags);
  Descriptor& d = command.raw();
  d.operand[0] = operand(m);
  d.operand[1] = operand(before);
  d.operand[2] = operand(scales);
  d.operand[3] = operand(after);
  return command;
}

Command online_softmax(const Matrix& s, const Matrix& p, const Matrix& maximum, const Sums& tile, bool first) {
  Command command = row_op(hal::Opcode::kOnlineSoftmax, s.rows, s.columns, first ? hal::kFirst : 0);
  Descriptor& d = command.raw();
  d.operand[0] = operand(s);
  d.operand[1] = operand(p);
  d.operand[2] = operand(maximum);
  d.operand[3] = operand(tile.denominator());
  return command;
}

Command scale_add(const Sums& running, const Sums& tile, uint32_t flags) {
  return scale_add(running, tile, tile.scales(), flags);
}

Command scale_add(const Sums& running, const Sums& tile, const Matrix& scales, uint32_t flags) {
  Command command = row_op(hal::Opcode::kScaleAdd, running.rows, running.emb + 1, flags);
  Descriptor& d = command.raw();
  d.operand[0] = operand(running.all());
  d.operand[1] = operand(tile.all());
  d.operand[2] = operand(scales);
  return command;
}

Command rescale(const Sums& running, const Matrix& before, const Matrix& after) {
  Command command = row_op(hal::Opcode::kRescale, running.rows, running.emb + 1, 0);
  Descriptor& d = command.raw();
  d.operand[0] = operand(running.all());
  d.operand[1] = operand(before);
  d.operand[2] = operand(after);
  return command;
}

Command divide(const Sums& running, const Matrix& o) {
  Command command = row_op(hal::Opcode::kDivide, running.rows, running.emb, 0);
  Descriptor& d = command.raw();
  d.operand[0] = operand(running.numerators());
  d.operand[1] = operand(o);
  d.operand[2] = operand(running.denominator());
  return command;
}

Command score_tile(const Matrix& q, const Matrix& k, const Matrix& maxima, uint32_t slot) {
  Command command(hal::Opcode::kScoreTile);
  Descriptor& d = command.raw();
  d.flags = hal::kTransposeB;
  d.dims[0] = q.rows;
  d.dims[1] = k.rows;
  d.dims[2] = q.columns;
  d.slot = static_cast<std::uint16_t>(slot);
  d.operand[0] = operand(q);
  d.operand[1] = operand(k);
  d.operand[2] = operand(maxima);
  return command;
}

Command attend_tile(const Matrix& maxima, const Matrix& v, const Sums& tile, uint32_t slot) {
  Command command(hal::Opcode::kAttendTile);
  Descriptor& d = command.raw();
  d.dims[0] = tile.rows;
  d.dims[1] = v.columns;
  d.dims[2] = v.rows;
  d.slot = static_cast<std::uint16_t>(slot);
  d.operand[0] = operand(maxima);
  d.operand[1] = operand(v);
  d.operand[2] = operand(tile.all());
  return command;
}

Command numerators(const Matrix& p, const Matrix& v, const Sums& tile, const hal::Tiling& l0) {
  return matmul_ab(p, v, {}, tile.numerators(), Accumulate::kFirst, l0);
}

}  // namespace attnvp::firmware
