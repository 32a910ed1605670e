// The list of all kinds of measurements.
#include "explore/validate/attention_set.h"
#include "explore/validate/chain_set.h"
#include "explore/validate/data_set.h"
#include "explore/validate/dram_curves.h"
#include "explore/validate/flash_set.h"
#include "explore/validate/sram_set.h"
#include "explore/validate/step_set.h"

namespace attnvp::validate {

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {dram_kind(), sram_kind(), attention_kind(), chain_kind(), step_kind(), flash_kind()};
  return all;
}

}  // namespace attnvp::validate
