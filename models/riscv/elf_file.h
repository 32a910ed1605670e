// A RISC-V program as an ELF file: what to load where, its symbols, its source lines.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Dwarf;

namespace attnvp::riscv {

// What is wrong with the file, in one sentence that begins with its name.
struct ElfError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ElfFile {
 public:
  struct Segment {
    std::uint32_t address = 0, bytes = 0;  // in memory; what the file does not give is zero
    std::vector<unsigned char> data;
    std::uint32_t end() const { return address + bytes; }
  };
  struct Symbol {
    std::string name;  // as people write it
    std::uint32_t address = 0, bytes = 0;
    bool function = false;
  };

  explicit ElfFile(std::string path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint32_t entry() const { return entry_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // The program's bytes as loaded; false where it has none.
  bool read(std::uint32_t address, void* data, std::uint32_t bytes) const;
  // A symbol's address; 0 for none of that name.
  std::uint32_t symbol(const std::string& name) const;
  const std::vector<Symbol>& functions() const { return functions_; }  // by address
  const Symbol* function_at(std::uint32_t pc) const;                   // nullptr: outside
  std::string line_at(std::uint32_t pc) const;                         // "file.cpp:12", or empty
  std::vector<std::string> lines_at(std::uint32_t pc) const;  // of code put into its callers theirs too; with folders
  // "function (file.cpp:12)", as far as it is known; else empty.
  std::string place_of(std::uint32_t pc) const;
  // Bytes of a section; empty for none.
  std::vector<unsigned char> section(const std::string& name, std::uint32_t* address = nullptr) const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void read_segments();
  void read_symbols();
  Dwarf* debug() const;  // nullptr: there is none
  void read_lines() const;

  struct Handle;  // of libelf and libdw
  std::string path_;
  std::string image_;
  std::unique_ptr<Handle> handle_;
  std::uint32_t entry_ = 0;
  std::vector<Segment> segments_;
  std::vector<Symbol> functions_;
  std::map<std::string, std::uint32_t> by_name_;
  mutable bool lines_read_ = false;
  mutable std::map<std::uint32_t, std::string> lines_;  // from that address on; empty: a gap
};

}  // namespace attnvp::riscv
