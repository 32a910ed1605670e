// Reader and writer of FP16 tensors in NumPy's .npy format, and of the format's header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnvp::tensors {

struct Array {
  std::vector<std::size_t> shape;   // elements per dimension, outermost first
  std::vector<std::uint16_t> half;  // IEEE 754 binary16 bits in C order
};

enum class NpyType : std::uint8_t { kFloat16, kFloat32 };

// Reads versions 1 and 2, little-endian float16 ('<f2') or float32 ('<f4', rounded to nearest even), in C order, of any
// shape. Throws config::ConfigError that names the file: unreadable, not a .npy file, another version, type or order, a
// bad header, size that does not match the shape, a finite float32 beyond FP16's range.
Array read_npy(const std::string& path);

// Version 1. Throws std::invalid_argument if shape and data do not match.
std::string npy_bytes(const Array& array, NpyType type = NpyType::kFloat16);

// Writes the file atomically. Throws config::ConfigError on failure.
void write_npy(const std::string& path, const Array& array, NpyType type = NpyType::kFloat16);

// Header of a .npy file: a Python dictionary as text.

struct NpyHeader {
  std::string descr;  // element type, e.g. "<f2"
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// Parses the three entries. Throws config::ConfigError without location: "has a bad header: ...".
NpyHeader parse_npy_header(std::string_view text);

// Magic, version 1.0, length and dictionary, padded to a multiple of 64 bytes like NumPy.
std::string make_npy_header(const NpyHeader& header);

std::string shape_text(const std::vector<std::size_t>& shape);  // "(12, 512, 64)", "(5,)", "()"

}  // namespace attnvp::tensors
