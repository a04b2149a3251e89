// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/ort/ort_engine.h"

namespace leapp::engine {
namespace {

namespace fs = std::filesystem;

// Each way to find the library is tried in a process of its own: once loaded, it stays.
class LibraryDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if !defined(LEAPP_TEST_EMULATED)  // an emulated program cannot start itself again, only fork
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
#endif
    unsetenv("LEAPP_ONNXRUNTIME");
  }

  // Ends the process: 0 when an engine was found, else 1 with the message on stderr.
  [[noreturn]] static void open_and_exit(const Options& options) {
    const auto engine = open_onnxruntime(options);
    std::fputs(engine.ok() ? engine.value()->description().c_str() : engine.status().message().c_str(), stderr);
    std::exit(engine.ok() ? 0 : 1);
  }

  static bool have_library() { return !std::string(LEAPP_TEST_ONNXRUNTIME).empty(); }
  static fs::path library() { return LEAPP_TEST_ONNXRUNTIME; }
};

TEST_F(LibraryDeathTest, MissingEverywhereSaysWhatToDo) {
  // On a machine whose loader finds one there is nothing to miss.
  if (open_onnxruntime({}).ok()) GTEST_SKIP() << "this machine has an ONNX Runtime of its own";
  const std::string message = open_onnxruntime({}).status().message();
  EXPECT_EQ(open_onnxruntime({}).status().code(), StatusCode::kNotFound);
  for (const char* part : {"pip install onnxruntime", "LEAPP_ONNXRUNTIME=", "option onnxruntime_library", "1.17",
                           "LEAPP_ONNXRUNTIME: not set", "libonnxruntime.so.1"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
}

TEST_F(LibraryDeathTest, ALibraryThatIsCutOffIsAnError) {
  if (!have_library()) GTEST_SKIP() << "no ONNX Runtime to cut";
  const fs::path cut = fs::path(::testing::TempDir()) / "cut" / "libonnxruntime.so.1";
  fs::create_directories(cut.parent_path());
  for (const std::uintmax_t size : {std::uintmax_t{4096}, std::uintmax_t{1} << 20U, fs::file_size(library()) - 1}) {
    fs::copy_file(library(), cut, fs::copy_options::overwrite_existing);
    fs::resize_file(cut, size);
    EXPECT_EXIT(open_and_exit({.onnxruntime_library = cut.string()}), ::testing::ExitedWithCode(1),
                "libonnxruntime.so.1 is cut off: its headers describe [0-9]+ bytes, it has " + std::to_string(size));
  }
  fs::remove_all(cut.parent_path());
}

TEST_F(LibraryDeathTest, NamedPlacesMustHaveOne) {
  EXPECT_EXIT(open_and_exit({.onnxruntime_library = "/nowhere/lib.so"}), ::testing::ExitedWithCode(1),
              "option onnxruntime_library: .*at /nowhere/lib.so");
  EXPECT_EXIT(
      {
        setenv("LEAPP_ONNXRUNTIME", "/nowhere", 1);
        open_and_exit({});
      },
      ::testing::ExitedWithCode(1), "LEAPP_ONNXRUNTIME: .*at /nowhere");
  const fs::path text = fs::path(::testing::TempDir()) / "libonnxruntime.so.1";
  std::ofstream(text) << "no library";
  EXPECT_EXIT(open_and_exit({.onnxruntime_library = text.string()}), ::testing::ExitedWithCode(1),
              "option onnxruntime_library: .*libonnxruntime.so.1: .*(invalid ELF header|file too short)");
  fs::remove(text);
  EXPECT_EXIT(open_and_exit({.onnxruntime_library = "/proc/self/exe"}), ::testing::ExitedWithCode(1),
              "option onnxruntime_library");
}

TEST_F(LibraryDeathTest, FoundByOptionEnvironmentAndPackage) {
  if (!have_library()) GTEST_SKIP() << "no ONNX Runtime to test with";
  const auto found = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(open_and_exit({.onnxruntime_library = library().string()}), found, "ONNX Runtime 1\\..*libonnxruntime");
  EXPECT_EXIT(open_and_exit({.onnxruntime_library = library().parent_path().string()}), found, "ONNX Runtime 1\\.");
  EXPECT_EXIT(
      {
        setenv("LEAPP_ONNXRUNTIME", library().c_str(), 1);
        open_and_exit({.onnxruntime_package = "/nowhere"});
      },
      found, "ONNX Runtime 1\\.");
  const std::string package = library().parent_path().parent_path().string();
  EXPECT_EXIT(open_and_exit({.onnxruntime_package = package}), found, "ONNX Runtime 1\\.");
}

TEST_F(LibraryDeathTest, OneThatIsLoadedIsTakenBeforeThePackage) {
  if (!have_library()) GTEST_SKIP() << "no ONNX Runtime to test with";
  EXPECT_EXIT(
      {
        if (!open_onnxruntime({.onnxruntime_library = library().string()}).ok()) std::exit(2);
        open_and_exit({.onnxruntime_package = "/nowhere"});
      },
      ::testing::ExitedWithCode(0), "ONNX Runtime 1\\.");
}

}  // namespace
}  // namespace leapp::engine
