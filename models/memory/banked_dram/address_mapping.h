// Address mapping: channel, bank, row and column of an address, as fields of address bits in text form.
//
//   row bank column byte              all bits of each field, the highest first
//   row:10 bank row column byte       ten bits of the row above the bank's, the others below
//   row channel^row bank^row+2 ...    XOR with the row's bits, starting at bit 0 and at bit 2
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/memory/banked_dram/config.h"

namespace attnvp {

struct DramPlace {
  std::uint32_t channel = 0, unit = 0, group = 0, bank = 0, row = 0, column = 0;  // unit: pseudo-channel and rank
  bool same_row(const DramPlace& o) const {
    return row == o.row && bank == o.bank && group == o.group && unit == o.unit && channel == o.channel;
  }
};

class AddressMapping {
 public:
  // Throws std::invalid_argument for an unknown field or a wrong number of bits.
  AddressMapping(const std::string& text, const BankedConfig& config, std::uint32_t channels);

  DramPlace place(std::uint64_t offset) const;
  // Aligned blocks of this size are contiguous within one row.
  std::uint64_t piece_bytes() const { return piece_bytes_; }
  std::uint64_t size_bytes() const { return std::uint64_t{1} << bits_; }

 private:
  enum Field : std::uint8_t { kRow, kGroup, kBank, kRank, kPseudo, kChannel, kColumn, kByte, kFields };
  struct BitSlice {  // `bits` address bits from bit `from` are the field's bits from bit `to`
    Field field;
    std::uint32_t from, to, bits;
  };
  struct BankHash {
    Field field;
    std::uint32_t row_bit;
    std::uint32_t mask;
  };
  static Field field_of(const std::string& name);

  std::vector<BitSlice> slices_;
  std::vector<BankHash> hashes_;
  std::uint32_t ranks_;
  std::uint32_t bits_ = 0;
  std::uint64_t piece_bytes_ = 1;
};

}  // namespace attnvp
