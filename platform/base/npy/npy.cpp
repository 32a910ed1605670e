#include "platform/base/npy/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "models/arith/half.h"
#include "platform/base/files.h"
#include "platform/machine/error.h"

namespace attnvp::tensors {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkElements = 16384;
constexpr std::size_t kLargestHeaderBytes = 1 << 16;  // NumPy itself accepts at most 10000 characters

std::size_t element_bytes(NpyType type) { return type == NpyType::kFloat16 ? 2 : 4; }

std::optional<std::size_t> element_count(const std::vector<std::size_t>& shape) {
  if (std::find(shape.begin(), shape.end(), std::size_t{0}) != shape.end()) return 0;
  std::size_t count = 1;
  for (const std::size_t size : shape) {
    if (size > std::numeric_limits<std::size_t>::max() / 8 / count) return std::nullopt;
    count *= size;
  }
  return count;
}

// Converts little-endian bytes to and from a number, independent of the host's byte order.
std::uint32_t from_bytes(const unsigned char* bytes, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = (value << 8) | bytes[i];
  return value;
}

void to_bytes(std::uint32_t value, unsigned char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, value >>= 8) bytes[i] = static_cast<unsigned char>(value & 0xff);
}

float float_from_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::uint32_t bits_of_float(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

class NpyReader {
 public:
  explicit NpyReader(const std::string& path) : path_(path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) fail("cannot be read: no such file");
    if (!fs::is_regular_file(status)) fail("cannot be read: not a regular file");
    left_bytes_ = fs::file_size(path, error);
    files::note_input(path);
    file_.open(path, std::ios::binary);
    if (!file_ || error) fail("cannot be read: permission denied");
  }

  Array read() {
    const NpyHeader header = read_header();
    if (header.fortran_order) fail("is in Fortran order; allowed is C order (numpy.ascontiguousarray)");
    if (header.descr != "<f2" && header.descr != "<f4") {
      fail(fmt::format("has element type '{}'; allowed are '<f2' and '<f4', little-endian float16 and float32",
                       header.descr));
    }
    const NpyType type = header.descr == "<f2" ? NpyType::kFloat16 : NpyType::kFloat32;
    const std::optional<std::size_t> count = element_count(header.shape);
    if (!count) fail(fmt::format("has the absurd shape {}", shape_text(header.shape)));
    const std::size_t needed_bytes = *count * element_bytes(type);
    if (needed_bytes != left_bytes_) {  // before memory is allocated for the elements
      fail(fmt::format("{}: shape {} needs {} bytes of data, found {}",
                       left_bytes_ < needed_bytes ? "is truncated" : "has trailing bytes", shape_text(header.shape),
                       needed_bytes, left_bytes_));
    }
    Array array{header.shape, std::vector<std::uint16_t>(*count)};
    read_elements(type, array);
    return array;
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const { config::fail({path_}, sentence); }

  void take(void* out, std::size_t size_bytes, const char* what) {
    if (size_bytes > left_bytes_) fail(fmt::format("is truncated: it ends within its {}", what));
    file_.read(static_cast<char*>(out), static_cast<std::streamsize>(size_bytes));
    if (!file_) fail("cannot be read: the file changed or the disk failed");
    left_bytes_ -= size_bytes;
  }

  NpyHeader read_header() {
    constexpr std::string_view kMagic = "\x93NUMPY";
    std::array<char, kMagic.size()> magic{};
    if (left_bytes_ < magic.size()) fail("is not a .npy file");
    take(magic.data(), magic.size(), "header");
    if (std::string_view(magic.data(), magic.size()) != kMagic) fail("is not a .npy file");
    std::array<unsigned char, 2> version{};
    take(version.data(), version.size(), "header");
    if ((version[0] != 1 && version[0] != 2) || version[1] != 0) {
      fail(fmt::format("has .npy version {}.{}; allowed are 1.0 and 2.0", version[0], version[1]));
    }
    std::array<unsigned char, 4> length{};
    const std::size_t length_bytes = version[0] == 1 ? 2 : 4;
    take(length.data(), length_bytes, "header");
    const std::size_t header_bytes = from_bytes(length.data(), length_bytes);
    if (header_bytes > kLargestHeaderBytes) {
      fail(fmt::format("has a header of {} bytes; allowed are {}", header_bytes, kLargestHeaderBytes));
    }
    std::string text(header_bytes, '\0');
    take(text.data(), text.size(), "header");
    try {
      return parse_npy_header(text);
    } catch (const config::ConfigError& problem) {
      fail(problem.what());
    }
  }

  void read_elements(NpyType type, Array& array) {
    const std::size_t size_bytes = element_bytes(type);
    std::vector<unsigned char> chunk(kChunkElements * size_bytes);
    for (std::size_t first = 0; first < array.half.size(); first += kChunkElements) {
      const std::size_t count = std::min(kChunkElements, array.half.size() - first);
      take(chunk.data(), count * size_bytes, "data");
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = from_bytes(chunk.data() + i * size_bytes, size_bytes);
        array.half[first + i] = type == NpyType::kFloat16 ? static_cast<std::uint16_t>(bits) : rounded(bits, first + i);
      }
    }
  }

  std::uint16_t rounded(std::uint32_t bits, std::size_t index) const {
    const float value = float_from_bits(bits);
    const std::uint16_t half = arith::half_from_float(value);
    if (std::isfinite(value) && !arith::is_finite(half)) {
      fail(fmt::format("element {} is {}, beyond FP16, whose largest is 65504", index, value));
    }
    return half;
  }

  std::string path_;
  std::ifstream file_;
  std::uintmax_t left_bytes_ = 0;
};

}  // namespace

Array read_npy(const std::string& path) { return NpyReader(path).read(); }

std::string npy_bytes(const Array& array, NpyType type) {
  if (element_count(array.shape) != array.half.size()) {
    throw std::invalid_argument(
        fmt::format("npy_bytes: shape {} and {} elements", shape_text(array.shape), array.half.size()));
  }
  std::string bytes = make_npy_header({type == NpyType::kFloat16 ? "<f2" : "<f4", false, array.shape});
  const std::size_t size_bytes = element_bytes(type);
  std::size_t at = bytes.size();
  bytes.resize(at + array.half.size() * size_bytes);
  for (const std::uint16_t half : array.half) {
    const std::uint32_t bits = type == NpyType::kFloat16 ? half : bits_of_float(arith::float_from_half(half));
    to_bytes(bits, reinterpret_cast<unsigned char*>(&bytes[at]), size_bytes);
    at += size_bytes;
  }
  return bytes;
}

void write_npy(const std::string& path, const Array& array, NpyType type) {
  files::write_file_atomically(path, npy_bytes(array, type));
}

namespace {

constexpr std::size_t kMostDimensions = 32;  // limit of NumPy
constexpr std::size_t kAlignmentBytes = 64;
constexpr std::size_t kPreambleBytes = 10;  // magic, version, 16-bit length

[[noreturn]] void refuse(const std::string& why) { throw config::ConfigError("has a bad header: " + why); }

// Parser of the Python subset that NumPy writes: a dictionary of strings, True or False, and a tuple of whole numbers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        once(has_descr, key);
        if (peek() == '[') refuse("a structured type; allowed are '<f2' and '<f4'");
        header.descr = string();
      } else if (key == "fortran_order") {
        once(has_order, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(has_shape, key);
        header.shape = tuple();
      } else {
        refuse(fmt::format("key '{}' is unknown; allowed: descr, fortran_order, shape", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (peek() != '\0') refuse("text after the dictionary");
    if (!has_descr || !has_order || !has_shape) {
      refuse(fmt::format("key '{}' is missing", !has_descr ? "descr" : !has_order ? "fortran_order" : "shape"));
    }
    return header;
  }

 private:
  // Next non-blank character; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("expected '{}' at character {}", c, at_));
  }

  static void once(bool& seen, const std::string& key) {
    if (seen) refuse(fmt::format("key '{}' is given twice", key));
    seen = true;
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse(fmt::format("expected a quoted text at character {}", at_));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("a quoted text does not end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    for (const char c : value) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) refuse("unprintable text");
    }
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    peek();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    }
    refuse("fortran_order is neither True nor False");
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!accept(')')) {
      peek();
      std::size_t size = 0;
      const char* end = text_.data() + text_.size();
      const auto [stop, error] = std::from_chars(text_.data() + at_, end, size);
      if (error != std::errc()) refuse("the shape is not a tuple of whole numbers, 0 or more");
      at_ = static_cast<std::size_t>(stop - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // long integers of Python 2
      sizes.push_back(size);
      if (sizes.size() > kMostDimensions) refuse("more than 32 dimensions");
      if (accept(',')) continue;
      if (sizes.size() == 1) refuse("the shape is not a tuple: (n) must be written (n,)");
      expect(')');
      break;
    }
    return sizes;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return HeaderParser(text).parse(); }

std::string shape_text(const std::vector<std::size_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string make_npy_header(const NpyHeader& header) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", header.descr,
                                       header.fortran_order ? "True" : "False", shape_text(header.shape));
  const std::size_t unpadded = kPreambleBytes + dictionary.size() + 1;
  dictionary.append((kAlignmentBytes - unpadded % kAlignmentBytes) % kAlignmentBytes, ' ');
  dictionary += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(dictionary.size() & 0xff);
  out += static_cast<char>(dictionary.size() >> 8);
  return out + dictionary;
}

}  // namespace attnvp::tensors
