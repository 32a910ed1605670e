#include "firmware/runtime/dataflow.h"

// Linker-defined bounds of the section that ATTNVP_DATAFLOW fills.
extern "C" {
extern const attnvp::firmware::Dataflow* const __start_attnvp_dataflows;
extern const attnvp::firmware::Dataflow* const __stop_attnvp_dataflows;
}

namespace attnvp::firmware {

Dataflows dataflows() { return {&__start_attnvp_dataflows, &__stop_attnvp_dataflows}; }

namespace {
bool equal(const char* a, const char* b) {
  for (int i = 0; i < hal::kNameBytes; ++i) {
    if (a[i] != b[i]) return false;
    if (a[i] == '\0') return true;
  }
  return true;
}
}  // namespace

const Dataflow* find_dataflow(const char* name) {
  for (const Dataflow* d : dataflows()) {
    if (equal(d->name, name)) return d;
  }
  return nullptr;
}

}  // namespace attnvp::firmware
