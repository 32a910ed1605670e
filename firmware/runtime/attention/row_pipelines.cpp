#include "firmware/runtime/attention/row_pipelines.h"

#include "firmware/runtime/attention/attention.h"
#include "firmware/runtime/loads.h"

namespace attnvp::firmware {

namespace {
// P_i with P_{i-1} or C_{i+1} (section 5.5); on two arrays C_{i+1}, P_i, P_{i-1} and one in transfer between them.
ScoreBlocks blocks(const Lanes& lanes) { return lanes.o_offset == 0 ? ScoreBlocks{2} : ScoreBlocks{4, true}; }
}  // namespace

TwoStreams::TwoStreams(Runtime& rt, const Work& work, const RowTiling& tiling, const Lanes& lanes)
    : rt_(rt),
      work_(work),
      attention_(rt, work, tiling, blocks(lanes), lanes),
      k_(rt, work, tiling, rt.layer().k, kLoadChannel),
      v_(rt, work, tiling, rt.layer().v, kLoadChannel),
      loads_(rt, work, attention_, &AttentionSteps::load_q, &k_, &v_, {2, true, tiling.row_buffers}) {}

// Inlined, because calls would dominate on a small processor.
[[gnu::flatten]] void TwoStreams::run() {
  Work::Round i = work_.first(), i_1, i_2;  // i, i-1, i-2
  while (rt_.ok() && (i.valid || i_1.valid || i_2.valid)) {
    if (i_2.valid) {
      loads_.need_for_o();
      attention_.produce_o(v_, i_2);  // O_{i-2} = P_{i-2} V
    }
    if (i_1.valid) attention_.produce_p(i_1);  // P_{i-1} = softmax(C_{i-1})
    if (i.valid) {
      loads_.need_for_c();
      attention_.produce_c(k_, i, loads_);  // C_i = Q_i K^T
    }
    i_2 = i_1;
    i_1 = i;
    work_.advance(i);
  }
  attention_.finish();
}

void in_turn(Runtime& rt, const RowTiling& tiling, bool prefetch) {
  const Work work(rt, tiling);
  AttentionSteps attention(rt, work, tiling, {});
  KvBuffer k(rt, work, tiling, rt.layer().k, kLoadChannel);
  KvBuffer v(rt, work, tiling, rt.layer().v, kLoadChannel);
  Loads loads(rt, work, attention, &AttentionSteps::load_q, &k, &v, {0, prefetch, tiling.row_buffers});
  if (!prefetch) rt.lock_step();

  for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
    loads.need_for_c();
    attention.produce_c(k, i, loads);  // C_i = Q_i K^T
    attention.produce_p(i);            // P_i = softmax(C_i)
    loads.need_for_o();
    attention.produce_o(v, i);  // O_i = P_i V
    loads.pump();
  }
  attention.finish();
}

void o_from_dram(Runtime& rt, const Work& work, AttentionSteps& attention, const RowTiling& tiling,
                 const ScoreBlocks& scores) {
  KvBuffer v(rt, work, tiling, rt.layer().v, kLoadChannel);
  Loads loads(rt, work, attention, &AttentionSteps::load_p, nullptr, &v, {0, true, scores.count});
  for (Work::Round i = work.first(); rt.ok() && i.valid; i = work.after(i)) {
    loads.need_for_o();
    attention.produce_o(v, i);
    loads.pump();
  }
  attention.finish();
}

void check_space_of_v(Runtime& rt, const Work& work, const RowTiling& tiling) {
  if (rt.value_emb() <= rt.layer().emb) return;
  rt.check_space_of([&] { KvBuffer(rt, work, tiling, rt.layer().v, kLoadChannel); });
}

}  // namespace attnvp::firmware
