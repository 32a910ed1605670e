#include "platform/cli/commands.h"

namespace attnvp::cli {

int bench(const BenchArguments& /*arguments*/) { return 0; }

}  // namespace attnvp::cli
