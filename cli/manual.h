// What is written from the command line's own description: the man page, and completion for shells.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace attnvp::cli {

std::string man_page(const CLI::App& app);         // roff
std::string bash_completion(const CLI::App& app);  // a script to be sourced

}  // namespace attnvp::cli
