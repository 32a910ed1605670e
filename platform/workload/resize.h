// Smaller workloads of the same kind, which stand for a part of a job (explore/tuning/sample.cpp). Counts are of heads,
// rows, columns and tokens; a result has at least one of each. No function throws.
#pragma once

#include <cstdint>

#include "platform/workload/attention.h"
#include "platform/workload/operations.h"

namespace attnvp::workload {

// Least multiple of `grain` that is not below `value`.
std::uint32_t rounded_up(double value, std::uint32_t grain);

// Units of work of an attention: heads of K and V of every batch, with all their queries.
std::uint64_t units_of(const Attention& attention);
// True if all units are equal: no lists of contexts, requests or pages, no mask or bias of single keys.
bool has_equal_units(const Attention& attention);
// At least that many units, in whole batches if there are more than one batch has. Needs has_equal_units().
Attention with_units(Attention attention, std::uint64_t units);
// The middle `rows` of the queries, which attend to the average number of keys. Needs has_equal_units().
Attention with_rows(Attention attention, std::uint32_t rows);

// A few new tokens with many cached ones, at most a quarter: work is proportional to the keys.
bool is_decoding(const Attention& attention);
double keys_of(const Attention& attention);  // of all batches
// A share (0 to 1) of the keys. Rows and heads stay, and requests keep their new tokens. Needs is_decoding().
Attention with_keys(Attention attention, double share);

// A product with other columns, of whole pairs and heads, and the same share of rotated ones.
Gemm with_columns(Gemm product, std::uint32_t columns);
// With other rows: as many tokens of a sequence, or all of one.
Gemm with_rows(Gemm product, std::uint32_t rows);
Gemm with_depth(Gemm product, std::uint32_t depth);

RowOperation with_rows(RowOperation operation, std::uint32_t rows);

}  // namespace attnvp::workload
