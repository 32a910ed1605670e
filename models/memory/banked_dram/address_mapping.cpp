#include "models/memory/banked_dram/address_mapping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace attnvp {

namespace {

const std::vector<std::string> kNames = {"row", "group", "bank", "rank", "pseudo", "channel", "column", "byte"};

std::uint32_t log2_of(std::uint64_t n) {
  std::uint32_t bits = 0;
  while ((std::uint64_t{1} << bits) < n) ++bits;
  return bits;
}

// Word of the mapping text: NAME[:BITS][^row[+BIT]].
struct MappingWord {
  std::string name;
  std::uint32_t bits = 0;  // 0: all remaining bits
  bool hashed = false;
  std::uint32_t row_bit = 0;
};

std::uint32_t number_in(const std::string& word, const std::string& digits) {
  if (digits.empty() || digits.size() > 2 || digits.find_first_not_of("0123456789") != std::string::npos) {
    throw std::invalid_argument(
        fmt::format("found '{}'; allowed is NAME, NAME:BITS, NAME^row, NAME:BITS^row+BIT", word));
  }
  return static_cast<std::uint32_t>(std::stoul(digits));
}

MappingWord parse(const std::string& text) {
  MappingWord word;
  std::string name = text;
  if (const std::size_t hash = name.find('^'); hash != std::string::npos) {
    const std::string with = name.substr(hash + 1);
    word.hashed = true;
    if (with.rfind("row+", 0) == 0) {
      word.row_bit = number_in(text, with.substr(4));
    } else if (with != "row") {
      number_in(text, "");
    }
    name.resize(hash);
  }
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) {
    word.bits = number_in(text, name.substr(colon + 1));
    if (word.bits == 0) number_in(text, "");
    name.resize(colon);
  }
  word.name = name;
  return word;
}

}  // namespace

AddressMapping::Field AddressMapping::field_of(const std::string& name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    throw std::invalid_argument(fmt::format("field '{}' is unknown; allowed are {}", name, fmt::join(kNames, ", ")));
  }
  return static_cast<Field>(found - kNames.begin());
}

AddressMapping::AddressMapping(const std::string& text, const BankedConfig& config, std::uint32_t channels)
    : ranks_(config.ranks) {
  std::array<std::uint32_t, kFields> left = {
      log2_of(config.rows),    log2_of(config.bank_groups),     log2_of(config.banks),
      log2_of(config.ranks),   log2_of(config.pseudo_channels), log2_of(channels),
      log2_of(config.columns), log2_of(config.width / 8)};
  const std::uint32_t row_bits = left[kRow];
  for (const std::uint32_t bits : left) bits_ += bits;

  std::istringstream words(text);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  // Channels that the text does not name alternate every `interleave_bytes`.
  const bool names_channel =
      std::any_of(all.begin(), all.end(), [](const auto& w) { return w.rfind("channel", 0) == 0; });
  const std::uint32_t interleave = names_channel ? 0 : left[kChannel];
  const std::uint32_t interleave_from = std::min(log2_of(config.interleave_bytes), bits_ - interleave);
  bits_ -= interleave;
  if (interleave > 0) left[kChannel] = 0;

  std::uint32_t from = bits_;
  for (const std::string& one : all) {
    const MappingWord word = parse(one);
    const Field field = field_of(word.name);
    const std::uint32_t bits = word.bits == 0 ? left[field] : word.bits;
    if (bits > left[field]) {
      throw std::invalid_argument(
          fmt::format("'{}' is of {} bits where {} are left of the part's", one, bits, left[field]));
    }
    if (word.hashed && (field == kRow || word.row_bit + left[field] > row_bits)) {
      throw std::invalid_argument(fmt::format("'{}' wants bits that the row does not have", one));
    }
    from -= bits;
    left[field] -= bits;
    if (bits > 0) slices_.push_back({field, from, left[field], bits});
    if (word.hashed && bits > 0) hashes_.push_back({field, word.row_bit, ((1U << bits) - 1U) << left[field]});
  }
  for (std::size_t field = 0; field < kFields; ++field) {
    if (left[field] > 0) {
      throw std::invalid_argument(fmt::format("{} bits of the {} are missing", left[field], kNames[field]));
    }
  }
  if (interleave > 0) {
    std::vector<BitSlice> cut;
    for (BitSlice s : slices_) {
      if (s.from >= interleave_from) {
        s.from += interleave;
        cut.push_back(s);
      } else if (s.from + s.bits <= interleave_from) {
        cut.push_back(s);
      } else {
        const std::uint32_t below = interleave_from - s.from;
        cut.push_back({s.field, interleave_from + interleave, s.to + below, s.bits - below});
        cut.push_back({s.field, s.from, s.to, below});
      }
    }
    cut.push_back({kChannel, interleave_from, 0, interleave});
    slices_ = cut;
    bits_ += interleave;
  }
  // Lowest bits that are bytes and columns in order.
  std::uint32_t run = 0;
  for (bool grown = true; grown;) {
    grown = false;
    for (const BitSlice& s : slices_) {
      const bool next_column = s.field == kColumn && s.from - log2_of(config.width / 8) == s.to;
      if (s.from == run && ((s.field == kByte && s.to == run) || next_column)) {
        run += s.bits;
        grown = true;
      }
    }
  }
  piece_bytes_ = std::uint64_t{1} << run;
}

DramPlace AddressMapping::place(std::uint64_t offset) const {
  std::array<std::uint32_t, kFields> value{};
  for (const BitSlice& s : slices_) {
    value[s.field] |= static_cast<std::uint32_t>((offset >> s.from) & ((std::uint64_t{1} << s.bits) - 1)) << s.to;
  }
  for (const BankHash& h : hashes_) value[h.field] ^= (value[kRow] >> h.row_bit) & h.mask;
  return {value[kChannel], value[kPseudo] * ranks_ + value[kRank], value[kGroup], value[kBank], value[kRow],
          value[kColumn]};
}

}  // namespace attnvp
