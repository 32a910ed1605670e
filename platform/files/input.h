// Files that a command reads: whole, of a bounded size, and remembered, so that no output takes their place.
#pragma once

#include <cstdint>
#include <string>

namespace attnvp::files {

// The whole of a regular file. Throws config::ConfigError: not there, not a regular file (a pipe would keep the
// command waiting), larger than `most_bytes`, not readable.
std::string read_file(const std::string& path, std::uint64_t most_bytes);

// For readers of their own: the file is an input of this process from now on.
void note_input(const std::string& path);

// The path of an input that is the very file at `path`, whatever the names (links too); empty when there is none.
std::string input_at(const std::string& path);

}  // namespace attnvp::files
