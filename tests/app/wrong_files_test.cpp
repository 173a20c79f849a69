// What a file may never do: whatever stands in a JSON that is opened, no exception leaves its reader. Every member of a
// right file is replaced by every kind of value, a header of a kernel in a session's as well.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/peers/answers.h"
#include "app/state/lessons/lesson_progress.h"
#include "app/window/settings.h"
#include "kernels/gpu/own_kernel/build_line.h"
#include "kernels/gpu/own_kernel/own_header.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "tests/kernels/gpu/own_kernel/own_kernel_text.h"
#include "tests/kernels/temp_folder.h"
#include "tests/kernels/wrong_json.h"
#include "tests/profiling/session/session_fixture.h"
#include "viz/learn/lesson/lesson.h"

namespace attn {
namespace {

using nlohmann::json;

// The reader answers each: no exception, and an error has words.
template <class Read>
void survives(const json& right, std::size_t least, const Read& read) {
  std::size_t refused = 0;
  const std::size_t count = with_each_wrong(right, [&](const std::string& text, const std::string& place) {
    SCOPED_TRACE(place);
    EXPECT_NO_THROW({
      const auto got = read(text);
      if (!got) {
        ++refused;
        EXPECT_FALSE(got.error().message.empty());
      }
    });
  });
  EXPECT_GT(count, least);
  EXPECT_GT(refused, count / 10);  // else it looked at nothing
}

std::string in_comments(const std::string& text) {
  std::string header;
  std::size_t at = 0;
  for (std::size_t n = 0; n <= text.size(); ++n) {
    if (n < text.size() && n - at < 400) continue;
    header += "// attn: " + text.substr(at, n - at) + "\n";
    at = n;
  }
  return header + "extern \"C\" __global__ void mine() {}\n";
}

const json kHeader = json::parse(R"json({"api": 1, "entries": [{"name": "a", "grid": ["ceil_div(Lq, Br)", "B"],
  "block": [32, 2], "shared": "4 * Br"}, {"name": "b", "grid": "Lq", "block": 64}], "dtypes": ["f32", "bf16"],
  "D": {"min": 16, "max": 128, "step": 16}, "Dv": [64, 96], "masks": ["causal"], "grouped": true,
  "options": {"Br": {"min": 16, "max": 64, "step": 16, "default": 32}}, "stores_scores": true})json");

TEST(WrongFiles, HeadersOfOwnKernels) {
  survives(kHeader, 500, [](const std::string& text) { return gpu::own_kernel_from("mine.cu", in_comments(text)); });
  const auto numbers = gpu::own_kernel_from("mine.cu", in_comments(R"({"api": 1, "entries": [1, 2]})"));
  ASSERT_FALSE(numbers);
  EXPECT_NE(numbers.error().message.find("entries[0]"), std::string::npos) << numbers.error().message;
}

TEST(WrongFiles, BuildLines) {
  survives(json{{"edits", "naive"}, {"maxrregcount", 64}, {"fast_math", true}}, 50, [](const std::string& text) {
    return gpu::own_kernel_from("naive.cu", "// attn-build: " + text + "\n" + kOwnKernel);
  });
}

TEST(WrongFiles, Lessons) {
  json right = json::parse(get_file(test::source_folder() + "/assets/lessons/04_one_pass.json"));
  // One beat of each question it asks; texts and runs that are alike are of no use here.
  json beats = json::array();
  for (const json& beat : right["beats"])
    if (beats.size() < 3 && beat.contains("ask")) beats.push_back(beat);
  right["beats"] = beats;
  while (right["text"].size() > 4) right["text"].erase(right["text"].begin());
  survives(right, 1000, [](const std::string& text) { return parse_lesson(text, "mine.json"); });
  EXPECT_FALSE(parse_lesson(R"({"version": 1, "id": "a", "minutes": 1e999})", "mine.json"));
}

TEST(WrongFiles, ManyRunsOfALessonAreRefused) {
  json right = json::parse(get_file(test::source_folder() + "/assets/lessons/04_one_pass.json"));
  for (int n = 0; n < 400; ++n) right["runs"]["run_" + std::to_string(n)] = "attn1,lq=512,lk=512";
  const auto read = parse_lesson(right.dump(), "mine.json");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("at most 32"), std::string::npos) << read.error().message;
}

TEST(WrongFiles, TranslationsOfLessons) {
  const std::string folder = test::source_folder() + "/assets/lessons/01_weighted_average";
  const auto lesson = parse_lesson(get_file(folder + ".json"), "mine.json");
  ASSERT_TRUE(lesson) << lesson.error().message;
  survives(json::parse(get_file(folder + ".de.json")), 200, [&](const std::string& text) {
    Lesson to = *lesson;
    return add_translation(text, "mine.de.json", to);
  });
}

TEST(WrongFiles, SettingsAndWhatWasLearned) {
  survives(json::parse(settings_text(Settings{})), 80, [](const std::string& text) { return parse_settings(text); });
  LessonProgress p;
  p.last_lesson = "a";
  p.beats["a"]["b"] = {true, true, true, true, 3};
  p.mistakes["a"]["b"] = 2;
  survives(json::parse(progress_text(p)), 80, [](const std::string& text) { return parse_progress(text); });
}

TEST(WrongFiles, SessionsWithKernels) {
  Session right = session_of(Provenance{}, {});
  right.kernels.push_back({"mine.cu", kOwnKernel});
  survives(json::parse(to_json(right)), 100, [](const std::string& text) -> Result<Session> {
    Container c;
    c.session_json = text;
    auto session = session_of(c, "mine.attn");
    if (session)
      for (const SessionKernel& k : session->kernels) (void)gpu::own_kernel_from(k.file, k.text);
    return session;
  });
}

TEST(WrongFiles, AnswersOfPeers) {
  const auto answered = [](bool there) -> Result<void> { return there ? ok() : bad_input("it is no answer"); };
  Problem p;
  p.Lq = p.Lk = 2;
  p.D = p.Dv = 4;
  const std::vector<std::byte> out(sizeof(float) * 8);
  survives(json{{"is", "hello"}, {"software", "one"}, {"device", {{"name", "a GPU"}}}}, 50,
           [&](const std::string& text) {
             const auto reply = read_reply(text, "hello");
             return answered(reply && !reply->error && read_hello(reply->fields));
           });
  survives(json{{"is", "answer"}, {"how", "so"}, {"us", 12.5}, {"package", "one"}}, 50, [&](const std::string& text) {
    const auto reply = read_reply(text, "answer");
    return answered(reply && !reply->error && read_answer(reply->fields, out, p));
  });
  survives(json{{"is", "times"}, {"us", {1.0, 2.0, 3.0}}}, 50, [&](const std::string& text) {
    const auto reply = read_reply(text, "times");
    return answered(reply && !reply->error && read_times(reply->fields, 3));
  });
  survives(json{{"is", "error"}, {"words", "no"}, {"refused", true}, {"lost", false}}, 50,
           [&](const std::string& text) {
             const auto reply = read_reply(text, "times");
             return answered(reply && reply->error);
           });
}

}  // namespace
}  // namespace attn
