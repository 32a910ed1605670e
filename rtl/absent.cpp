// Kinds `rtl` of a build without Verilator: known, but refused.
#include "models/engine/engine.h"
#include "models/registry.h"

namespace attnvp {

namespace {
const bool kRtlVecRegistered =
    add_kind(Kind<Engine>("vec", "rtl", "has its datapath in RTL", {"attnvp.vec"}, nullptr)
                 .with_problem([](const MachineConfig& /*machine*/) {
                   return "found 'rtl'; allowed: model (this attnvp was built without Verilator)";
                 }));
}

}  // namespace attnvp
