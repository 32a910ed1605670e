#include <cstdlib>
#include <systemc>

#include "cli/line.h"
#include "platform/schedule/freed_pages.h"

int sc_main(int argc, char** argv) { return attnvp::cli::main(argc, argv, attnvp::cli::commands()); }

// In place of the library's own main, which prints a banner first: stdout and stderr belong to the commands.
int main(int argc, char** argv) {
  attnvp::schedule::keep_freed_pages();
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
