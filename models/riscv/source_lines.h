// Source lines of an address, as debug information has them.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <vector>

namespace attnvp::riscv {

// "/path/file.cpp:12"; of code that the compiler has put into its callers theirs as well, from inside out.
std::vector<std::string> source_lines(Dwarf_Die* unit, Dwarf_Addr address);

}  // namespace attnvp::riscv
