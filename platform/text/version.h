// Which AttnVP this is; every output says so.
#pragma once

#include <string>

namespace attnvp::text {

std::string version();    // "0.9.0"
std::string generator();  // "AttnVP 0.9.0"

// A word for a POSIX shell, in quotes where it needs them.
std::string shell_word(const std::string& word);

// The command that is being run, as a shell takes it, without where its outputs go: equal ones make equal files. Empty
// where that is nobody's business.
std::string command();
void set_command(std::string text);

}  // namespace attnvp::text
