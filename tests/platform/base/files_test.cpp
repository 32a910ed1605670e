// Inputs and outputs as files.
#include "platform/base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "platform/base/origin.h"
#include "tests/platform/test_files.h"

namespace attnvp::files {
namespace {

namespace fs = std::filesystem;
using testing::message_of;
using testing::read_file;

class Files : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
};

TEST_F(Files, AtomicFileKeepsTheOldFileUntilCommit) {
  const std::string path = folder_.write("out.txt", "old");
  ::chmod(path.c_str(), 0640);
  {
    AtomicFile file(path);
    file.write("abandoned");
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder_.file_count(), 1u);
  AtomicFile file(path);
  file.write("new ");
  file.write("text");
  EXPECT_EQ(read_file(path), "old");
  file.commit();
  EXPECT_EQ(read_file(path), "new text");
  EXPECT_EQ(folder_.file_count(), 1u);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(Files, AtomicFileFollowsSymbolicLinksAndWritesDevicesDirectly) {
  const std::string target = folder_.write("target.txt", "old");
  fs::create_symlink("target.txt", folder_.path("link"));
  write_file_atomically(folder_.path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_.path("link")));
  EXPECT_EQ(read_file(target), "new");
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, AtomicFileWritesIntoTheWorkingFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  write_file_atomically("plain.txt", "x");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder_.path("plain.txt")), "x");
}

TEST_F(Files, AtomicFileFollowsLinksToWhereNothingIsYet) {
  fs::create_directory(folder_.path("there"));
  fs::create_symlink("there/new.txt", folder_.path("dangling"));
  write_file_atomically(folder_.path("dangling"), "x");
  EXPECT_TRUE(fs::is_symlink(folder_.path("dangling")));
  EXPECT_EQ(read_file(folder_.path("there/new.txt")), "x");
}

TEST_F(Files, OutputsAppearTogether) {
  Outputs outputs;
  Output* const one = outputs.open("--one", folder_.path("one"));
  Output* const two = outputs.open("--two", folder_.path("two"));
  Output* const full = outputs.open("--full", "/dev/full");
  EXPECT_EQ(outputs.open("--none", ""), nullptr);
  EXPECT_EQ(outputs.open_or_stdout("--json", "-"), nullptr);
  EXPECT_EQ(folder_.file_count(), 0u);
  one->write("1", Form::kOwn);
  full->write("x", Form::kOwn);
  EXPECT_NE(message_of([&] { outputs.commit(); }).find("No space left"), std::string::npos);
  EXPECT_EQ(folder_.file_count(), 0u);
  (void)two;

  Outputs again;
  again.open("--one", folder_.path("one"))->write("1", Form::kOwn);
  again.open("--two", folder_.path("two"));  // asked for, and never written
  again.commit();
  EXPECT_EQ(read_file(folder_.path("one")), "1");
  EXPECT_EQ(folder_.file_count(), 1u);
}

TEST_F(Files, NoOutputIsAnInputOrAnother) {
  const std::string input = folder_.write("input", "precious");
  fs::create_symlink("input", folder_.path("link"));
  fs::create_hard_link(input, folder_.path("hard"));
  EXPECT_EQ(files::read_file(input, 100), "precious");
  Outputs outputs;
  for (const char* name : {"input", "link", "hard"}) {
    EXPECT_NE(message_of([&] { outputs.open("--json", folder_.path(name)); }).find("is read by this command"),
              std::string::npos);
  }
  outputs.open("--a", folder_.path("new"));
  EXPECT_NE(message_of([&] { outputs.open("--b", folder_.path("./x/../new")); }).find("--a and --b are both to write"),
            std::string::npos);
  // One that is read only later is no less an input.
  Outputs late;
  late.open("--json", folder_.write("later", "too"))->write("gone", Form::kOwn);
  files::read_file(folder_.path("later"), 100);
  EXPECT_NE(message_of([&] { late.commit(); }).find("is read by this command"), std::string::npos);
  EXPECT_EQ(read_file(folder_.path("later")), "too");
}

TEST_F(Files, InputsAreRegularFilesOfABoundedSize) {
  const std::string path = folder_.write("file", "12345");
  EXPECT_EQ(message_of([&] { files::read_file(path, 4); }), path + ": is of 5 bytes; allowed are 4");
  EXPECT_EQ(message_of([&] { files::read_file(folder_.path("none"), 4); }), folder_.path("none") + ": no such file");
  ASSERT_EQ(::mkfifo(folder_.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(message_of([&] { files::read_file(folder_.path("pipe"), 4); }),
            folder_.path("pipe") + ": cannot be read: not a regular file");
}

// By each kind of file in its own way, whatever is in the values.
TEST(FilesOrigin, IsSaidByEveryKindOfFile) {
  text::set_command("attnvp run --set 'a=\"1,2\"' --> $end <x>");
  note("seed", "1");
  note("seed", "2\n");  // in place of the first
  const std::string command = "attnvp run --set 'a=\"1,2\"' --> $end <x>", version = text::version();
  EXPECT_EQ(with_origin(Form::kOwn, "{}"), "{}");
  EXPECT_EQ(with_origin(Form::kHash, "a: 1\n"),
            "# attnvp version: " + version + "\n# attnvp command: " + command + "\n# attnvp seed: 2\\n\na: 1\n");
  EXPECT_EQ(with_origin(Form::kCsv, "a,b\n1,\"x\ny\"\n"),
            "a,b,attnvp_version,attnvp_command,attnvp_seed\n1,\"x\ny\"," + version +
                ",\"attnvp run --set 'a=\"\"1,2\"\"' --> $end <x>\",2\\n\n");
  EXPECT_EQ(with_origin(Form::kVcd, "#0\n"),
            "$version AttnVP " + version + " $end\n$comment attnvp version: " + version +
                " $end\n$comment attnvp command: attnvp run --set 'a=\"1,2\"' --> $ end <x> $end\n"
                "$comment attnvp seed: 2\\n $end\n#0\n");
  EXPECT_NE(with_origin(Form::kMarkdown, "# T\n")
                .find("<!-- attnvp command: attnvp run --set 'a=\"1,2\"' -- > $end <x> -->\n"),
            std::string::npos);
  EXPECT_EQ(with_origin(Form::kSvg, "<svg a=\"b\">\n<g/></svg>\n").find("<svg a=\"b\">\n<metadata>attnvp version: "),
            0U);
  EXPECT_NE(with_origin(Form::kSvg, "<svg></svg>").find("--&gt; $end &lt;x&gt;"), std::string::npos);
  EXPECT_NE(
      with_origin(Form::kHtml, "<head><meta charset=\"utf-8\">")
          .find(
              "<meta name=\"attnvp:command\" content=\"attnvp run --set 'a=&quot;1,2&quot;' --&gt; $end &lt;x&gt;\">"),
      std::string::npos);
  text::set_command("");
}

}  // namespace
}  // namespace attnvp::files
