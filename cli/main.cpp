#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <systemc>

#include "cli/commands.h"
#include "platform/schedule/freed_pages.h"

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

namespace {

#if defined(MADV_POPULATE_WRITE) && !defined(__SANITIZE_ADDRESS__)
// Takes the heap's first pages from the system in one call instead of one fault each. SystemC's library clears 3 MiB of
// them before main.
void fill_heap(int /*argc*/, char** /*argv*/, char** /*environment*/) {
  constexpr int kFirstBytes = 5 << 20, kPageBytes = 4096, kDefaultPadBytes = 128 << 10;
  attnvp::schedule::keep_freed_pages();
  mallopt(M_TOP_PAD, kFirstBytes);
  void* const first = std::malloc(1);
  const auto begin = (reinterpret_cast<std::uintptr_t>(first) + kPageBytes - 1) / kPageBytes * kPageBytes;
  madvise(reinterpret_cast<void*>(begin), kFirstBytes - kPageBytes, MADV_POPULATE_WRITE);
  std::free(first);
  mallopt(M_TOP_PAD, kDefaultPadBytes);
}

// Before the initialisation of libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const fill_heap_first)(int, char**, char**) = fill_heap;
#endif

}  // namespace

// Replaces SystemC's main, which prints a banner.
int main(int argc, char** argv) {
  attnvp::schedule::keep_freed_pages();
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
