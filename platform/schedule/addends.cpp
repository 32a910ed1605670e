#include "platform/schedule/addends.h"

#include <cstring>

namespace attnvp::schedule {

std::uint64_t addends_of(const Job& job) {
  hal::Addends addends{};
  if ((job.block.flags & hal::kAddedJob) == 0) return 0;
  std::memcpy(&addends, job.table_at(hal::kBiasAddress)->words.data(), sizeof addends);
  return addends.address;
}

}  // namespace attnvp::schedule
