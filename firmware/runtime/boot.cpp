#include "firmware/runtime/boot.h"

#include "firmware/hal/list.h"
#include "firmware/runtime/append.h"

namespace attnvp::firmware {

void boot(hal::Cpu& cpu, uint32_t cluster) {
  Runtime rt(cpu, cluster);
  if (rt.ok() && (rt.job().flags & hal::kListed) != 0) {  // the list also writes status and statistics
    hal::CommandList list{};
    if (rt.read(hal::list_address(cluster), &list, sizeof list) && hal::play(cpu, list)) return;
    rt.fail(Status::kEngineFault, list.address);
    return rt.finish();
  }
  const hal::Layer& l = rt.layer();
  if (l.batch == 0 || l.heads == 0 || l.seq_q == 0 || l.seq_kv == 0 || l.emb == 0) rt.fail(Status::kBadJob);
  const Dataflow* dataflow = find_dataflow(rt.job().dataflow);
  if (dataflow == nullptr) rt.fail(Status::kUnknownDataflow);
  if (rt.ok() && (rt.job().flags & hal::kAppends) != 0) append(rt);
  if (rt.ok()) rt.run(*dataflow);
  rt.finish();
}

}  // namespace attnvp::firmware
