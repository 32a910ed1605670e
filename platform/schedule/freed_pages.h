// malloc settings for programs that choose tiles. Recordings of about 100 KiB live for a millisecond; returning their
// pages to the system each time takes a fifth of the time.
#pragma once

#include <malloc.h>

namespace attnvp::schedule {

inline void keep_freed_pages() {
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

}  // namespace attnvp::schedule
