// Settings of malloc for this project's programs; call before most of the heap is used.
#pragma once

namespace attnvp::files {

// Freed memory stays with the process, because recordings of command streams live for a millisecond. The first 128 MiB
// of the heap lie in huge pages, if the kernel has them. Events touch the state of all clusters in turns, 100 MB for a
// GPU, and runs of `h100` take 10 to 20% less time without translation in pages of 4 KiB. Without effect where the C
// library or the kernel lacks these settings.
void set_up_heap();

}  // namespace attnvp::files
