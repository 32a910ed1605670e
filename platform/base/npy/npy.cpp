#include "platform/base/npy/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>

#include "models/arith/half.h"
#include "platform/base/atomic_file.h"
#include "platform/base/input.h"
#include "platform/base/npy/npy_header.h"
#include "platform/machine/error.h"

namespace attnvp::tensors {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkElements = 16384;
constexpr std::size_t kLargestHeaderBytes = 1 << 16;  // NumPy itself accepts at most 10000 characters

std::size_t element_bytes(ElementType type) { return type == ElementType::kFloat16 ? 2 : 4; }

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

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
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
    const ElementType type = header.descr == "<f2" ? ElementType::kFloat16 : ElementType::kFloat32;
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

  void read_elements(ElementType type, Array& array) {
    const std::size_t size_bytes = element_bytes(type);
    std::vector<unsigned char> chunk(kChunkElements * size_bytes);
    for (std::size_t first = 0; first < array.half.size(); first += kChunkElements) {
      const std::size_t count = std::min(kChunkElements, array.half.size() - first);
      take(chunk.data(), count * size_bytes, "data");
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = from_bytes(chunk.data() + i * size_bytes, size_bytes);
        array.half[first + i] =
            type == ElementType::kFloat16 ? static_cast<std::uint16_t>(bits) : rounded(bits, first + i);
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

Array read_npy(const std::string& path) { return Reader(path).read(); }

std::string npy_bytes(const Array& array, ElementType type) {
  if (element_count(array.shape) != array.half.size()) {
    throw std::invalid_argument(
        fmt::format("npy_bytes: shape {} and {} elements", shape_text(array.shape), array.half.size()));
  }
  std::string bytes = make_npy_header({type == ElementType::kFloat16 ? "<f2" : "<f4", false, array.shape});
  const std::size_t size_bytes = element_bytes(type);
  std::size_t at = bytes.size();
  bytes.resize(at + array.half.size() * size_bytes);
  for (const std::uint16_t half : array.half) {
    const std::uint32_t bits = type == ElementType::kFloat16 ? half : bits_of_float(arith::float_from_half(half));
    to_bytes(bits, reinterpret_cast<unsigned char*>(&bytes[at]), size_bytes);
    at += size_bytes;
  }
  return bytes;
}

void write_npy(const std::string& path, const Array& array, ElementType type) {
  files::write_file_atomically(path, npy_bytes(array, type));
}

}  // namespace attnvp::tensors
