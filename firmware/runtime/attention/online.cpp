#include "firmware/runtime/attention/online.h"

namespace attnvp::firmware {

namespace {

Command row_op(hal::Opcode opcode, uint32_t rows, uint32_t flags) {
  Command command(opcode, rows);
  command.raw().flags = static_cast<std::uint16_t>(flags);
  return command;
}

Matrix words(const Matrix& m, uint32_t columns) {
  return {m.address, m.rows, columns, m.stride, hal::ElementType::kFp32};
}

uint32_t scales(uint32_t flags) { return (flags & hal::kTwoScales) != 0 ? 2 : 1; }

}  // namespace

Command online_max(const Matrix& m, const Matrix& before, const Matrix& scale, const Matrix& after, uint32_t flags) {
  Command command = row_op(hal::Opcode::kOnlineMax, m.rows, flags);
  command.operand(0, m).operand(1, before).operand(2, words(scale, scales(flags))).operand(3, after);
  return command;
}

Command online_softmax(const Matrix& s, const Matrix& p, const Matrix& maximum, const Sums& tile, bool first) {
  Command command = row_op(hal::Opcode::kOnlineSoftmax, s.rows, first ? hal::kFirst : 0);
  command.operand(0, s).operand(1, p).operand(2, maximum).operand(3, words(tile.denominator(), 2));
  return command;
}

Command scale_add(const Sums& running, const Sums& tile, uint32_t flags) {
  return scale_add(running, tile, tile.scales(), flags);
}

Command scale_add(const Sums& running, const Sums& tile, const Matrix& scale, uint32_t flags) {
  Command command = row_op(hal::Opcode::kScaleAdd, running.rows, flags);
  command.operand(0, running.all()).operand(1, tile.all()).operand(2, words(scale, scales(flags)));
  return command;
}

Command rescale(const Sums& running, const Matrix& before, const Matrix& after) {
  return Command(hal::Opcode::kRescale, running.rows).operand(0, running.all()).operand(1, before).operand(2, after);
}

Command divide(const Sums& running, const Matrix& o) {
  return Command(hal::Opcode::kDivide, running.rows)
      .operand(0, running.numerators())
      .operand(1, o)
      .operand(2, running.denominator());
}

void add_sinks(Runtime& rt, Command& divide, const Matrix& maximum, uint32_t head, uint32_t row,
               const hal::Mask& mask) {
  if (!rt.has_sinks()) return;
  divide.operand(3, maximum);
  rt.add_sinks(divide, head, row, mask);
}

Command score_tile(const Matrix& q, const Matrix& k, const Matrix& maxima, uint32_t slot) {
  Command command(hal::Opcode::kScoreTile, q.rows);
  command.operand(0, q).operand(1, k).operand(2, maxima);
  command.raw().flags = hal::kTransposeB;
  command.raw().tail.tile = {k.rows, static_cast<std::uint16_t>(slot)};
  return command;
}

Command attend_tile(const Matrix& maxima, const Matrix& v, const Sums& tile, uint32_t slot) {
  Command command(hal::Opcode::kAttendTile, tile.rows);
  command.operand(0, maxima).operand(1, v).operand(2, tile.all());
  command.raw().tail.tile = {v.rows, static_cast<std::uint16_t>(slot)};
  return command;
}

Command numerators(const Matrix& p, const Matrix& v, const Sums& tile, const L0Tile& l0) {
  return matmul_ab(p, v, tile.numerators(), l0);
}

}  // namespace attnvp::firmware
