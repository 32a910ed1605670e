// Operations of a layer on each other's results. The bytes that an operation writes to DRAM are operands of those that
// read them; the host rearranges them as the views say (platform/workload/layers.h), without time. Weights and
// first inputs are random. Values stay in range: weights have the spread 1 / sqrt(depth), vectors of norms and inputs
// 1, and both operands of attention's scores what gives the scores a spread of kScoreSpread. The scale of a conversion
// to INT8 is the greatest magnitude of its operand over 127, and that of the operations that read it. The angles of a
// rotary embedding are those of positions 0, 1, ..., with base 10000.
//
// Besides the check of each operation on the operands that it had, the layer's results are compared with a chain in
// double precision, from the same weights and first inputs. Its bound is measured: a second chain in double precision
// rounds operands and results to the element types, and scores and P to FP16. Let r_i be the root mean square of its
// deviations in row i, r that of all rows, and o_i that of O_ref in row i. Deviations of large elements are larger, so
// (h = 2^-11)
//   |O - O_ref| <= kNoiseFactor max(r_i, r) max(1, |O_ref| / o_i) + h |O_ref| + 2^-25,
// and the root mean square of O - O_ref is at most kMeanFactor r.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/memory/storage/host_memory.h"
#include "platform/run/golden/golden.h"
#include "platform/run/golden/tensors.h"
#include "platform/workload/layers.h"

namespace attnvp::job {

constexpr double kNoiseFactor = 8, kMeanFactor = 2;

// A tensor that no operation reads, against the chain in double precision.
struct ChainResult {
  std::string tensor;
  GoldenResult golden;
  double rms_error = 0, rms_noise = 0;
};

class LayerChain {
 public:
  LayerChain(const workload::LayerGroup& group, std::uint64_t seed);

  // Operands of an operation, the `time`th time that it runs. Operations run in order.
  Tensors operands(std::size_t operation, std::uint32_t time);
  // Keeps the result. False: the operation reads its own result, which has changed, and is to run again.
  bool keep(std::size_t operation, std::uint32_t time, const Tensors& operands, const std::vector<arith::Half>& result);
  // After all operations.
  std::vector<ChainResult> check() const;

 private:
  template <typename Number>
  using Store = std::map<std::string, std::vector<Number>>;
  struct Given {
    double spread = 1;
    std::uint32_t head = 0;  // elements of a head's angles; 0: random numbers
  };

  void note_given(const workload::LayerOperation& operation);
  void scale_scores(const std::string& tensor, double factor);
  void note_uses();
  float scale_of(const std::string& tensor) const;
  bool reads_itself(const workload::LayerOperation& operation) const;
  bool is_written(const std::string& tensor) const { return writers_.count(tensor) != 0; }
  arith::Half given(const std::string& tensor, std::uint64_t index) const;
  template <typename Number>
  std::vector<Number> fetch(const Store<Number>& store, const workload::LayerOperation& operation, std::size_t input,
                            std::uint64_t elements, std::uint32_t time) const;
  template <typename Number>
  void make_views(Store<Number>& store, const workload::LayerOperation& operation) const;
  template <typename Number, typename Operands>
  void bind(const Store<Number>& store, const workload::LayerOperation& operation, std::uint32_t time, Operands& to,
            bool with_weights) const;
  template <typename Number>
  bool write(Store<Number>& store, const workload::LayerOperation& operation, std::uint32_t time,
             const std::vector<Number>& result) const;
  void release(std::size_t operation);
  std::uint64_t bytes() const;

  const std::vector<workload::LayerOperation>& operations_;
  std::uint64_t seed_;
  std::map<std::string, const workload::LayerOperation*> writers_;  // of operations' outputs
  std::map<std::string, const workload::TensorView*> views_;
  std::map<std::string, Given> given_;
  std::map<std::string, float> scales_;           // of converted tensors
  std::map<std::string, std::size_t> last_uses_;  // operation; absent: a result of the layer
  Store<arith::Half> machine_, rounded_;
  Store<double> exact_;
  host_memory::MemoryShare memory_;
};

}  // namespace attnvp::job
