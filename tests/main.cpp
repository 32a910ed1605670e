#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <systemc>

#include "platform/base/heap.h"

// Every test program's start. libsystemc has a main of its own, which prints a banner and calls sc_main.
int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  if (!GTEST_FLAG_GET(list_tests) && testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fputs("no test matches: that is a failure\n", stderr);
    return 1;
  }
  return status;
}

// Before the constructors of shared libraries, as in cli/main.cpp.
[[gnu::used, gnu::section(".preinit_array")]] static void (*const kBeforeLibraries)() = attnvp::files::set_up_heap;

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  setenv("ATTNVP_PROTOCOL_CHECK", "1",
         0);  // before every target of every platform (models/interconnect/bus/protocol_checker.h)
  return sc_core::sc_elab_and_sim(argc, argv);
}
