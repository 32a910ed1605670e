// `attnvp run` of jobs side by side, each on clusters of its own.
#pragma once

#include <string>
#include <vector>

#include "cli/shared/job.h"

namespace attnvp::cli {

// `clusters`: the first job's. `beside`: the others, "net=vit-b-16 dataflow=flat clusters=2".
int run_side_by_side(const JobArguments& arguments, const Prepared& prepared, const std::string& dataflow,
                     const std::string& clusters, const std::vector<std::string>& beside);

}  // namespace attnvp::cli
