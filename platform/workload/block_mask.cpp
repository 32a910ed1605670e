// Reader of block masks.
#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "platform/machine/document.h"
#include "platform/machine/words.h"
#include "platform/workload/keys.h"

namespace attnvp::workload {

using namespace config;

namespace {

constexpr std::uint32_t kLeastBlock = 8, kMostBlock = 4096;

// Parses "block 64".
std::uint32_t block_size(const std::string& line, const Origin& origin) {
  constexpr std::string_view kWord = "block";
  std::string_view text = trimmed(line);
  std::uint32_t size = 0;
  if (text.substr(0, kWord.size()) == kWord) {
    text = trimmed(text.substr(kWord.size()));
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || rest != text.data() + text.size()) size = 0;
  }
  if (size < kLeastBlock || size > kMostBlock || (size & (size - 1)) != 0) {
    fail(origin, fmt::format("found {}; allowed is a first line such as 'block 64', with a power of two of {} to {}",
                             in_quotes(line), kLeastBlock, kMostBlock));
  }
  return size;
}

}  // namespace

void read_block_mask(Attention& n, const std::string& path) {
  std::istringstream text(read_text_file(path));
  Origin origin{shown_path(path), 0};
  std::uint32_t rows = 0, columns = 0, row = 0;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (trimmed(line).empty() || line[0] == '#') continue;
    origin.line = number;
    if (n.mask.block == 0) {
      n.mask.block = static_cast<std::uint16_t>(block_size(line, origin));
      rows = hal::map_rows(n.mask);
      columns = hal::map_columns(n.mask, n.seq_kv);
      if (rows > hal::kMostBlocks || columns > hal::kMostBlocks) {
        fail(origin,
             fmt::format("{} new tokens and {} keys are {} x {} blocks of {}; allowed are {} x {}", n.mask.queries,
                         n.seq_kv, rows, columns, n.mask.block, hal::kMostBlocks, hal::kMostBlocks));
      }
      n.map.assign(std::size_t{rows} * hal::map_stride(n.mask, n.seq_kv), 0);
      continue;
    }
    std::uint32_t column = 0;
    for (const char c : line) {
      if (c == ' ' || c == ',' || c == '\t' || c == '\r') continue;
      if (c != '0' && c != '1')
        fail(origin, fmt::format("found {}; allowed are 0 and 1", in_quotes(std::string(1, c))));
      if (column < columns && row < rows && c == '1') {
        n.map[std::size_t{row} * hal::map_stride(n.mask, n.seq_kv) + column / 32] |= 1U << column % 32;
      }
      ++column;
    }
    if (column != columns) {
      fail(origin,
           fmt::format("found a row of {} blocks; {} keys are {} of {}", column, n.seq_kv, columns, n.mask.block));
    }
    ++row;
  }
  if (n.mask.block == 0 || row != rows) {
    throw ConfigError(fmt::format("{}: found {} rows; {} new tokens are {} blocks of {}", shown_path(path), row,
                                  n.mask.queries, rows, n.mask.block));
  }
  check_visible(n, shown_path(path));
}

void check_visible(const Attention& n, const std::string& what) {
  for (std::uint32_t b = 0; b < (n.valid.empty() ? 1 : n.batch); ++b) {
    for (std::uint32_t t = 0; t < n.mask.queries; ++t) {
      if (n.visible_keys(b, t) > 0) continue;
      throw ConfigError(fmt::format("{}: token {} of batch {} attends to no key; every query needs one", what, t, b));
    }
  }
}

std::uint32_t Attention::visible_keys(std::uint32_t b, std::uint32_t token) const {
  return hal::count_of_token(mask_of(b), block_mask(), token, valid_keys(b));
}

}  // namespace attnvp::workload
