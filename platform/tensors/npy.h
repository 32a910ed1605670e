// FP16 tensors in NumPy's .npy files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attnvp::tensors {

struct Array {
  std::vector<std::size_t> shape;   // elements per dimension, outermost first
  std::vector<std::uint16_t> half;  // IEEE 754 binary16 bits in C order, as many as the product of the shape
};

enum class ElementType : std::uint8_t { kFloat16, kFloat32 };

// Reads versions 1 and 2, little-endian float16 ('<f2') or float32 ('<f4', rounded to nearest even), C order,
// any shape: checking it is the caller's business. Throws config::ConfigError with one sentence that names
// the file: not readable, not a .npy file, another version, type or order, a bad header, too few or too many
// bytes for the shape, a finite float32 beyond FP16's range.
Array read_npy(const std::string& path);

// Version 1. Throws std::invalid_argument when shape and data disagree.
std::string npy_bytes(const Array& array, ElementType type = ElementType::kFloat16);

// The same as a file, whole or not at all. Throws config::ConfigError when it cannot be written.
void write_npy(const std::string& path, const Array& array, ElementType type = ElementType::kFloat16);

}  // namespace attnvp::tensors
