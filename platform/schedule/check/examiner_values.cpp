// Provenance of values: the tensor rows they come from, and which values belong together.
#include "platform/schedule/check/examiner.h"

namespace attnvp::schedule::check {

// Source address in Q, K or V of bytes that a copy wrote, and the row stride there; 0: another source.
std::uint64_t Examiner::source_of(const Touch& write, std::uint64_t address, std::uint64_t& row_stride) const {
  const TraceLine& line = trace_.lines[write.line];
  if (line.steps[write.step].copy_path == CopyPath::kEngine) return 0;
  const hal::Descriptor& d = trace_.descriptors[line.commands[write.step]];
  const hal::Operand &from = d.operand[0], &to = d.operand[1];
  const hal::Layer& l = job_.block.layer;
  if (from.address < l.q || from.address >= l.o) return 0;
  const std::uint64_t apart = d.tail.copy.plane_stride[1];
  const std::uint64_t plane = d.tail.copy.planes > 1 && apart > 0 ? (write.region.address - to.address) / apart : 0;
  const std::uint64_t offset = address - write.region.address;
  row_stride = from.row_stride;
  return from.address + plane * d.tail.copy.plane_stride[0] + offset / to.row_stride * from.row_stride +
         offset % to.row_stride;
}

// Rows written by several copies must be consecutive in the tensor; otherwise they are left over from an earlier tile.
// Does not apply to paged caches.
Interval Examiner::torn(const Region& region) const {
  if (fused_of(job_).is_gated != 0) return {};  // a tile of gates and factors is two runs of rows
  const Touch* before = shadow_.latest_write(region);
  if (before == nullptr || region.rows < 2 || contains(before->region, region) || !job_.pages.empty()) return {};
  before = nullptr;
  std::uint64_t source = 0;
  for (std::uint64_t row = 0; row < region.rows; ++row) {
    const Region one{region.address + row * region.row_stride, 1, region.row_bytes, 0};
    const Touch* write = shadow_.latest_write(one);
    if (write == nullptr || !contains(write->region, one)) return {};
    std::uint64_t stride = 0;
    const std::uint64_t from = source_of(*write, one.address, stride);
    if (from == 0) return {};
    if (before != nullptr && write != before && from != source + stride) return {one.address, one.end()};
    before = write;
    source = from;
  }
  return {};
}

void Examiner::keys(LineId line, std::uint32_t step) {
  const hal::Descriptor& d = trace_.descriptors[trace_.lines[line].commands[step]];
  const hal::Layer& l = job_.block.layer;
  KeyTracker::TensorRow of_k, of_v;
  if (const Touch* write = shadow_.latest_write({d.operand[1].address, 1, 1, 0})) {
    std::uint64_t stride = 0;
    const std::uint64_t from = source_of(*write, d.operand[1].address, stride);
    if (stride > 0 && from >= l.v) {
      of_v = (from - l.v) / stride;
    } else if (stride > 0 && from >= l.k) {
      of_k = (from - l.k) / stride;
    }
  }
  std::string wrong = keys_.follow(line, d, of_k, of_v);
  if (const Touch* write =
          hal::is_transposed(d) && of_k ? shadow_.latest_write({d.operand[0].address, 1, 1, 0}) : nullptr) {
    std::uint64_t stride = 0;
    const std::uint64_t from = source_of(*write, d.operand[0].address, stride);
    // VEC has written rows behind a norm, an engine those of a second product.
    const bool is_written = fused_of(job_).gamma != 0 || second_of(job_).columns != 0;
    if (!is_written && (stride == 0 || from >= l.k))
      wrong = "scores are products of rows of Q, these are of something else";
  }
  if (wrong.empty()) return;
  Finding f;
  f.kind = FindingKind::kKeys;
  f.parties.push_back(party(line, step, "reads", d.operand[1].address));
  f.detail = std::move(wrong);
  add(std::move(f), line, line);
}

// Command of an engine that wrote the byte at an address, and its access; nullptr: no engine.
const hal::Descriptor* Examiner::maker(std::uint64_t address, const Touch*& by) const {
  by = shadow_.latest_write({address, 1, 1, 0});
  if (by == nullptr || trace_.lines[by->line].steps[by->step].copy_path != CopyPath::kEngine) return nullptr;
  return &trace_.descriptors[trace_.lines[by->line].commands[by->step]];
}

// Numerators, denominators and scale factor of a tile must use the same maximum: that of one softmax, or the one used
// by the array's exponentials if scores stay in the array.
void Examiner::scales(LineId line, std::uint32_t step) {
  using hal::Opcode;
  const hal::Descriptor& d = trace_.descriptors[trace_.lines[line].commands[step]];
  const auto made_by = [&](std::uint64_t address, Opcode opcode) {
    const Touch* by = nullptr;
    const hal::Descriptor* const command = maker(address, by);
    return command != nullptr && command->opcode == opcode ? Maximum{by->line, by->step, by->region.address}
                                                           : Maximum{};
  };
  const auto known_of = [&](std::uint64_t address, Opcode opcode) {  // maximum used by the command that wrote this
    const Maximum by = made_by(address, opcode);
    const auto found = made_with_.find({by.line, by.step});
    return found == made_with_.end() ? Maximum{} : found->second;
  };
  const auto compare = [&](const Maximum& one, const Maximum& other, const char* detail) {
    if (one.line == kNone || other.line == kNone || one == other) return;
    Finding f;
    f.kind = FindingKind::kScales;
    f.parties = {party(one.line, one.step, "writes", one.address), party(line, step, "reads", d.operand[1].address)};
    f.detail = detail;
    add(std::move(f), one.line, line);
  };
  Maximum with;
  if (d.opcode == Opcode::kMatmul) with = made_by(d.operand[0].address, Opcode::kOnlineSoftmax);
  if (d.opcode == Opcode::kAttendTile) with = made_by(d.operand[0].address, Opcode::kOnlineMax);
  if (d.opcode == Opcode::kRescale) with = made_by(d.operand[2].address, Opcode::kOnlineMax);
  if (with.line != kNone) made_with_[{line, step}] = with;
  if (d.opcode != Opcode::kScaleAdd) return;
  Maximum numerators = known_of(d.operand[1].address, Opcode::kMatmul);
  if (numerators.line == kNone) numerators = known_of(d.operand[1].address, Opcode::kAttendTile);
  const Maximum denominators = made_by(d.operand[1].address + d.row_bytes(1) - 1, Opcode::kOnlineSoftmax);
  compare(denominators, numerators, "the denominators are of another tile than the numerators");
  if ((d.flags & hal::kFirst) != 0) return;
  // Running sums come from an engine, or from memory where another worker stored them.
  const Touch* by = nullptr;
  const hal::Descriptor* const before = maker(d.operand[0].address, by);
  std::uint64_t stride = 0;
  const bool sums = before != nullptr ? before->opcode == Opcode::kScaleAdd || before->opcode == Opcode::kRescale
                                      : by == nullptr || source_of(*by, d.operand[0].address, stride) == 0;
  if (!sums) compare({by->line, by->step, by->region.address}, {line, step, 0}, "that is no running sums to add to");
  const Maximum tile = denominators.line != kNone ? denominators : numerators;
  const Maximum factor = (d.flags & hal::kUnscaled) != 0 ? known_of(d.operand[0].address, Opcode::kRescale)
                         : denominators.line != kNone    ? made_by(d.operand[2].address, Opcode::kOnlineSoftmax)
                                                         : made_by(d.operand[2].address, Opcode::kOnlineMax);
  compare(factor, tile, "the factor is of another tile than the sums that are added");
}

}  // namespace attnvp::schedule::check
