#include "models/engine/descriptor_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/engine/row_mask.h"
#include "models/sim/trace/operation.h"

namespace attnvp {

std::string name_of(hal::ElementType type) {
  if (static_cast<std::uint32_t>(type) < hal::kElementTypeCount) return hal::info_of(type).name;
  return fmt::format("type {}", static_cast<int>(type));
}

namespace {

Refusal check_forwarded(const hal::Descriptor& d) {
  const hal::OperationInfo* const info = hal::find(d.opcode);
  if (info == nullptr || (info->flags & hal::kForwarded) == 0) {
    return {FaultCode::kBadOperand, d.operand[0].address,
            fmt::format("a {} has no result that may pass L1 by", name_of(operation_of(d)))};
  }
  if (info->unit != hal::Unit::kMac || (d.flags & hal::kKept) == 0) return {};
  return {FaultCode::kBadOperand, d.operand[2].address, "partials that wait in L0 do not pass L1 by"};
}

Refusal bad_type(const hal::Descriptor& d, int i, const std::string& known) {
  return {FaultCode::kBadType, d.operand[i].address,
          fmt::format("operand {} of {} is {}; this engine takes {}", i, name_of(operation_of(d)), name_of(d.type[i]),
                      known)};
}

std::string joined(const std::string& known, hal::ElementType type) {
  return known + (known.empty() ? "" : " or ") + name_of(type);
}

Refusal check_columns(const hal::Descriptor& d, int i, std::uint64_t columns) {
  const hal::Operand& o = d.operand[i];
  if (o.columns != columns) {
    return {FaultCode::kBadOperand, o.address,
            fmt::format("operand {} of {} has rows of {} elements instead of {}", i, name_of(operation_of(d)),
                        o.columns, columns)};
  }
  const bool more_rows = i == 1 || d.rows > 1;
  if (hal::element_bytes(d.type[i]) > 1 && ((o.address | (more_rows ? o.row_stride : 0)) & 1) != 0) {
    return {FaultCode::kMisaligned, o.address,
            fmt::format("operand {} of {} is {} at an odd address or stride", i, name_of(operation_of(d)),
                        name_of(d.type[i]))};
  }
  return {};
}

}  // namespace

Refusal check_header(const hal::Descriptor& d) {
  if (d.version != hal::kDescriptorVersion) {
    return {
        FaultCode::kBadVersion, 0,
        fmt::format("a descriptor of version {}; this engine knows version {}", d.version, hal::kDescriptorVersion)};
  }
  if (d.length < hal::kDescriptorBytes || d.length > hal::kMaxDescriptorBytes || d.length % hal::kDescriptorStep != 0) {
    return {FaultCode::kBadLength, 0,
            fmt::format("a descriptor of {} bytes; it may have {} to {}, in steps of {}", d.length,
                        hal::kDescriptorBytes, hal::kMaxDescriptorBytes, hal::kDescriptorStep)};
  }
  if ((d.flags & hal::kForwarded) != 0) return check_forwarded(d);
  return {};
}

Refusal check_length(const hal::Descriptor& d, std::size_t end) {
  if (end <= d.length) return {};
  const std::size_t needed = (end + hal::kDescriptorStep - 1) / hal::kDescriptorStep * hal::kDescriptorStep;
  return {FaultCode::kBadLength, 0,
          fmt::format("a descriptor of {} bytes; this {} needs {}", d.length, name_of(operation_of(d)), needed)};
}

Refusal check_rules(const hal::Descriptor& d) {
  Refusal refusal = check_length(d, hal::length_with(d.flags));
  const hal::Mask& m = d.tail.rule.mask;
  if (refusal.any()) return refusal;
  const bool blocked = (d.flags & hal::kBlocked) != 0,
             biased = (d.flags & (hal::kSloped | hal::kSink | hal::kBucketed)) != 0;
  const auto refused = [&d](const std::string& why) -> Refusal {
    return {FaultCode::kBadOperand, d.operand[0].address, fmt::format("a {} {}", name_of(operation_of(d)), why)};
  };
  if (blocked && (m.block == 0 || (m.block & (m.block - 1)) != 0)) {
    return refused(fmt::format("with a map of blocks of {} keys", m.block));
  }
  if (blocked && (d.flags & hal::kSink) != 0) {
    return refused("with a map of blocks and sinks, which take the same bytes");
  }
  if (blocked && m.queries > 0) {
    const std::uint32_t keys = hal::is_product(d) ? hal::product_of(d).n : d.operand[0].columns;
    const std::uint32_t bits = hal::window_of(m, d.tail.rule.row, d.rows, d.tail.rule.key, keys).bits();
    if (bits > hal::kMapBits) {
      return refused(fmt::format("that needs {} bits of a map of blocks; it has {}", bits, hal::kMapBits));
    }
  }
  if (biased && m.queries == 0) return refused("with biases or sinks of heads on 0 queries");
  if ((d.flags & hal::kMasked) == 0 || (m.any() && m.queries > 0)) return refusal;
  return refused(fmt::format("whose mask is causal {}, window {} on {} queries", int{m.causal}, m.window, m.queries));
}

Refusal check_opcode(const hal::Descriptor& d, hal::Unit unit) {
  const hal::OperationInfo* const info = hal::find(d.opcode);
  if (info != nullptr && info->unit == unit) return {};
  return {FaultCode::kBadOpcode, 0,
          fmt::format("a {} has no opcode {}",
                      unit == hal::Unit::kDma ? "DMA controller" : std::string(hal::name_of(unit)) + " engine",
                      static_cast<int>(d.opcode))};
}

Refusal check_operand(const hal::Descriptor& d, int i) {
  const hal::OperandInfo* const info = hal::operand_info(d, i);
  if (info == nullptr) return {};
  if (hal::takes(d, info->elements, d.type[i])) return check_columns(d, i, hal::value_of(info->columns, d, i));
  std::string known;
  for (const bool integers : {false, true}) {
    for (const hal::ElementTypeInfo& type : hal::kElementTypes) {
      if (hal::is_integer(type.type) == integers && hal::takes(d, info->elements, type.type)) {
        known = joined(known, type.type);
      }
    }
  }
  return bad_type(d, i, known);
}

Refusal check_operands(const hal::Descriptor& d, int count) {
  Refusal refusal;
  for (int i = 0; i < count && !refusal.any(); ++i) refusal = check_operand(d, i);
  return refusal;
}

Refusal check_operand(const hal::Descriptor& d, int i, std::uint64_t columns,
                      std::initializer_list<hal::ElementType> types) {
  if (std::find(types.begin(), types.end(), d.type[i]) != types.end()) return check_columns(d, i, columns);
  std::string known;
  for (const hal::ElementType type : types) known = joined(known, type);
  return bad_type(d, i, known);
}

}  // namespace attnvp
