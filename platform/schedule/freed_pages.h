// For programs that choose tiles: recordings of some 100 KiB each are kept for a millisecond, and giving their pages
// back to the system and taking them again would be a fifth of the choice's time.
#pragma once

#include <malloc.h>

namespace attnvp::schedule {

inline void keep_freed_pages() {
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

}  // namespace attnvp::schedule
