#include "firmware/runtime/product/weights.h"

namespace attnvp::firmware {

namespace {
enum : uint32_t { kDepth = 2 };  // index of GemmTiling::kd
}  // namespace

WeightTiles::WeightTiles(Runtime& rt, const hal::Weights& weights, const GemmTiling& tiling,
                         const uint32_t (&depths)[2], uint32_t parts, bool panels)
    : rt_(rt), weights_(weights), t_(tiling), panels_(panels), cores_(rt.cores()), loads_of_tile_(2 * parts) {
  if (!any()) return;
  for (const uint32_t k : depths) {
    if (k == 0) continue;
    if (t_.kd < k && t_.kd * hal::element_bits(weights_.type) % 8 != 0) rt.refuse(kDepth, t_.kd);
    const uint64_t codes = t_.nkv * hal::bytes_of(weights_.type, min(t_.kd, k));
    const uint64_t scales = uint64_t{most_groups(k)} * t_.nkv * hal::element_bytes(weights_.scale);
    code_bytes_ = max(code_bytes_, round_up(codes, uint64_t{64}));
    scale_bytes_ = max(scale_bytes_, round_up(scales, uint64_t{64}));
  }
  codes_ = rt.allocate(t_.ring * code_bytes_, L1Region::kK);
  scales_ = rt.allocate(t_.ring * scale_bytes_, L1Region::kK);
  loaded_ = rt.events(cores_);
  free_ = rt.events(cores_, t_.ring * loads_of_tile_);
  converted_ = rt.events(slots(t_) * cores_);
  read_ = rt.events(slots(t_) * cores_);
}

uint32_t WeightTiles::most_groups(uint32_t k) const {
  const uint32_t depth = min(t_.kd, k), group = weights_.group;
  if (group == 0 || depth == k || depth % group == 0 || group % depth == 0) return groups_of(0, depth);
  return (depth + group - 2) / group + 1;
}

void WeightTiles::load(uint32_t channel, const QuantisedMatrix& b, const WeightTile& tile, const Matrix& codes,
                       const Matrix& scales) {
  const uint32_t width = tile.columns / tile.parts, scale_bytes = hal::element_bytes(weights_.scale);
  const uint64_t row_bytes = hal::bytes_of(weights_.type, b.k), before = hal::bytes_of(weights_.type, tile.from);
  const uint32_t groups = groups_of(0, b.k), group = group_of(tile.from);
  const uint32_t tokens = loads_of_tile_ / (2 * tile.parts);  // of a load
  for (uint32_t part = 0; part < tile.parts; ++part) {
    const uint64_t row = tile.first[part];
    Matrix to = rows_of(codes, part * width, width), from = to;
    from.address = b.codes + row * row_bytes + before * (panels_ ? width : 1);
    if (!panels_) from.stride = static_cast<uint32_t>(row_bytes);
    const auto issue = [&](const Matrix& source, const Matrix& copy_of) {
      const Events free{free_.first, cores_}, loaded{loaded_.first, cores_};
      Command load = copy(source, copy_of);
      load.after(free, tokens).then(loaded, tokens);
      rt_.dma(channel, load.label(tile.head, tile.row_block));
    };
    issue(from, to);
    to = columns_of(scales, part * width, width);
    from = to;
    const uint64_t first = panels_ ? row * groups + uint64_t{group} * width : uint64_t{group} * b.n + row;
    from.address = b.scales + first * scale_bytes;
    from.stride = (panels_ ? width : b.n) * scale_bytes;
    issue(from, to);
  }
}

void WeightTiles::prepare(uint32_t channel, const QuantisedMatrix& b, const WeightTile& tile, const Matrix& to) {
  const uint32_t slot = tiles_++ % t_.ring, groups = groups_of(tile.from, tile.depth);
  const auto code_stride = static_cast<uint32_t>(hal::bytes_of(weights_.type, tile.depth));
  const Matrix codes{codes_ + slot * code_bytes_, tile.columns, tile.depth, code_stride, weights_.type};
  const Matrix scales{scales_ + slot * scale_bytes_, groups, tile.columns,
                      tile.columns * hal::element_bytes(weights_.scale), weights_.scale};
  load(channel, b, tile, codes, scales);
  const uint32_t share = ceil_div(tile.columns, cores_);
  uint32_t& users = users_[(tiles_ - 1) % slots(t_)];
  for (uint32_t core = 0; core < cores_; ++core) {
    const uint32_t row = min(core * share, tile.columns), rows = min(share, tile.columns - row);
    Command convert = fence();
    if (rows > 0) {
      convert.begin(hal::Opcode::kDequantise, rows);
      convert.operand(0, rows_of(codes, row, rows)).operand(1, rows_of(to, row, rows));
      convert.operand(2, columns_of(scales, row, rows));
      convert.raw().tail.dequantise = {weights_.group, weights_.group == 0 ? 0 : tile.from % weights_.group};
    }
    convert.after(loaded_.of(core), loads_of_tile_).after(of_slot(read_).of(core), users);
    convert.then(free_.of(core), loads_of_tile_).then({of_slot(converted_).first, tile.users});
    rt_.vec(core, convert.label(tile.head, tile.row_block));
  }
  users = tile.users;
}

}  // namespace attnvp::firmware
