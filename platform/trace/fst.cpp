#if ATTNVP_FST
#include <fmt/format.h>
#include <gtkwave/fstapi.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <unordered_map>
#endif

#include "platform/machine/error.h"
#include "platform/trace/waveform.h"

namespace attnvp::trace {

#if ATTNVP_FST

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "attnvp-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw config::ConfigError(
          fmt::format("no temporary folder can be made in {}", std::filesystem::temp_directory_path().string()));
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

constexpr int kFemtoseconds = -15;  // exponent of the time unit in seconds

// Words and lines of the waveform's text.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : text_(text) {}
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

// Copies a waveform in VCD, as VcdWriter writes it, to an FST writer.
class Copy {
 public:
  Copy(std::string_view vcd, void* fst) : cursor_(vcd), fst_(fst) {}

  void run() {
    while (!cursor_.at_end()) {
      std::string_view line = cursor_.line();
      if (line.empty()) continue;
      switch (line.front()) {
        case '$':
          declaration(line);
          break;
        case '#':
          time(line.substr(1));
          break;
        default:
          value(line);
      }
    }
  }

 private:
  struct Variable {
    fstHandle handle = 0;
    std::uint32_t bits = 0;
  };

  void declaration(std::string_view line) {
    const std::string_view keyword = next_word(line);
    if (keyword == "$scope") {
      next_word(line);  // "module"
      fstWriterSetScope(fst_, FST_ST_VCD_MODULE, std::string(next_word(line)).c_str(), nullptr);
    } else if (keyword == "$upscope") {
      fstWriterSetUpscope(fst_);
    } else if (keyword == "$var") {
      const bool is_real = next_word(line) == "real";
      const std::string_view digits = next_word(line);
      Variable variable;
      std::from_chars(digits.data(), digits.data() + digits.size(), variable.bits);
      const std::string id(next_word(line));
      const std::string name(line.substr(0, line.rfind(" $end")));
      variable.handle = fstWriterCreateVar(fst_, is_real ? FST_VT_VCD_REAL : FST_VT_VCD_WIRE, FST_VD_IMPLICIT,
                                           is_real ? 8 : variable.bits, name.c_str(), 0);
      variables_.emplace(id, variable);
    } else if (keyword == "$comment") {
      fstWriterSetComment(fst_, std::string(line.substr(0, line.rfind(" $end"))).c_str());
    }
  }

  void time(std::string_view digits) {
    std::uint64_t time = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), time);
    fstWriterEmitTimeChange(fst_, time);
  }

  void value(std::string_view line) {
    const char form = line.front();  // 'b' and 'r': a number and a blank before the identifier
    const bool is_word = form == 'b' || form == 'r';
    const std::string_view text = is_word ? next_word(line).substr(1) : line.substr(0, 1);
    const std::string_view id = is_word ? line : line.substr(1);
    const Variable& variable = variables_.at(std::string(id));
    if (form == 'r') {
      double number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      fstWriterEmitValueChange(fst_, variable.handle, &number);
      return;
    }
    // The same digits as in VCD, filled up on the left with 0, or with z for no value.
    digits_.assign(variable.bits - std::min<std::size_t>(variable.bits, text.size()), text == "z" ? 'z' : '0');
    digits_.append(text);
    fstWriterEmitValueChange(fst_, variable.handle, digits_.data());
  }

  LineCursor cursor_;
  void* fst_;
  std::unordered_map<std::string, Variable> variables_;
  std::string digits_;
};

}  // namespace

std::string fst_from_vcd(const std::string& vcd) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.fst");
  const auto fail = [&] { throw config::ConfigError(fmt::format("{} cannot be written: is the disk full?", path)); };
  void* const fst = fstWriterCreate(path.c_str(), 1);
  if (fst == nullptr) fail();
  fstWriterSetPackType(fst, FST_WR_PT_LZ4);
  fstWriterSetTimescale(fst, kFemtoseconds);
  fstWriterSetDate(fst, "none");  // the default is the current date
  fstWriterSetVersion(fst, "AttnVP");
  Copy(vcd, fst).run();
  const bool failed = fstWriterGetFseekFailed(fst) != 0;
  fstWriterClose(fst);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (failed || bytes.empty()) fail();
  return bytes;
}

#else

std::string fst_from_vcd(const std::string&) {
  throw config::ConfigError(
      "an .fst waveform needs a build with Verilator's FST library, which was missing; .vcd works");
}

#endif

}  // namespace attnvp::trace
