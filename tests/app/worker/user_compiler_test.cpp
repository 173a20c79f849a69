// A user's text is compiled in another process: it may hang, die, eat memory and ask for files, and costs itself alone.
#include "app/worker/user_compiler.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/environment/asked.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

// Does what its text says.
class Told final : public gpu::Compiler {
 public:
  explicit Told(std::string where) : where_(std::move(where)) {}
  std::string version() override { return "told 1.0"; }
  Result<gpu::Cubin> compile(const gpu::KernelSource& source, const std::vector<std::string>& options) override {
    if (source.name == "warm.cu") return gpu::Cubin{};
    if (source.text == "hang") {
      while (true) ::pause();
    }
    if (source.text == "die") ::raise(SIGKILL);
    if (source.text == "wrong") return bad_input("line 1: it is wrong\xff");
    if (source.text == "eat") {
      std::vector<std::vector<char>> all;
      while (true) all.emplace_back(16 << 20, 'x');
    }
    std::string log = where_ + " " + std::to_string(::getpid()) + " " + options.at(0);
    if (source.text.starts_with("/")) log = std::ifstream(source.text).is_open() ? "opened" : "refused";
    if (source.text.starts_with(">")) log = std::ofstream(source.text.substr(1)).is_open() ? "opened" : "refused";
    return gpu::Cubin{{std::byte{1}, std::byte{0}, std::byte{2}}, log, source.text + std::string(1, '\0') + "ptx"};
  }

 private:
  std::string where_;
};

CompilerOpener told(const std::string& where) {
  return [where]() -> Result<std::unique_ptr<gpu::Compiler>> { return std::make_unique<Told>(where); };
}

gpu::KernelSource text(const std::string& words, bool of_user = true) {
  gpu::KernelSource source;
  source.name = "mine.cu";
  source.text = words;
  source.of_user = of_user;
  return source;
}

class UserCompiler : public ::testing::Test {
 protected:
  Result<gpu::Cubin> compile(const std::string& words, bool of_user = true) {
    auto compiler = open_();
    EXPECT_TRUE(compiler);
    (*compiler)->heed(stop_.get_token());
    return (*compiler)->compile(text(words, of_user), {"an option"});
  }
  std::string log(const std::string& words, bool of_user = true) {
    const auto cubin = compile(words, of_user);
    return cubin ? cubin->log : cubin.error().message;
  }
  TempFolder folder_;
  int starts_ = 0;
  std::stop_source stop_;
  CompilerOpener open_ = compilers(
      [this] {
        ++starts_;
        return Child::copy([](Socket& socket) { return compile_for_users(socket, told("there")); });
      },
      told("here"), {2, 256ULL << 20});
};

TEST_F(UserCompiler, AUsersTextGoesToOneWarmProcessAndOursStaysHere) {
  EXPECT_EQ(log("ours", false), "here " + std::to_string(::getpid()) + " an option");
  EXPECT_EQ(starts_, 0);
  const auto first = compile("mine");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->log.starts_with("there ")) << first->log;
  EXPECT_EQ(first->code, (std::vector<std::byte>{std::byte{1}, std::byte{0}, std::byte{2}}));
  EXPECT_EQ(first->ptx, std::string("mine\0ptx", 8));
  EXPECT_EQ(log("other"), first->log);
  EXPECT_EQ(starts_, 1);
}

TEST_F(UserCompiler, WhatIsWrongWithATextIsSaidAndEndsNothing) {
  const auto wrong = compile("wrong");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::bad_input);
  EXPECT_TRUE(wrong.error().message.starts_with("line 1: it is wrong")) << wrong.error().message;
  EXPECT_TRUE(compile("mine"));
  EXPECT_EQ(starts_, 1);
}

TEST_F(UserCompiler, OneThatIsLostCostsItsTextAloneAndTheNextStartsANewOne) {
  int starts = 0;
  for (const auto& [words, said] : {std::pair("hang", "not compiled within 2 s"), std::pair("die", "signal 9")}) {
    const auto lost = compile(words);
    ASSERT_FALSE(lost) << words;
    EXPECT_NE(lost.error().message.find(said), std::string::npos) << lost.error().message;
    EXPECT_TRUE(compile("mine")) << words;
    EXPECT_EQ(starts_, starts += starts == 0 ? 2 : 1);
  }
}

TEST_F(UserCompiler, MemoryHasABound) {
  if (test::asked("ATTNSCOPE_SANITIZED")) GTEST_SKIP() << "what a sanitizer reserves is beyond any bound";
  const auto begin = std::chrono::steady_clock::now();
  const auto eaten = compile("eat");
  ASSERT_FALSE(eaten);
  EXPECT_NE(eaten.error().message.find("memory"), std::string::npos) << eaten.error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_TRUE(compile("mine"));
}

TEST_F(UserCompiler, OpensNoFileButCudasHeaders) {
  const auto file = folder_ / "secret.h";
  put_file(file, "secret");
  EXPECT_EQ(log(file.string()), "refused");
  EXPECT_EQ(log("/etc/passwd"), "refused");
  EXPECT_EQ(log(">" + (folder_ / "written").string()), "refused");
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(UserCompiler, AStopEndsACompilation) {
  open_ = compilers([] { return Child::copy([](Socket& s) { return compile_for_users(s, told("there")); }); },
                    told("here"), {60, 256ULL << 20});
  const std::jthread after([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop_.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto stopped = compile("hang");
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(UserCompiler, WithoutACompilerItSaysWhy) {
  const auto none = []() -> Result<std::unique_ptr<gpu::Compiler>> { return fail(ErrorKind::cannot_run, "no NVRTC"); };
  open_ = compilers([none] { return Child::copy([none](Socket& s) { return compile_for_users(s, none); }); },
                    told("here"), {2, 256ULL << 20});
  const auto missing = compile("mine");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "no NVRTC");
  EXPECT_EQ(missing.error().kind, ErrorKind::cannot_run);
}

}  // namespace
}  // namespace attn
