// The program's only thread beside its main one, by which commands say that they are at work, under ThreadSanitizer: as
// its own program, as what else there is runs in one thread, or in processes of its own.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cli/shared/progress.h"

int main() {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return 77;
  const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  if (end < 0 || dup2(end, STDERR_FILENO) < 0) return 77;
  setenv("TERM", "xterm", 1);
  for (const int milliseconds : {0, 0, 1, 1, 50, 1500}) {
    const attnvp::cli::Waiting waiting("at work");
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  char shown[256] = {};
  if (read(terminal, shown, sizeof shown - 1) <= 0) return 1;
  std::printf("%zu bytes were shown\n", std::char_traits<char>::length(shown));
  return 0;
}
