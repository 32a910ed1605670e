// RISC-V program as an ELF file: segments, symbols, source lines and printable output.
#pragma once

#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Dwarf;

namespace attnvp::riscv {

// Error in the file, as one sentence that begins with its name.
struct ElfError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ElfFile {
 public:
  struct LoadSegment {
    std::uint32_t address = 0, bytes = 0;  // size in memory; bytes beyond `data` are zero
    std::vector<unsigned char> data;
    std::uint32_t end() const { return address + bytes; }
  };
  struct ElfSymbol {
    std::string name;  // demangled
    std::uint32_t address = 0, bytes = 0;
    bool function = false;
  };

  explicit ElfFile(std::string path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint32_t entry() const { return entry_; }
  const std::vector<LoadSegment>& segments() const { return segments_; }
  // Reads bytes of the loaded program; false if the range is outside.
  bool read(std::uint32_t address, void* data, std::uint32_t bytes) const;
  // Address of a symbol; 0: no such symbol.
  std::uint32_t symbol(const std::string& name) const;
  const std::vector<ElfSymbol>& functions() const { return functions_; }  // by address
  const ElfSymbol* function_at(std::uint32_t pc) const;                   // nullptr: outside
  std::string line_at(std::uint32_t pc) const;                            // "file.cpp:12", or empty
  std::vector<std::string> lines_at(std::uint32_t pc) const;  // inlined code: also the callers' lines; with folders
  // "function (file.cpp:12)"; unknown parts are omitted.
  std::string place_of(std::uint32_t pc) const;
  // Bytes of a section; empty if there is none.
  std::vector<unsigned char> section(const std::string& name, std::uint32_t* address = nullptr) const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void read_segments();
  void read_symbols();
  Dwarf* debug() const;  // nullptr: no debug information
  void read_lines() const;

  struct Handle;  // handles of libelf and libdw
  std::string path_;
  std::string image_;
  std::unique_ptr<Handle> handle_;
  std::uint32_t entry_ = 0;
  std::vector<LoadSegment> segments_;
  std::vector<ElfSymbol> functions_;
  std::map<std::string, std::uint32_t> by_name_;
  mutable bool lines_read_ = false;
  mutable std::map<std::uint32_t, std::string> lines_;  // by first address; empty: a gap
};

// Source lines of an address, from DWARF debug information.

// "/path/file.cpp:12"; for inlined code also the lines of its callers, innermost first.
std::vector<std::string> source_lines(Dwarf_Die* unit, Dwarf_Addr address);

// Console output of programs as printable lines.

// Appends a character to a line. Non-printable characters become \t, \r or \xHH.
inline void append_printable(std::string& line, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7f) {
    line += c;
  } else if (c == '\t') {
    line += "\\t";
  } else if (c == '\r') {
    line += "\\r";
  } else {
    fmt::format_to(std::back_inserter(line), "\\x{:02x}", byte);
  }
}

}  // namespace attnvp::riscv
