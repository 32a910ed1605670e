// Version of AttnVP and the current command, for all outputs.
#pragma once

#include <string>

namespace attnvp::text {

std::string version();    // "1.0.0"
std::string generator();  // "AttnVP 1.0.0"

// A word for a POSIX shell, quoted if necessary.
std::string shell_word(const std::string& word);

// The current command in shell syntax, without output paths: equal commands make equal files. Empty if outputs do not
// contain it.
std::string command();
void set_command(std::string text);

}  // namespace attnvp::text
