// The command line from outside: help, exit codes, step, verify, list, doctor, cancelling.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/base/files.h"
#include "kernels/formats/container.h"
#include "kernels/recording/file/recording_file.h"
#include "tests/cli/program.h"
#include "tests/environment/asked.h"
#include "tests/environment/paths.h"

namespace attn::test {
namespace {

using nlohmann::json;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Help, OfEveryCommandShowsTwoExamplesThatParse) {
  for (const std::string command :
       {"", "step", "run", "bench", "verify", "list", "doctor", "shot", "report", "inspect"}) {
    const Done done =
        run(command.empty() ? std::vector<std::string>{"--help"} : std::vector<std::string>{command, "--help"});
    EXPECT_EQ(done.code, 0) << command;
    EXPECT_TRUE(done.err.empty()) << done.err;
    const std::size_t examples = done.out.find("Examples:");
    ASSERT_NE(examples, std::string::npos) << command;
    EXPECT_GE(count(done.out.substr(examples), "\n  attnscope"), 2U) << command;
  }
}

TEST(Help, NamesEveryCommand) {
  const std::string help = run({"--help"}).out;
  for (const std::string command : {"step", "run", "bench", "verify", "list", "doctor", "shot", "report", "inspect"}) {
    EXPECT_NE(help.find("\n  " + command + " "), std::string::npos) << command;
  }
}

TEST(Version, GoesToStdout) {
  const Done done = run({"--version"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out.rfind("attnscope ", 0), 0U) << done.out;
}

TEST(Licenses, NameWhatIsShipped) {
  const Done done = run({"--licenses"});
  EXPECT_EQ(done.code, 0) << done.err;
  for (const char* name : {"MIT", "Dear ImGui", "ImPlot", "GLFW", "Roboto"}) {
    EXPECT_NE(done.out.find(name), std::string::npos) << name;
  }
}

TEST(Usage, WrongIsExitTwoWithTheValueAndNothingOnStdout) {
  struct Wrong {
    std::vector<std::string> arguments;
    std::string named;
  };
  for (const Wrong& w : std::vector<Wrong>{{{"nonsense"}, "nonsense"},
                                           {{"--frobnicate"}, "--frobnicate"},
                                           {{"--state", "attn99,x=1"}, "attn99"},
                                           {{"--scale", "9"}, "9"},
                                           {{"--theme", "mauve"}, "mauve"},
                                           {{"step", "--preset", "mystery"}, "mystery"},
                                           {{"step", "--kernel", "mystery"}, "mystery"},
                                           {{"step", "--generator", "mystery"}, "mystery"},
                                           {{"step", "--from", "0"}, "0"},
                                           {{"step", "--from", "9", "--to", "3"}, "9"},
                                           {{"step", "--to", "99999"}, "99999"},
                                           {{"step", "--lq", "-4"}, "-4"},
                                           {{"step", "--d", "257"}, "257"},
                                           {{"step", "--lq", "abc"}, "abc"},
                                           {{"step", "--q", "only.npy"}, "--q"},
                                           {{"step", "--tile", "0x0"}, "0x0"},
                                           {{"step", "--lq", "100000", "--d", "64"}, "64.0 MiB"},  // a recording's cap
                                           {{"step", "--time-limit", "nan"}, "nan"},
                                           {{"step", "--attn", "/nowhere/x.attn"}, "/nowhere"},
                                           {{"bench"}, "--values"},
                                           {{"bench", "--values", "a"}, "a"},
                                           {{"bench", "--values", "0"}, "0"},
                                           {{"bench", "--values", "8", "--axis", "Q"}, "Q"},
                                           {{"bench", "--values", "8", "--kernels", "mystery"}, "mystery"},
                                           {{"bench", "--values", "8", "--csv", "/nowhere/x.csv"}, "/nowhere"},
                                           {{"bench", "--values", "8", "--csv", "-", "--json", "-"}, "stdout"},
                                           {{"bench", "--values", "8", "--verify", "perhaps"}, "perhaps"},
                                           {{"verify", "--kernel", "mystery"}, "mystery"},
                                           {{"verify", "--dtype", "f8"}, "f8"},
                                           {{"verify", "--repeats", "0"}, "0"},
                                           {{"shot"}, "--out"},
                                           {{"shot", "--view", "sky", "-o", "x.png"}, "sky"},
                                           {{"shot", "--size", "10x10", "-o", "x.png"}, "10x10"},
                                           {{"shot", "--step", "9999", "-o", "x.png"}, "9999"},
                                           {{"shot", "--panel", "all", "-o", "x.png"}, "all"},
                                           {{"shot", "--view", "learn", "--panel", "run", "-o", "x.png"}, "--panel"},
                                           {{"list", "extra"}, "extra"}}) {
    const Done done = run(w.arguments);
    EXPECT_EQ(done.code, 2) << w.arguments.back() << ": " << done.err;
    EXPECT_NE(done.err.find(w.named), std::string::npos) << w.named << " is not in: " << done.err;
    EXPECT_TRUE(done.out.empty()) << done.out;
  }
}

// What users of other libraries look for: which kernel option there is none of, and what comes closest.
TEST(Usage, WhatNoKernelTakesIsNamed) {
  for (const auto& [option, words] : {std::pair("--sinks", "No kernel supports a sink logit per head."),
                                      std::pair("--cu-seqlens-q", "No kernel supports packed sequences."),
                                      std::pair("--varlen", "to one length and use --key-lengths")}) {
    const Done done = run({"bench", "--kernels", "flash_hopper", "--values", "64", option, "1"});
    EXPECT_EQ(done.code, 2) << option;
    EXPECT_NE(done.err.find(words), std::string::npos) << done.err;
  }
  EXPECT_EQ(run({"bench", "--values", "64", "--no-such-thing"}).err.find("No kernel supports"), std::string::npos);
}

TEST(Usage, WhatThisMachineCannotDoIsExitThree) {
  const Done device = run({"step", "--kernel", "flash_simt", "--device", "gpu:0"});
  EXPECT_EQ(device.code, 3);
  EXPECT_NE(device.err.find("NVIDIA driver"), std::string::npos) << device.err;
  const Done memory = run({"bench", "--values", "4096", "--kernels", "cpu_sequential", "--memory-limit", "1M"});
  EXPECT_EQ(memory.code, 3);
  EXPECT_NE(memory.err.find("largest L that fits"), std::string::npos) << memory.err;
  EXPECT_EQ(count(memory.out, "\n"), 2U) << "the refused point is a row";
}

// SOURCES: the blackboard example, worked out in fp64.
TEST(Step, JsonOfTheBlackboardHoldsTheKnownNumbers) {
  const Done done = run({"step", "--preset", "blackboard", "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
  const json j = json::parse(done.out);
  EXPECT_EQ(j["kernel"], "cpu_flash");
  EXPECT_EQ(j["steps"].size(), j["step_count"].get<std::size_t>());
  const std::vector<double> out{0.697084, 0.797084, 0.699990, 0.799990, 0.7, 0.8, 0.7, 0.8};
  for (std::size_t n = 0; n < 8; ++n) EXPECT_NEAR(j["out"]["values"][n].get<double>(), out[n], 6e-7) << n;
  const std::vector<double> lse{15.217270, 35.001836, 54.800776, 74.599765};
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(j["lse"]["values"][n].get<double>(), lse[n], 5e-6) << n;

  const auto made = [&](const std::string& phase, int i, int jj, const std::string& tensor) -> json {
    for (const json& step : j["steps"]) {
      if (step["phase"] != phase || step["i"] != i || step["j"] != jj) continue;
      for (const json& version : step["made"]) {
        if (version["tensor"] == tensor) return version["values"];
      }
    }
    return {};
  };
  const json scores = made("scores", 0, 0, "s"), m = made("max", 0, 1, "m_new"), alpha = made("rescale", 0, 1, "alpha");
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_NEAR(scores[0][0].get<double>(), 2.474874, 1e-6);
  EXPECT_NEAR(scores[1][1].get<double>(), 15.202796, 2e-6);
  ASSERT_EQ(m.size(), 2U);
  EXPECT_NEAR(m[1][0].get<double>(), 35.001786, 4e-6);
  ASSERT_EQ(alpha.size(), 2U);
  EXPECT_NEAR(alpha[0][0].get<double>(), 0.000206, 1e-6);
}

TEST(Step, TextTellsEveryStepOnceWithItsNumbers) {
  const Done done = run({"step"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(done.err.empty()) << done.err;
  const json j = json::parse(run({"step", "--json"}).out);
  const auto steps = j["step_count"].get<std::size_t>();
  EXPECT_EQ(count(done.out, "\nStep "), steps);
  for (const char* number : {"6.71751", "0.301", "0.697084", "15.2172", "74.5997"}) {
    EXPECT_NE(done.out.find(number), std::string::npos) << number;
  }
}

TEST(Step, RangeOfTheTextIsThatPartOfTheWhole) {
  const std::string all = run({"step"}).out, part = run({"step", "--from", "3", "--to", "5"}).out;
  const std::size_t first = part.find("Step 3 of");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(count(part, "\nStep "), 3U);
  EXPECT_NE(all.find(part.substr(first)), std::string::npos);
}

TEST(Step, EveryOrderAndPresetIsTold) {
  std::size_t told = 0;
  for (const char* kernel : {"cpu_sequential", "cpu_tiled", "cpu_flash1", "cpu_flash"}) {
    for (const char* preset : {"causal", "ragged", "masked_row", "non_finite", "heads", "window", "padded", "bias"}) {
      if (test::left_to_release(told++, 3)) continue;
      const Done done = run({"step", "--preset", preset, "--kernel", kernel, "--json"});
      ASSERT_EQ(done.code, 0) << kernel << " " << preset << ": " << done.err;
      const json j = json::parse(done.out);
      EXPECT_EQ(j["kernel"], kernel);
      // The running counters end at the sum of what each step asked for.
      std::uint64_t sum = 0, total = 0;
      for (const json& step : j["steps"]) sum += step["hbm_bytes"].get<std::uint64_t>();
      for (const auto& [part, bytes] : j["tile_load_bytes"].items()) total += bytes.get<std::uint64_t>();
      EXPECT_EQ(sum, total) << kernel << " " << preset;
    }
  }
}

TEST(Step, WritesARecordingThatShotOpens) {
  const Folder folder;
  const std::string file = (folder / "r.attn").string(), picture = (folder / "r.png").string();
  ASSERT_EQ(run({"step", "--preset", "causal", "--attn", file, "--to", "1"}).code, 0);
  const Done shot = run({"shot", "--view", "step", "--session", file, "-o", picture});
  if (shot.code == 3) GTEST_SKIP() << shot.err;
  EXPECT_EQ(shot.code, 0) << shot.err;
  EXPECT_TRUE(std::filesystem::exists(picture));
}

TEST(Step, AnOwnSentenceIsKeptAsLabelsAndOneThatIsNoneIsRefused) {
  const Folder folder;
  const std::string file = (folder / "words.attn").string();
  const Done done = run({"step", "--sentence", "we can can a can", "--to", "1", "--attn", file});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto rec = read_recording(file);
  ASSERT_TRUE(rec) << rec.error().message;
  const std::vector<std::string> words{"we", "can", "can", "a", "can"};
  EXPECT_EQ(rec->labels, (Labels{words, words}));
  for (const auto& [sentence, why] :
       {std::pair{"", "an empty value"}, {"alone", "has 1 word"}, {"a\tb", "control character"}}) {
    const Done refused = run({"step", "--sentence", sentence});
    EXPECT_EQ(refused.code, 2) << sentence;
    EXPECT_NE(refused.err.find(why), std::string::npos) << refused.err;
  }
}

TEST(Step, ARecordingDoesNotReplaceASessionUnasked) {
  const Folder folder;
  const std::string file = (folder / "r.attn").string();
  ASSERT_EQ(run({"step", "--preset", "causal", "--attn", file, "--to", "1"}).code, 0);
  const std::string before = text_of(file);
  const Done again = run({"step", "--preset", "random", "--attn", file, "--to", "1"});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
  EXPECT_EQ(text_of(file), before);
  EXPECT_EQ(run({"step", "--preset", "random", "--attn", file, "--to", "1", "--force"}).code, 0);
  EXPECT_NE(text_of(file), before);
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Shot, StepsAreThoseOfTheSessionsRecording) {
  const Folder folder;
  const std::string file = (folder / "r.attn").string(), picture = (folder / "r.png").string(),
                    same = (folder / "same.png").string();
  ASSERT_EQ(run({"step", "--preset", "causal", "--attn", file, "--to", "1"}).code, 0);
  const Done shot = run({"shot", "--session", file, "--step", "40", "-o", picture});
  if (shot.code == 3) GTEST_SKIP() << shot.err;
  ASSERT_EQ(shot.code, 0) << shot.err;
  EXPECT_EQ(shot.err.find("replay"), std::string::npos) << shot.err;
  // Blackboard, which was drawn before, has fewer steps than this; the picture is another than its.
  const Done beyond = run({"shot", "--session", file, "--step", "100000", "-o", same});
  EXPECT_EQ(beyond.code, 2);
  ASSERT_EQ(run({"shot", "--preset", "blackboard", "--step", "1", "-o", same}).code, 0);
  EXPECT_NE(text_of(picture), text_of(same));
  const Done both = run({"shot", "--session", file, "--preset", "random", "--step", "1", "-o", same});
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("already contains a recording"), std::string::npos) << both.err;
}

TEST(Shot, ARecordingThatDoesNotHoldTogetherIsDrawnAndSaid) {
  const Folder folder;
  const std::string file = (folder / "r.attn").string(), picture = (folder / "r.png").string();
  ASSERT_EQ(run({"step", "--preset", "causal", "--attn", file, "--to", "1"}).code, 0);
  auto container = *read_container(file);
  container.files.at("r0/arena.npy").back() ^= std::byte{1};
  ASSERT_TRUE(write_file_atomically(file, *container_bytes(container)));
  const Done shot = run({"shot", "--session", file, "--step", "3", "-o", picture});
  if (shot.code == 3) GTEST_SKIP() << shot.err;
  EXPECT_EQ(shot.code, 0) << shot.err;
  EXPECT_NE(shot.err.find("the replay differs: step "), std::string::npos) << shot.err;
}

// The whole paired list: every CPU kernel, every mask, every dtype that its row declares.
TEST(Verify, PassesEveryKernelOfTheLadderAndSaysTheTwoNumbers) {
  std::vector<std::string> all{"verify"};
  // The long cases are one of the long lists: they take a minute of two cores. A sanitizer makes it many.
  const bool sanitized = test::asked("ATTNSCOPE_SANITIZED");
  if (sanitized || !test::asked("ATTNSCOPE_LONG_TESTS"))
    all.insert(all.end(), {"--longest", sanitized ? "128" : "256"});
  const Done done = run(all);
  EXPECT_EQ(done.code, 0) << done.err << done.out;
  EXPECT_EQ(count(done.out, "skipped "), 1U) << "more than the heading: " << done.out;
  for (const json& row : json::parse(run({"list", "--json"}).out)) {
    if (row["place"] != "cpu") continue;          // those are asked for by their device
    if (row["passes"][0] != "forward") continue;  // and those by their pass
    EXPECT_EQ(count(done.out, "\n" + row["id"].get<std::string>() + " "), row["dtypes"].size()) << row["id"];
  }
  EXPECT_NE(done.out.find("error"), std::string::npos);
  EXPECT_NE(done.out.find("allowed"), std::string::npos);
}

// l and O kept in bf16 on f32 inputs: a wrong kernel, made by an option that is there to show it.
TEST(Verify, FailsAWrongKernelWithALineACase) {
  const Done done =
      run({"verify", "--kernel", "cpu_flash", "--dtype", "f32", "--accumulate", "bf16", "--memory-limit", "1M"});
  EXPECT_EQ(done.code, 1) << done.out;
  EXPECT_GT(count(done.out, "FAIL cpu_flash on "), 20U);
  EXPECT_NE(done.err.find("failed"), std::string::npos);
}

TEST(Bench, CallsAWrongKernelWrongInItsExitCode) {
  const Done done = run({"bench", "--kernels", "cpu_flash", "--values", "64", "--accumulate", "bf16"});
  EXPECT_EQ(done.code, 1) << done.err;
  EXPECT_NE(done.err.find("WRONG"), std::string::npos) << done.err;
}

TEST(Bench, WritesASessionAndAPictureOfIt) {
  const Folder folder;
  const std::string session = (folder / "s.attn").string(), picture = (folder / "s.png").string();
  const Done done = run({"bench", "--kernels", "cpu_flash,cpu_tiled", "--values", "16,32", "--time-limit", "0.02",
                         "--attn", session, "--png", picture});
  EXPECT_GT(std::filesystem::file_size(session), 500U);
  if (done.code == 3) GTEST_SKIP() << done.err;
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(done.out.empty()) << "data on stdout though files were named";
  EXPECT_EQ(text_of(picture).substr(1, 3), "PNG");
}

// A length is held against the keys of each point, whatever the problem had before the axis changed it.
TEST(Bench, HoldsKeyLengthsAgainstTheKeysOfEachPoint) {
  const auto with = [](const char* values, const char* lengths) {
    return run({"bench", "--kernels", "cpu_flash", "--axis",   "L",   "--values",      values,  "--b",
                "1",     "--hq",      "1",         "--d",      "16",  "--key-lengths", lengths, "--time-limit",
                "0.01",  "--repeats", "1",         "--verify", "none"});
  };
  const Done longer = with("8192", "8000");
  EXPECT_EQ(longer.code, 0) << longer.err;
  const Done shorter = with("96,32", "40");
  EXPECT_EQ(shorter.code, 2);
  EXPECT_NE(shorter.err.find("L = 32: "), std::string::npos) << shorter.err;
  EXPECT_NE(shorter.err.find("Key length 40 of batch 0 is outside the range 0 to Lk = 32"), std::string::npos)
      << shorter.err;
  EXPECT_EQ(with("64", "1,2").code, 2);
}

TEST(Verify, SaysWhatItSkipsAndWhy) {
  const Done done = run({"verify", "--kernel", "cpu_flash", "--dtype", "f16", "--memory-limit", "1M"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("skipped"), std::string::npos);
  EXPECT_NE(done.out.find("L=4096"), std::string::npos);
}

TEST(List, HoldsTheLadderInItsOrder) {
  const json j = json::parse(run({"list", "--json"}).out);
  std::vector<std::string> ids;
  for (const json& row : j) ids.push_back(row["id"]);
  const std::vector<std::string> wanted{"cpu_sequential", "cpu_multicore", "cpu_tiled", "cpu_flash1", "cpu_flash"};
  ASSERT_GE(ids.size(), wanted.size());
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), ids.begin()));
  const std::string text = run({"list"}).out;
  for (const std::string& id : wanted) EXPECT_NE(text.find(id), std::string::npos) << id;
}

TEST(Doctor, LooksAtEveryPartAndSaysWhatWouldChangeWhatIsMissing) {
  const Done done = run({"doctor"});
  EXPECT_EQ(done.code, 0) << done.out << done.err;
  for (const char* part : {"CPU", "Memory", "Kernel cpu_flash", "Fonts", "Window", "Pictures without a display",
                           "Settings", "NVIDIA driver", "NVRTC", "CUPTI"}) {
    EXPECT_NE(done.out.find(part), std::string::npos) << part;
  }
  EXPECT_NE(done.out.find("to fix it"), std::string::npos);  // no display here, if nothing else
}

TEST(Stopping, CtrlCKeepsTheFinishedRowsOfASweep) {
  const Folder folder;
  const std::string csv = (folder / "s.csv").string();
  Program program({"bench", "--kernels", "cpu_flash", "--values", "16,2048,4096,8192", "--csv", csv, "--time-limit",
                   "30", "--verify", "none"});
  ASSERT_TRUE(program.says("L=16 ", 60));
  program.signal(SIGINT);
  const Done done = program.wait();
  EXPECT_EQ(done.code, 130) << done.err;
  const std::string rows = text_of(csv);
  EXPECT_NE(rows.find("\ncpu_flash,"), std::string::npos) << rows;
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Stopping, CtrlCOfACheckPrintsWhatWasChecked) {
  Program program({"verify", "--full", "--kernel", "cpu_sequential"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  program.signal(SIGINT);
  const Done done = program.wait();
  EXPECT_EQ(done.code, 130) << done.err;
  EXPECT_NE(done.out.find("cpu_sequential"), std::string::npos);
}

TEST(Stopping, TimeLimitIsExitThreeAndSaysSo) {
  const Done done = run({"verify", "--full", "--time-limit", "0.3", "--kernel", "cpu_sequential"});
  EXPECT_EQ(done.code, 3) << done.err;
  EXPECT_NE(done.err.find("time limit of 0.3 s"), std::string::npos) << done.err;
}

TEST(Stopping, AFullDiskBehindStdoutIsToldNotLost) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
  const std::string command = test::program() + " list > /dev/full 2> /dev/null";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(Shot, WritesAPngOfTheAskedSize) {
  const Folder folder;
  const std::string file = (folder / "p.png").string();
  const Done done =
      run({"shot", "--view", "step", "--preset", "causal", "--step", "7", "--size", "800x600", "-o", file});
  if (done.code == 3) GTEST_SKIP() << done.err;
  ASSERT_EQ(done.code, 0) << done.err;
  const std::string png = text_of(file);
  ASSERT_GT(png.size(), 1000U);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\x03\x20\0\0\x02\x58", 8));  // 800 x 600, big endian
}

TEST(Shot, MakesAGifOrAFolderOfPngsOfSeveralSteps) {
  const Folder folder;
  const std::string gif = (folder / "s.gif").string(), pngs = (folder / "s").string();
  const Done done = run({"shot", "--preset", "causal", "--step", "3..5", "--size", "640x480", "-o", gif});
  if (done.code == 3) GTEST_SKIP() << done.err;
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(text_of(gif).substr(0, 10), std::string("GIF89a\x80\x02\xe0\x01"));  // 640 x 480, little endian
  EXPECT_EQ(run({"shot", "--step", "1..2", "--size", "640x480", "-o", pngs}).code, 0);
  EXPECT_EQ(text_of(pngs + "/step-0002.png").substr(1, 3), "PNG");
  for (const char* wrong : {"5..3", "0..2", "1..", "1..9999", "a..b"}) {
    const Done refused = run({"shot", "--step", wrong, "--size", "640x480", "-o", pngs});
    EXPECT_EQ(refused.code, 2) << wrong;
    EXPECT_NE(refused.err.find("--step"), std::string::npos) << refused.err;
  }
}

}  // namespace
}  // namespace attn::test
