// Source lines of an address, from DWARF debug information.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <vector>

namespace attnvp::riscv {

// "/path/file.cpp:12"; for inlined code also the lines of its callers, innermost first.
std::vector<std::string> source_lines(Dwarf_Die* unit, Dwarf_Addr address);

}  // namespace attnvp::riscv
