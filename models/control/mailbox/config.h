// Parameters of the mailbox.
#pragma once

#include <string>

#include "models/keys/keys.h"

namespace attnvp {

struct MailboxConfig {
  std::string kind = "model";

  static void describe(config::Keys<MailboxConfig>& key) {
    key(config::kind("kind", "mailbox", "the memory through which the host hands jobs to firmware"),
        &MailboxConfig::kind);
  }
};

}  // namespace attnvp
