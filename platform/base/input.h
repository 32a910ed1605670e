// Input files of a command: read completely, bounded in size, and recorded, so that no output overwrites them.
#pragma once

#include <cstdint>
#include <string>

namespace attnvp::files {

// Reads a regular file. Throws config::ConfigError: missing, not a regular file (a pipe would block), larger than
// `most_bytes`, unreadable.
std::string read_file(const std::string& path, std::uint64_t most_bytes);

// Records a file as input of this process, for readers that do not use read_file().
void note_input(const std::string& path);

// Path of the recorded input that is the same file as `path`, also through links; empty: none.
std::string input_at(const std::string& path);

}  // namespace attnvp::files
