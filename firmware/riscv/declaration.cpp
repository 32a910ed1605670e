// Checks that declaration.h describes the layout that this compiler generates.
#include "firmware/riscv/declaration.h"

#include "firmware/runtime/dataflow.h"

namespace attnvp::riscv {

using firmware::Dataflow;
using firmware::Parameter;

static_assert(sizeof(Dataflow) == sizeof(DataflowLayout) && sizeof(Parameter) == sizeof(ParameterLayout), "sizes");
static_assert(sizeof(firmware::DataflowOption) == sizeof(OptionLayout), "options");
static_assert(sizeof(firmware::Statistic) == sizeof(StatisticLayout), "statistics");
static_assert(sizeof(firmware::NamedValue) == sizeof(NamedValueLayout), "named values");
#define SAME(Type, field) \
  static_assert(__builtin_offsetof(Type, field) == __builtin_offsetof(Type##Layout, field), #field)
SAME(Dataflow, parameters);
SAME(Dataflow, statistics);
SAME(Dataflow, scores);
SAME(Dataflow, traits);
SAME(Parameter, grain);
SAME(Parameter, most);
SAME(Parameter, none);
SAME(Parameter, tries);
SAME(Parameter, in_command);
SAME(Parameter, guess);
SAME(Parameter, named);
using firmware::NamedValue;
SAME(NamedValue, same);

extern const std::uint32_t abi;
__attribute__((section("attnvp_abi"), used)) const std::uint32_t abi = kDeclarationVersion;

}  // namespace attnvp::riscv
