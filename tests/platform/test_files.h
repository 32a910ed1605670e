// Files and messages for the tests of platform/machine and platform/base/npy.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp, setenv: POSIX

#include <filesystem>
#include <fstream>
#include <string>

#include "platform/machine/error.h"

namespace attnvp::testing {

// Temporary folder of a test, removed afterwards. It is the working directory, so that messages name its files without
// folder.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attnvp-test-XXXXXX").string();
    const char* made = ::mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr);
    path_ = std::filesystem::canonical(pattern).string();
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(path_);
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::current_path(before_, error);
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }

  // Writes a file, creating folders, and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file(path(name));
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

  std::size_t file_count() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) count += entry.exists() ? 1 : 0;
    return count;
  }

 private:
  std::string path_;
  std::filesystem::path before_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

// Message of the ConfigError; the test fails if there is none.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const config::ConfigError& problem) {
    return problem.what();
  }
  ADD_FAILURE() << "no ConfigError was thrown";
  return {};
}

}  // namespace attnvp::testing
