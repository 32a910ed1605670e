#include "firmware/dataflows/dataflows.h"

namespace attnvp::firmware {

const Dataflow* const kDataflows[] = {&kLayerwise, &kSoftpipe, &kFlat,          &kTileflow, &kMas,  &kFusemax,
                                      &kCascade,   &kLean,     &kFlashDecoding, &kFlash2,   nullptr};

namespace {
bool equal(const char* a, const char* b) {
  for (int i = 0; i < hal::kNameBytes; ++i) {
    if (a[i] != b[i]) return false;
    if (a[i] == '\0') return true;
  }
  return true;
}
}  // namespace

const Dataflow* find_dataflow(const char* name) {
  for (const Dataflow* const* d = kDataflows; *d != nullptr; ++d) {
    if (equal((*d)->name, name)) return *d;
  }
  return nullptr;
}

void boot(hal::Cpu& cpu, uint32_t cluster) {
  Runtime rt(cpu, cluster);
  const hal::Layer& l = rt.layer();
  if (l.batch == 0 || l.heads == 0 || l.seq_q == 0 || l.seq_kv == 0 || l.emb == 0) rt.fail(Status::kBadJob);
  hal::Tiling used{};
  if (rt.ok()) {
    const Dataflow* dataflow = find_dataflow(rt.job().dataflow);
    if (dataflow == nullptr) {
      rt.fail(Status::kUnknownDataflow);
    } else if (rt.job().tiling.np > 0 && !dataflow->is(kTakesNp)) {
      rt.fail(Status::kBadTiling, hal::kNpUnused, rt.job().tiling.np);
    } else {
      used = dataflow->run(rt);
    }
  }
  rt.finish(used);
}

}  // namespace attnvp::firmware
