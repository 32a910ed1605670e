// Decoding with long contexts: few query rows per head, and tiles of K and V that only one worker reads. A worker
// processes its pieces of contexts (stream_k.h) by one-pass softmax. A piece that covers a whole context produces O;
// any other produces a partial result in DRAM and signals an event of the cluster that hosts the head. After its
// pieces, a worker merges the heads that it hosts:
//   m = max m_i, l = sum l_i e^(m_i - m), O = sum O_i e^(m_i - m) / l     (LeanAttention section 4)
#pragma once

#include "firmware/runtime/attention/online.h"
#include "firmware/runtime/attention/stream_k.h"

namespace attnvp::firmware {

// Distribution of the work.
extern const DataflowOption kGridOptions[];
extern const DataflowOption kFlash2Options[];  // with Grid::kSteps
enum : uint32_t { kGridOption, kShareOption, kKernelsOption };
enum class Grid : uint32_t {
  kWorkers,  // persistent workers that load ahead across pieces; tiles as large as their rows and keys
  kBlocks,   // GPU thread blocks, each dispatched after the previous one; tiles padded to m0 x n0; heads merged by a
             // kernel of their own
  kSteps,    // a Pallas grid: every tile is a step, dispatched after the previous one; later tiles are loaded meanwhile
  kHeads     // kBlocks, a row block of all heads before the next row block
};

struct DecodePlan {
  Grid grid = Grid::kWorkers;
  bool heads_first = false;
  uint32_t share = 1;    // workers per core
  uint32_t kernels = 0;  // additional kernel launches
  DecodeTiling tiling{};
  uint32_t rows = 0, keys = 0;  // of a computed tile
  uint32_t kv_ring = 1;         // tiles of K, and of V, per worker
  uint32_t lag = 0;             // steps between the two halves of a step
  uint32_t ahead = 0;           // tiles loaded ahead
  uint32_t parts = 2;           // partial results in L1 during a merge
  uint32_t slots = 2;           // pieces in L1
  bool resident = false;        // a worker keeps a head's tiles for all of its row blocks of that head
};
DecodePlan plan_decode(Runtime& rt,
                       bool grids);  // from the job's parameters and, if present, kGridOptions

class Decode {
 public:
  Decode(Runtime& rt, const DecodePlan& plan, const Contexts& contexts, const StreamK& work);
  void run();

 private:
  struct TileStep {
    Segment segment;
    uint32_t piece = 0, number = 0;  // counted per worker
    uint32_t tile = 0;               // index in the context
    Item rows{};
    KeyBlocks::KeyPart keys;              // valid keys of the tile
    uint32_t all_rows = 0, all_keys = 0;  // padded extents of its commands
    uint32_t block = 0;                   // block of keys that contains the tile
    uint32_t first_key = 0;               // key of its first row of K and V in L1
    bool comes = false;                   // the tile is loaded with this step
    bool first = false, last = false;     // of the piece
  };
  struct Cursor {  // position in a worker's sequence of tiles
    Segment segment;
    uint32_t piece = 0, tile = 0, number = 0;
  };
  struct FreeBuffers {  // buffers that a load waits for
    Events events;
    uint32_t places;
  };
  struct WorkerState {
    uint64_t k = 0, v = 0, scores = 0, tiles = 0, slots = 0, scales = 0, parts = 0;  // L1 addresses
    Cursor load, compute;
    static constexpr uint32_t kMaxLag = 2;
    TileStep waiting[kMaxLag + 1];
    uint32_t waiting_count = 0;
    uint32_t may_wait = 0;      // of these, for later tiles
    uint32_t pieces = 0;        // slots taken, including merges
    uint32_t parts_merged = 0;  // partial results merged into other workers' heads
    // Resident tiles: 1 + their head, bit set of the tiles present, number of tiles loaded.
    uint32_t head = 0, here = 0, came = 0;
    uint32_t coming = 0;  // bit set, by step number: upcoming steps whose tile is loaded with them
  };
  bool blocks() const { return plan_.grid == Grid::kBlocks; }
  bool steps() const { return plan_.grid == Grid::kSteps; }
  uint32_t lanes() const { return rt_.cores() * plan_.share; }
  uint32_t core_of(uint32_t lane) const { return lane / plan_.share; }
  uint32_t worker(uint32_t lane) const { return lane * rt_.machine().clusters + rt_.cluster(); }
  void dispatch(uint32_t what);
  uint64_t part_bytes() const;
  uint32_t load_channel(uint32_t core) const;
  uint32_t store_channel() const { return rt_.machine().dma_channels - 1; }
  void advance(uint32_t core, Cursor& cursor) const;
  void load_one(uint32_t core);
  uint32_t padded_keys(const TileStep& s) const;
  void step(uint32_t core);
  void finish(uint32_t core);
  void change_head(uint32_t core, uint32_t head);
  void second_half(uint32_t core, const TileStep& s);
  void end_piece(uint32_t core, const TileStep& s);
  void merge(uint32_t core);
  void merge_head(uint32_t core, const Segment& s);
  void store_o(uint32_t core, const Segment& s, uint32_t piece, bool merged);

  uint64_t slot(uint32_t core, uint32_t piece) const;
  Item rows_of(const Segment& s) const;
  Matrix q_rows(uint32_t core, uint32_t piece, uint32_t rows) const;
  Sums running(uint32_t core, uint32_t piece, uint32_t rows) const;
  Sums tile_sums(uint32_t core, uint32_t number, uint32_t rows) const;
  Sums part_sums(uint32_t core, uint32_t number, uint32_t rows) const;  // of another worker, during a merge
  Matrix scores(uint32_t core, const TileStep& s) const;
  Matrix kv_tile(uint64_t base, uint32_t number, uint32_t keys, uint32_t emb) const;
  Matrix kv_of(uint64_t base, const TileStep& s, uint32_t emb) const;
  Matrix rows_in_dram(uint64_t tensor, uint64_t row, uint32_t rows, uint32_t emb, hal::ElementType type) const;
  void load_keys(uint32_t core, const Segment& s, const KeyBlocks::KeyPart& part, uint64_t tensor, const Matrix& tile,
                 FreeBuffers free, Events ready, uint32_t label);
  Matrix record(uint32_t index, uint32_t rows) const;

  Runtime& rt_;
  DecodePlan plan_;
  const Contexts& contexts_;
  const StreamK& work_;
  uint32_t emb_, value_emb_;  // columns of Q and K; columns of V and O
  uint64_t scratch_ = 0;
  static constexpr uint32_t kMaxCores = 64;
  WorkerState lane_[kMaxCores];
  Events q_ready_, slot_free_, k_ready_, v_ready_, k_free_, v_free_, scored_, maxed_, summed_, ring_free_, o_ready_,
      merged_, part_ready_, part_free_, stored_, over_;
  uint32_t stores_ = 0;
};

}  // namespace attnvp::firmware
