// A program that is built sooner: what `./vp demo` runs where nothing is built yet.
#include "cli/line.h"

namespace attnvp::cli {

const std::vector<AddCommands>& commands() {
  static const std::vector<AddCommands> one = {add_compare};
  return one;
}

}  // namespace attnvp::cli
