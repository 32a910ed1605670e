#include "models/control/riscv/source_lines.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <cstdlib>

namespace attnvp::riscv {

std::vector<std::string> source_lines(Dwarf_Die* unit, Dwarf_Addr address) {
  std::vector<std::string> lines;
  const auto add = [&](const char* file, std::uint64_t line) {
    if (file != nullptr) lines.push_back(fmt::format("{}:{}", file, line));
  };
  if (Dwarf_Line* line = dwarf_getsrc_die(unit, address)) {
    int number = 0;
    dwarf_lineno(line, &number);
    add(dwarf_linesrc(line, nullptr, nullptr), static_cast<std::uint64_t>(number));
  }
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(unit, address, &scopes);
  Dwarf_Files* files = nullptr;
  if (count > 0) dwarf_getsrcfiles(unit, &files, nullptr);
  for (int i = 0; i < count && files != nullptr; ++i) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, number = 0;
    if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &file) != 0) continue;
    if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &number) != 0) continue;
    add(dwarf_filesrc(files, file, nullptr, nullptr), number);
  }
  std::free(scopes);
  return lines;
}

}  // namespace attnvp::riscv
