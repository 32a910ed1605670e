#include "models/control/riscv/elf_file.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "platform/base/files.h"
#include "platform/machine/error.h"

namespace attnvp::riscv {

namespace {

constexpr std::uint32_t kMostSymbols = 1U << 20;
constexpr std::uint64_t kLargestFileBytes = std::uint64_t{1} << 30;  // including debug information

std::string readable(const char* name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  if (plain == nullptr) return name;
  std::string text = plain;
  std::free(plain);
  return text;
}

// File name without folders, which depend on the compiler.
std::string base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace

struct ElfFile::Handle {
  ~Handle() {
    if (dwarf != nullptr) dwarf_end(dwarf);
    if (elf != nullptr) elf_end(elf);
  }
  Elf* elf = nullptr;
  Dwarf* dwarf = nullptr;
};

void ElfFile::refuse(const std::string& why) const { throw ElfError(fmt::format("{}: {}", path_, why)); }

ElfFile::ElfFile(std::string path) : path_(std::move(path)), handle_(std::make_unique<Handle>()) {
  try {
    image_ = files::read_file(path_, kLargestFileBytes);
  } catch (const config::ConfigError& problem) {
    throw ElfError(problem.what());
  }
  elf_version(EV_CURRENT);
  if (image_.size() < EI_NIDENT || std::memcmp(image_.data(), ELFMAG, SELFMAG) != 0) refuse("not an ELF file");
  handle_->elf = elf_memory(image_.data(), image_.size());
  GElf_Ehdr header;
  if (handle_->elf == nullptr || gelf_getehdr(handle_->elf, &header) == nullptr) refuse("its ELF header is truncated");
  if (header.e_machine != EM_RISCV) refuse(fmt::format("its machine is {}, not RISC-V (243)", header.e_machine));
  if (gelf_getclass(handle_->elf) != ELFCLASS32) refuse("it is a program of 64 bits; allowed is RV32");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) refuse("it is big-endian; allowed is little-endian");
  if (header.e_type != ET_EXEC) refuse("it is not a linked program (ET_EXEC)");
  entry_ = static_cast<std::uint32_t>(header.e_entry);
  read_segments();
  read_symbols();
}

ElfFile::~ElfFile() = default;

void ElfFile::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(handle_->elf, &count) != 0) refuse("its program headers are truncated");
  bool entered = false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(handle_->elf, static_cast<int>(i), &header) == nullptr)
      refuse("its program headers are truncated");
    if (header.p_type != PT_LOAD || header.p_memsz == 0) continue;
    if (header.p_filesz > header.p_memsz || header.p_offset > image_.size() ||
        header.p_filesz > image_.size() - header.p_offset) {
      refuse(fmt::format("it is truncated: segment {} needs {} bytes from {} on, the file has {}", i, header.p_filesz,
                         header.p_offset, image_.size()));
    }
    if (header.p_paddr + header.p_memsz > std::uint64_t{1} << 32) {
      refuse(fmt::format("segment {} ends at {:#x}, outside of 32 bits", i, header.p_paddr + header.p_memsz));
    }
    LoadSegment s;
    s.address = static_cast<std::uint32_t>(header.p_paddr);
    s.bytes = static_cast<std::uint32_t>(header.p_memsz);
    s.data.assign(image_.data() + header.p_offset, image_.data() + header.p_offset + header.p_filesz);
    for (const LoadSegment& other : segments_) {
      if (s.address < other.address + std::uint64_t{other.bytes} && other.address < header.p_paddr + header.p_memsz) {
        refuse(fmt::format("its segments at {:#x} and {:#x} overlap", other.address, s.address));
      }
    }
    entered = entered || entry_ - s.address < s.bytes;
    segments_.push_back(std::move(s));
  }
  if (segments_.empty()) refuse("it has nothing to load");
  if (!entered) refuse(fmt::format("its entry {:#x} is outside of what it loads", entry_));
}

void ElfFile::read_symbols() {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(handle_->elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB || header.sh_entsize == 0) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::uint64_t count = std::min<std::uint64_t>(header.sh_size / header.sh_entsize, kMostSymbols);
    for (int i = 0; data != nullptr && static_cast<std::uint64_t>(i) < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) break;
      const char* name = elf_strptr(handle_->elf, header.sh_link, symbol.st_name);
      if (name == nullptr || *name == '\0' || symbol.st_shndx == SHN_UNDEF) continue;
      const int type = GELF_ST_TYPE(symbol.st_info);
      by_name_.emplace(name, static_cast<std::uint32_t>(symbol.st_value));
      if (type != STT_FUNC) continue;
      functions_.push_back({readable(name), static_cast<std::uint32_t>(symbol.st_value),
                            static_cast<std::uint32_t>(symbol.st_size), true});
    }
  }
  std::stable_sort(functions_.begin(), functions_.end(),
                   [](const ElfSymbol& a, const ElfSymbol& b) { return a.address < b.address; });
}

Dwarf* ElfFile::debug() const {
  if (handle_->dwarf == nullptr) handle_->dwarf = dwarf_begin_elf(handle_->elf, DWARF_C_READ, nullptr);
  return handle_->dwarf;
}

void ElfFile::read_lines() const {
  lines_read_ = true;
  if (debug() == nullptr) return;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(debug(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&die, &lines, &count) != 0) continue;
    for (std::size_t i = 0; i < count; ++i) {
      Dwarf_Line* line = dwarf_onesrcline(lines, i);
      Dwarf_Addr address = 0;
      int number = 0;
      bool ends = false;
      dwarf_lineaddr(line, &address);
      dwarf_lineno(line, &number);
      dwarf_lineendsequence(line, &ends);
      const char* file = dwarf_linesrc(line, nullptr, nullptr);
      const auto at = static_cast<std::uint32_t>(address);
      if (at == 0) continue;  // function removed by the linker
      if (ends || file == nullptr) {
        lines_.emplace(at, "");
      } else {
        lines_[at] = fmt::format("{}:{}", base_name(file), number);
      }
    }
  }
}

bool ElfFile::read(std::uint32_t address, void* data, std::uint32_t bytes) const {
  for (const LoadSegment& s : segments_) {
    const std::uint32_t offset = address - s.address;
    if (offset >= s.bytes || s.bytes - offset < bytes) continue;
    std::memset(data, 0, bytes);
    if (offset < s.data.size()) {
      std::memcpy(data, s.data.data() + offset, std::min<std::size_t>(bytes, s.data.size() - offset));
    }
    return true;
  }
  return false;
}

std::uint32_t ElfFile::symbol(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? 0 : found->second;
}

const ElfFile::ElfSymbol* ElfFile::function_at(std::uint32_t pc) const {
  auto above = std::upper_bound(functions_.begin(), functions_.end(), pc,
                                [](std::uint32_t at, const ElfSymbol& s) { return at < s.address; });
  if (above == functions_.begin()) return nullptr;
  const ElfSymbol& s = *std::prev(above);
  const bool open_ended = s.bytes == 0;  // symbol without a size, from assembler code
  return open_ended || pc - s.address < s.bytes ? &s : nullptr;
}

std::string ElfFile::line_at(std::uint32_t pc) const {
  if (!lines_read_) read_lines();
  const auto above = lines_.upper_bound(pc);
  return above == lines_.begin() ? std::string() : std::prev(above)->second;
}

std::vector<std::string> ElfFile::lines_at(std::uint32_t pc) const {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (debug() != nullptr && dwarf_get_units(debug(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    if (dwarf_haspc(&die, pc) > 0) return source_lines(&die, pc);
  }
  return {};
}

std::string ElfFile::place_of(std::uint32_t pc) const {
  const ElfSymbol* function = function_at(pc);
  const std::string line = line_at(pc);
  if (function == nullptr) return line;
  return line.empty() ? function->name : fmt::format("{} ({})", function->name, line);
}

std::vector<unsigned char> ElfFile::section(const std::string& name, std::uint32_t* address) const {
  std::size_t names = 0;
  elf_getshdrstrndx(handle_->elf, &names);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(handle_->elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* its = elf_strptr(handle_->elf, names, header.sh_name);
    if (its == nullptr || name != its) continue;
    if (address != nullptr) *address = static_cast<std::uint32_t>(header.sh_addr);
    Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    return {bytes, bytes + data->d_size};
  }
  return {};
}

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
