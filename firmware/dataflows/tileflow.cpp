// TileFlow: a pipeline of three stages (C, P and O) over the row blocks of a head. All stages advance together, and the
// pipeline is filled and drained per head. The two matmul stages share the MAC engines: half of the cores compute C,
// the other half O. A single core alternates.
#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {

const char* const kRowBlocks[] = {"any", "8", nullptr};
const DataflowOption kOptions[] = {
    {"row_blocks", kRowBlocks, "per head: any number, or the MAS-Attention paper's, a head at a time"},
    {nullptr, nullptr, nullptr}};

// Stages advance in lock-step: O_i belongs to the step of C_{i+2}, so it starts after C_{i+1}; at a head's end it
// follows the previous O. A head enters the pipeline after the previous one has left it.
class Pipeline final : public Discipline {
 public:
  Pipeline(Runtime& rt, const Work& work)
      : work_(work), c_done_(rt.events(work.lanes())), left_(rt.events(work.lanes(), 1)) {}

  Sync for_c(const Work::Round& i, uint32_t lane) const override {
    return {i.round == 0 ? left_.of(lane) : Events{}, 1, c_done_.of(lane)};
  }
  Sync for_o(const Work::Round& i, uint32_t lane) const override {
    const bool first = i.round == 0;
    const bool last = i.round == work_.last_round(i.group, lane);
    if (last) return {first ? c_done_.of(lane) : Events{}, 1, left_.of(lane)};
    return {c_done_.of(lane), first ? 2U : 1U, {}};
  }

 private:
  const Work& work_;
  Events c_done_, left_;
};

void run(Runtime& rt) {
  const auto tiling = rt.parameters<RowTiling>();
  if (!rt.ok()) return;
  const Lanes lanes{min(max(rt.cores() / 2, uint32_t{1}), most_items(rt, tiling)), rt.cores() > 1 ? rt.cores() / 2 : 0};
  if (rt.job().option[0] == 1) {
    const uint32_t pairs = max(rt.machine().cores / 2, uint32_t{1});
    const uint64_t row_blocks = ceil_div(8, pairs) * pairs;
    const uint64_t rows = round_up(ceil_div(rt.layer().seq_q, row_blocks), rt.machine().mac_rows);
    if (tiling.nq != min<uint64_t>(rows, rt.layer().seq_q)) rt.refuse(RowTiling::kNq, tiling.nq);
    constexpr uint32_t kBb = 0, kHh = 1;  // indices of parameters
    if (tiling.bb > 1) rt.refuse(kBb, tiling.bb);
    if (tiling.hh > 1) rt.refuse(kHh, tiling.hh);
  }
  if (!rt.ok()) return;

  const Work work(rt, tiling, lanes.count);
  AttentionSteps attention(rt, work, tiling, {4, true}, lanes);  // one block per stage, and one in transfer
  KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
  KvBuffer v(rt, work, tiling, rt.layer().v, kLoadChannel);
  Loads loads(rt, work, attention, &AttentionSteps::load_q, &k, &v, {2, true, tiling.row_buffers});
  const Pipeline pipeline(rt, work);

  Work::Round next = work.first(), i, i_1, i_2;
  while (rt.ok() && (next.valid || i_1.valid || i_2.valid)) {
    // A head's first block waits until the previous head has been drained.
    const bool drain = next.valid && next.round == 0 && (i_1.valid || i_2.valid);
    i = drain ? Work::Round{} : next;
    if (i_2.valid) {
      loads.need_for_o();
      attention.produce_o(v, i_2, &pipeline);
    }
    if (i_1.valid) attention.produce_p(i_1);
    if (i.valid) {
      loads.need_for_c();
      attention.produce_c(k, i, loads, &pipeline);
    }
    i_2 = i_1;
    i_1 = i;
    if (!drain) next = work.after(next);
  }
  attention.finish();
}

const Dataflow kTileflow = {"tileflow", "TileFlow: QK^T, softmax and PV as a pipeline, filled and drained per head",
                            run, kRowParameters, kOptions};
ATTNVP_DATAFLOW(kTileflow);

}  // namespace

}  // namespace attnvp::firmware
