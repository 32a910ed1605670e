// Folder of configurations in the source tree from which this program was built.
#pragma once

namespace attnvp::config {

const char* built_from();

}  // namespace attnvp::config
