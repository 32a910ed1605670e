// `attnvp run` with concurrent jobs, each on its own clusters.
#pragma once

#include <string>
#include <vector>

#include "cli/shared/job.h"

namespace attnvp::cli {

// `clusters`: of the first job. `beside`: the other jobs, "net=vit-b-16 dataflow=flat clusters=2".
int run_side_by_side(const JobArguments& arguments, const Prepared& prepared, const std::string& dataflow,
                     const std::string& clusters, const std::vector<std::string>& beside);

}  // namespace attnvp::cli
