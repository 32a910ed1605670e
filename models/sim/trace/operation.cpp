#include "models/sim/trace/operation.h"

#include <array>

#include "firmware/hal/registers.h"

namespace attnvp {

namespace {

constexpr std::size_t kLast = static_cast<std::size_t>(kUnknownOperation);

struct Named {
  std::array<const char*, kLast + 2> name{};  // ends with nullptr
  std::array<Made, kLast + 1> made{};
};
constexpr Named kNamed = [] {
  Named named;
  named.name[0] = "idle";
  std::size_t index = 1;
  for (const hal::OperationInfo& info : hal::kOperations) {
    for (int i = 0; i < variants_of(info); ++i, ++index) {
      named.name[index] = info.traced[i];
      named.made[index] = {info.made[i], info.unit};
    }
  }
  named.name[index] = "unknown";
  return named;
}();

// True for copies to an L1, or from DRAM into L2.
bool is_load(const hal::Descriptor& d) {
  const std::uint64_t from = d.operand[0].address, to = d.operand[1].address;
  return to >= hal::kL1Base || (to >= hal::kL2Base && from < hal::kL2Base);
}

}  // namespace

const char* const* const kOperationNames = kNamed.name.data();

Operation operation_of(const hal::Descriptor& d) {
  const hal::OperationInfo* const info = hal::find(d.opcode);
  if (info == nullptr) return kUnknownOperation;
  static constexpr auto kFirst = [] {
    std::array<std::uint8_t, hal::kOperationCount> first{};
    for (const hal::OperationInfo& each : hal::kOperations) {
      first[static_cast<std::size_t>(each.opcode)] = static_cast<std::uint8_t>(traced(each.opcode));
    }
    return first;
  }();
  const bool is_first = info->variants == hal::Variants::kByTranspose   ? hal::is_transposed(d)
                        : info->variants == hal::Variants::kByDirection ? is_load(d)
                                                                        : true;
  return static_cast<Operation>(kFirst[static_cast<std::size_t>(d.opcode)] + (is_first ? 0 : 1));
}

Made made_by(Operation operation) { return kNamed.made[static_cast<std::size_t>(operation)]; }

}  // namespace attnvp
