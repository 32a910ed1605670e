#include "platform/base/npy/npy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "tests/platform/test_files.h"

namespace attnvp::tensors {
namespace {

namespace fs = std::filesystem;
using attnvp::testing::message_of;
using attnvp::testing::read_file;
using attnvp::testing::TemporaryFolder;

std::string bytes(std::initializer_list<unsigned> values) {
  std::string out;
  for (const unsigned value : values) out += static_cast<char>(value);
  return out;
}

// A file of version 1 or 2 with this dictionary and data.
std::string npy(const std::string& dictionary, const std::string& data, unsigned major = 1) {
  std::string out = "\x93NUMPY" + bytes({major, 0});
  const unsigned size = static_cast<unsigned>(dictionary.size());
  out += bytes({size & 0xff, (size >> 8) & 0xff});
  if (major != 1) out += bytes({(size >> 16) & 0xff, size >> 24});
  return out + dictionary + data;
}

std::string dictionary(const std::string& type, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }          \n";
}

std::string floats(std::initializer_list<float> values) {
  std::string out;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    out += bytes({bits & 0xff, (bits >> 8) & 0xff, (bits >> 16) & 0xff, bits >> 24});
  }
  return out;
}

class Npy : public ::testing::Test {
 protected:
  Array read(const std::string& content) { return read_npy(folder_.write("x.npy", content)); }
  std::string refusal(const std::string& content) {
    return message_of([&] { read(content); }).substr(folder_.path("x.npy: ").size());
  }

  TemporaryFolder folder_;
};

TEST_F(Npy, ReadsFloat16) {
  const Array array = read(npy(dictionary("<f2", "(2, 1)"), bytes({0x00, 0x3c, 0xff, 0x7b})));
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(array.half, (std::vector<std::uint16_t>{0x3c00, 0x7bff}));
}

TEST_F(Npy, ReadsFloat32RoundedToNearestEven) {
  const Array array =
      read(npy(dictionary("<f4", "(7,)"), floats({1.0f, -2.0f, 2049.0f, 2051.0f, 65519.0f, 6e-8f, -INFINITY})));
  EXPECT_EQ(array.half, (std::vector<std::uint16_t>{0x3c00, 0xc000, 0x6800, 0x6802, 0x7bff, 0x0001, 0xfc00}));
}

TEST_F(Npy, RefusesFloat32BeyondFp16) {
  EXPECT_EQ(refusal(npy(dictionary("<f4", "(2,)"), floats({1.0f, 65520.0f}))),
            "element 1 is 65520, beyond FP16, whose largest is 65504");
}

TEST_F(Npy, ReadsVersion2AndEveryWayToWriteTheDictionary) {
  const std::string one = bytes({1, 0});
  EXPECT_EQ(read(npy(dictionary("<f2", "(1, 1)"), one, 2)).half.size(), 1u);
  EXPECT_EQ(read(npy("{\"shape\":(1,),\"descr\":\"<f2\",\"fortran_order\":False}\n", one)).half.size(), 1u);
  EXPECT_EQ(read(npy(dictionary("<f2", "()"), one)).half.size(), 1u);
  EXPECT_EQ(read(npy(dictionary("<f2", "(0, 5)"), "")).half.size(), 0u);
  EXPECT_EQ(read(npy(dictionary("<f2", "(18446744073709551615, 0)"), "")).half.size(), 0u);
}

TEST_F(Npy, ReadsLongNumbersOfPython2) {
  const Array array = read(npy(dictionary("<f2", "(1L, 2L)"), bytes({1, 0, 2, 0})));
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(read(npy(dictionary("<f2", "(2L,)"), bytes({1, 0, 2, 0}))).shape, (std::vector<std::size_t>{2}));
  for (const char* shape : {"(1LL, 2)", "(1 L, 2)", "(L, 2)", "(1Lx, 2)"}) {
    EXPECT_EQ(refusal(npy(dictionary("<f2", shape), bytes({1, 0, 2, 0}))).substr(0, 18), "has a bad header: ");
  }
}

TEST_F(Npy, RefusesWhatIsNotNpy) {
  EXPECT_EQ(refusal(""), "is not a .npy file");
  EXPECT_EQ(refusal("\x93NUMP"), "is not a .npy file");
  EXPECT_EQ(refusal("PK\x03\x04 some zip"), "is not a .npy file");
  EXPECT_EQ(refusal(npy(dictionary("<f2", "(1,)"), bytes({0, 0}), 3)), "has .npy version 3.0; allowed are 1.0 and 2.0");
}

TEST_F(Npy, RefusesOtherTypesAndOrders) {
  const std::string allowed = "; allowed are '<f2' and '<f4', little-endian float16 and float32";
  for (const std::string type : {">f2", "<f8", "<i4", "|u1", "f2"}) {
    EXPECT_EQ(refusal(npy(dictionary(type, "(1,)"), bytes({0, 0}))), "has element type '" + type + "'" + allowed);
  }
  EXPECT_EQ(refusal(npy(dictionary("<f2", "(1, 1)", "True"), bytes({0, 0}))),
            "is in Fortran order; allowed is C order (numpy.ascontiguousarray)");
  EXPECT_EQ(refusal(npy("{'descr': [('x', '<f2')], 'fortran_order': False, 'shape': (1,)}", bytes({0, 0}))),
            "has a bad header: a structured type; allowed are '<f2' and '<f4'");
}

TEST_F(Npy, RefusesTheWrongAmountOfData) {
  EXPECT_EQ(refusal(npy(dictionary("<f2", "(3,)"), bytes({0, 0, 0, 0, 0}))),
            "is truncated: shape (3,) needs 6 bytes of data, found 5");
  EXPECT_EQ(refusal(npy(dictionary("<f2", "(2,)"), bytes({0, 0, 0, 0, 0}))),
            "has trailing bytes: shape (2,) needs 4 bytes of data, found 5");
  EXPECT_EQ(refusal(npy(dictionary("<f2", "(4096, 4096, 4096, 4096)"), "")),
            "is truncated: shape (4096, 4096, 4096, 4096) needs 562949953421312 bytes of data, found 0");
  EXPECT_EQ(refusal(npy(dictionary("<f2", "(4294967296, 4294967296)"), "")),
            "has the absurd shape (4294967296, 4294967296)");
  EXPECT_EQ(refusal(npy(dictionary("<f2", "(4611686018427387904,)"), "")),
            "has the absurd shape (4611686018427387904,)");
}

TEST_F(Npy, RefusesEveryTruncation) {
  const std::string whole = npy(dictionary("<f2", "(2,)"), bytes({1, 2, 3, 4}), 2);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string message = refusal(whole.substr(0, size));
    EXPECT_TRUE(message == "is not a .npy file" || message.find("is truncated: ") == 0) << size << ": " << message;
  }
}

TEST_F(Npy, RefusesBadHeaders) {
  const auto message = [&](const std::string& text) {
    const std::string all = refusal(npy(text, bytes({0, 0})));
    EXPECT_EQ(all.substr(0, 18), "has a bad header: ");
    return all.substr(18);
  };
  EXPECT_EQ(message(""), "expected '{' at character 0");
  EXPECT_EQ(message("{}"), "key 'descr' is missing");
  EXPECT_EQ(message("{'descr': '<f2'}"), "key 'fortran_order' is missing");
  EXPECT_EQ(message("{'descr': '<f2', 'fortran_order': False}"), "key 'shape' is missing");
  EXPECT_EQ(message("{'descr': '<f2', 'descr': '<f2'}"), "key 'descr' is given twice");
  EXPECT_EQ(message("{'color': 1}"), "key 'color' is unknown; allowed: descr, fortran_order, shape");
  EXPECT_EQ(message("{descr: '<f2'}"), "expected a quoted text at character 1");
  EXPECT_EQ(message("{'descr': '<f2"), "a quoted text does not end");
  EXPECT_EQ(message("{'descr' '<f2'}"), "expected ':' at character 9");
  EXPECT_EQ(message("{'de\nscr': '<f2'}"), "unprintable text");
  EXPECT_EQ(message("{'descr': '<f2' 'shape': (1,)}"), "expected '}' at character 16");
  EXPECT_EQ(message(dictionary("<f2", "(1,)", "0")), "fortran_order is neither True nor False");
  EXPECT_EQ(message(dictionary("<f2", "[1]")), "expected '(' at character 50");
  EXPECT_EQ(message(dictionary("<f2", "(1)")), "the shape is not a tuple: (n) must be written (n,)");
  EXPECT_EQ(message(dictionary("<f2", "(1 2)")), "the shape is not a tuple: (n) must be written (n,)");
  EXPECT_EQ(message(dictionary("<f2", "(1, 2 3)")), "expected ')' at character 56");
  EXPECT_EQ(message(dictionary("<f2", "(-1,)")), "the shape is not a tuple of whole numbers, 0 or more");
  EXPECT_EQ(message(dictionary("<f2", "(99999999999999999999,)")),
            "the shape is not a tuple of whole numbers, 0 or more");
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  EXPECT_EQ(message(dictionary("<f2", many + ")")), "more than 32 dimensions");
  EXPECT_EQ(message(dictionary("<f2", "(1,)") + "x"), "text after the dictionary");
  EXPECT_EQ(refusal("\x93NUMPY" + bytes({2, 0, 0, 0, 2, 0}) + std::string(200000, ' ')),
            "has a header of 131072 bytes; allowed are 65536");
}

TEST_F(Npy, RefusesFilesThatCannotBeRead) {
  EXPECT_EQ(message_of([&] { read_npy(folder_.path("none.npy")); }),
            folder_.path("none.npy") + ": cannot be read: no such file");
  EXPECT_EQ(message_of([&] { read_npy(folder_.path()); }), folder_.path() + ": cannot be read: not a regular file");
  EXPECT_EQ(message_of([&] { read_npy("/dev/zero"); }), "/dev/zero: cannot be read: not a regular file");
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  write_npy(folder_.path("out.npy"), {{2, 3}, {1, 2, 3, 4, 5, 0xabcd}});
  const std::string content = read_file(folder_.path("out.npy"));
  const std::string text = "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }";
  ASSERT_EQ(content.size(), 128u + 12u);
  EXPECT_EQ(content.substr(0, 10), "\x93NUMPY" + bytes({1, 0, 118, 0}));
  EXPECT_EQ(content.substr(10, 118), text + std::string(117 - text.size(), ' ') + "\n");
  EXPECT_EQ(content.substr(128), bytes({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0xcd, 0xab}));
}

TEST_F(Npy, WhatIsWrittenReadsBack) {
  Array array{{3, 20000}, std::vector<std::uint16_t>(60000)};
  for (std::size_t i = 0; i < array.half.size(); ++i) array.half[i] = static_cast<std::uint16_t>(i % 0x7c00);
  for (const NpyType type : {NpyType::kFloat16, NpyType::kFloat32}) {
    const std::string path = folder_.path("out.npy");
    write_npy(path, array, type);
    EXPECT_EQ(fs::file_size(path), 128u + 60000u * (type == NpyType::kFloat16 ? 2 : 4));
    const Array again = read_npy(path);
    EXPECT_EQ(again.shape, array.shape);
    EXPECT_EQ(again.half, array.half);
  }
  EXPECT_EQ(folder_.file_count(), 1u);
}

TEST_F(Npy, EveryShapeHasAnAlignedHeader) {
  for (const std::vector<std::size_t>& shape :
       std::vector<std::vector<std::size_t>>{{}, {5}, {12, 512, 64}, std::vector<std::size_t>(32, 123456)}) {
    const std::string header = make_npy_header({"<f4", false, shape});
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
    EXPECT_EQ(parse_npy_header(std::string_view(header).substr(10)).shape, shape);
  }
}

TEST_F(Npy, RefusesToWriteDataThatIsNotTheShape) {
  EXPECT_THROW(write_npy(folder_.path("out.npy"), {{2, 3}, {1, 2}}), std::invalid_argument);
  EXPECT_EQ(folder_.file_count(), 0u);
}

TEST_F(Npy, APathThatCannotBeWrittenLeavesNothing) {
  const Array array{{1}, {1}};
  EXPECT_EQ(message_of([&] { write_npy(folder_.path("none/out.npy"), array); }),
            folder_.path("none/out.npy") + ": cannot be written: No such file or directory");
  EXPECT_EQ(message_of([&] { write_npy(folder_.path(), array); }),
            folder_.path() + ": cannot be written: Is a directory");
  EXPECT_EQ(message_of([&] { write_npy("", array); }), ": cannot be written: No such file or directory");
  folder_.write("file", "x");
  EXPECT_EQ(message_of([&] { write_npy(folder_.path("file/out.npy"), array); }),
            folder_.path("file/out.npy") + ": cannot be written: Not a directory");
  EXPECT_EQ(folder_.file_count(), 1u);
  EXPECT_EQ(message_of([&] { write_npy("/dev/full", array); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST_F(Npy, AReadOnlyFileOrFolderIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const std::string path = folder_.write("out.npy", "old");
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_EQ(message_of([&] { write_npy(path, {{1}, {1}}); }), path + ": cannot be written: Permission denied");
  EXPECT_EQ(read_file(path), "old");
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(message_of([&] {
              write_npy(folder_.path("new.npy"), {{1}, {1}});
            }),
            folder_.path("new.npy") + ": cannot be written: Permission denied");
  fs::permissions(folder_.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace attnvp::tensors
