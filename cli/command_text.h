// The command line as outputs quote it.
#pragma once

#include <string>

namespace attnvp::cli {

// As a shell takes it, without the options that say where outputs go and by how many processes.
std::string command_text(int argc, const char* const* argv);

}  // namespace attnvp::cli
