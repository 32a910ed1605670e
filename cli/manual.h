// Man page and shell completion, generated from the command line's description.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace attnvp::cli {

std::string man_page(const CLI::App& app);         // roff
std::string bash_completion(const CLI::App& app);  // a script to source

}  // namespace attnvp::cli
