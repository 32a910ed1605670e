#define Eigen EigenV3
#define ATTNVP_KERNEL native_attention_v3
#include "benchmarks/native_attention_kernel.h"
