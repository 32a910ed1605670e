#include <malloc.h>

#include <cstdlib>
#include <systemc>

#include "cli/line.h"

int sc_main(int argc, char** argv) { return attnvp::cli::main(argc, argv, attnvp::cli::commands()); }

// In place of the library's own main, which prints a banner first: stdout and stderr belong to the commands.
int main(int argc, char** argv) {
  // The choice of tiles keeps recordings of some 100 KiB, each for a millisecond: giving their pages back to the system
  // and taking them again was a fifth of its time.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
