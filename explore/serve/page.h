// The page of the server: one document with its scripts and styles, made by the build from page/.
#pragma once

#include <string>

namespace attnvp::explore {

// `nonce`: of the content security policy.
std::string serve_page(const std::string& nonce);

}  // namespace attnvp::explore
