#include "cli/interruption.h"

namespace attnvp::cli {

namespace {
volatile std::sig_atomic_t interrupted = 0;
}

Interruption::Interruption() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends the program
  ::sigaction(SIGINT, &action, &before_[0]);
  ::sigaction(SIGTERM, &action, &before_[1]);
}

Interruption::~Interruption() {
  ::sigaction(SIGINT, &before_[0], nullptr);
  ::sigaction(SIGTERM, &before_[1], nullptr);
}

bool Interruption::happened() { return interrupted != 0; }

}  // namespace attnvp::cli
