// Header of a .npy file: a Python dictionary as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnvp::tensors {

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
