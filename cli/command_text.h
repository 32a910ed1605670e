// The command line as outputs quote it.
#pragma once

#include <string>

namespace attnvp::cli {

std::string quoted(const std::string& word);  // for a shell, where it needs to be

// As a shell takes it, without the options that say where outputs go and by how many processes.
std::string command_text(int argc, const char* const* argv);

}  // namespace attnvp::cli
