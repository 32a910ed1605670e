// Settings of malloc for this project's programs; call at the start of main().
#pragma once

namespace attnvp::files {

// Freed memory stays with the process: recordings of command streams live for a millisecond. The heap lies in huge
// pages, where the host has them: events touch the state of all clusters of a machine in turns, 100 MB for a GPU, and
// translating addresses in pages of 4 KiB would take a quarter of the time. Without effect where the C library or the
// kernel lacks these settings.
void set_up_heap();

}  // namespace attnvp::files
