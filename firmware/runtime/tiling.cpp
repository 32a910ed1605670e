#include "firmware/runtime/tiling.h"

namespace attnvp::firmware {

namespace parameter {

const Parameter kBb = {"bb", "B_b: batches whose K and V are in L1 together", Extent::kBatch};
const Parameter kHh = {"hh", "H_h: heads whose K and V are in L1 together", Extent::kHeads};
const Parameter kNq = {"nq", "N_Q: query rows of a row block on one core", Extent::kQueries, Grain::kArrayRows};
const Parameter kNkv = {"nkv", "N_KV: rows of a sub-block of K and V", Extent::kKeys, Grain::kArrayColumns};
const Parameter kM0 = {"m0",  "L0 sub-tile of a matmul: rows of A", Extent::kCount, Grain::kArrayRows, 65535, nullptr,
                       {2, 1}};
const Parameter kN0 = {
    "n0", "L0 sub-tile of a matmul: columns of B", Extent::kCount, Grain::kArrayColumns, 65535, nullptr, {2, 1}, true};
const Parameter kK0 = {"k0",
                       "L0 sub-tile of a matmul: depth loaded at a time",
                       Extent::kCount,
                       Grain::kOne,
                       65535,
                       nullptr,
                       {64, 32, 16, 8, 4, 2, 1},
                       true};
const Parameter kKv = {
    "kv",
    "groups of heads whose K and V are in L1 at once; stream: sub-blocks, loaded anew for every row block",
    Extent::kCount,
    Grain::kOne,
    4,
    "stream",
    {2, 1, hal::kWord}};
const Parameter kRb = {"rb",
                       "buffers for row blocks of Q, and twice as many for O, per core",
                       Extent::kCount,
                       Grain::kOne,
                       64,
                       nullptr,
                       {4, 2, 1}};
const Parameter kOneBatch = {"bb", "B_b: one batch at a time", Extent::kCount};
const Parameter kOneHead = {"hh", "H_h: one head at a time", Extent::kCount};
const Parameter kOneBuffer = {"rb", "buffers for a worker's queries beyond those under way", Extent::kCount};

namespace {

const Parameter kNp = {"np",
                       "N_P: query rows of one softmax where scores cross DRAM in tiles of nq x nkv; off: they do not",
                       Extent::kQueries,
                       Grain::kOne,
                       1,
                       "off"};
const Parameter kTileBuffers = {
    "tb",  "buffers for tiles of scores per core, where scores go in tiles", Extent::kCount, Grain::kOne, 8, nullptr,
    {3, 2}};
const Parameter kSoftmaxBuffers = {"sb",
                                   "buffers for np rows of softmax per core, where scores go in tiles",
                                   Extent::kCount,
                                   Grain::kOne,
                                   16,
                                   nullptr,
                                   {3, 6, 2, 1}};
const Parameter kTileKeys = {
    "nkv", "N_KV: rows of a tile of K and V", Extent::kKeys, Grain::kArrayColumns, 1, nullptr, {1}, false, 1};
const Parameter kSlabs = {"rb", "slabs of a core whose sums are in L1 together: a row block", Extent::kBlocks};
const Parameter kRing = {"kv",
                         "tiles of K, and of V, in L1; stream: as many as steps under way need; with grouped queries "
                         "those of a head stay for all its row blocks where it has no more",
                         Extent::kCount,
                         Grain::kOne,
                         16,
                         "stream",
                         {hal::kWord, 4, 3, 2, 1, 16}};
const Parameter kSteps = {"steps",
                          "steps of a core from a step's first half to its second; 1: in turn",
                          Extent::kCount,
                          Grain::kOne,
                          5,
                          nullptr,
                          {3, 2, 1}};
const Parameter kSpare = {"spare",
                          "slabs of a core in L1 beyond a row block's, being loaded or stored",
                          Extent::kCount,
                          Grain::kOne,
                          64,
                          "none",
                          {2, 1, hal::kWord}};
const Parameter kWorkerRing = {"kv",
                               "tiles of K, and of V, in L1 per worker; stream: three; with grouped queries those of a "
                               "head stay for all its row blocks where it has no more",
                               Extent::kCount,
                               Grain::kOne,
                               16,
                               "stream",
                               {hal::kWord, 2, 1, 16}};

}  // namespace
}  // namespace parameter

using namespace parameter;

const Parameter* const kRowParameters[] = {&kBb, &kHh, &kNq, &kNkv, &kM0, &kN0, &kK0, &kKv, &kRb, nullptr};
const Parameter* const kScoreParameters[] = {
    &kBb, &kHh, &kNq, &kNkv, &kM0, &kN0, &kK0, &kKv, &kRb, &kNp, &kTileBuffers, &kSoftmaxBuffers, nullptr};
const Parameter* const kOnlineParameters[] = {&kOneBatch, &kOneHead, &kNq,    &kTileKeys, &kM0,    &kN0,
                                              &kK0,       &kRing,    &kSlabs, &kSteps,    &kSpare, nullptr};
const Parameter* const kDecodeParameters[] = {&kOneBatch, &kOneHead, &kNq,         &kNkv,       &kM0,
                                              &kN0,       &kK0,      &kWorkerRing, &kOneBuffer, nullptr};

}  // namespace attnvp::firmware
