// The folder of configurations in the source tree that this program was built from.
#pragma once

namespace attnvp::config {

const char* built_from();

}  // namespace attnvp::config
