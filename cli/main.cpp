#include <cstdlib>
#include <systemc>

#include "cli/commands.h"
#include "platform/base/heap.h"

int sc_main(int argc, char** argv) {
  using namespace attnvp::cli;
#ifdef ATTNVP_DEMO  // reduced program of `./vp demo`, built faster
  return main(argc, argv, {add_compare});
#else
  return main(argc, argv,
              {
                  add_run,      add_compare, add_list,   add_describe,    add_search,    add_reproduce,
                  add_sweep,    add_merge,   add_pareto, add_sensitivity, add_serve,     add_explain,
                  add_schedule, add_check,   add_stream, add_validate,    add_calibrate, add_new,
                  add_riscv,    add_profile, add_report, add_bench,       add_cache,     add_worker,
              });
#endif
}

// Before the constructors of shared libraries, of which SystemC's fills 3 MB.
[[gnu::used, gnu::section(".preinit_array")]] static void (*const kBeforeLibraries)() = attnvp::files::set_up_heap;

// Replaces SystemC's main, which prints a banner.
int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
