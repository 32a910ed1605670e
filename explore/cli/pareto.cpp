#include "explore/cli/commands.h"
namespace attnvp::cli {
int pareto(const ParetoArguments&) { return 0; }
int sensitivity(const SensitivityArguments&) { return 0; }
}
