#include "app/state/lessons/lesson_progress.h"

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "kernels/base/files.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_reading.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxBytes = 4 << 20;
constexpr int kMaxDepth = 6, kMostTries = 1'000'000;

bool flag(const json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_boolean() && it->get<bool>();
}
std::int64_t count(const json& j, std::int64_t most) {
  return j.is_number_integer() ? std::clamp<std::int64_t>(j.get<std::int64_t>(), 0, most) : 0;
}
std::string words(const json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_string() ? it->get<std::string>() : std::string();
}
const json& member(const json& j, const char* key) {
  static const json kNone = json::object();
  const auto it = j.find(key);
  return it != j.end() && it->is_object() ? *it : kNone;
}

}  // namespace

std::string progress_text(const LessonProgress& p) {
  nlohmann::ordered_json j;
  j["version"] = kProgressVersion;
  j["last_lesson"] = p.last_lesson;
  j["last_beat"] = p.last_beat;
  j["repeats"] = p.repeats;
  j["beats"] = json::object();
  for (const auto& [lesson, beats] : p.beats) {
    for (const auto& [beat, b] : beats) {
      j["beats"][lesson][beat] = {
          {"seen", b.seen}, {"known", b.known}, {"first_try", b.first_try}, {"shown", b.shown}, {"tries", b.tries}};
    }
  }
  j["mistakes"] = p.mistakes;
  return j.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

namespace {

Result<LessonProgress> read_progress(std::string_view text) {
  const auto parsed = parse_json(text, tr("The progress file"), kMaxDepth);
  if (!parsed) return tl::unexpected(parsed.error());
  const json& j = *parsed;
  if (!j.is_object() || !j.contains("version") || j["version"] != kProgressVersion)
    return bad_input(phrase("The progress file is not version {}.", kProgressVersion));
  LessonProgress p;
  p.last_lesson = words(j, "last_lesson");
  p.last_beat = words(j, "last_beat");
  if (const auto it = j.find("repeats"); it != j.end())
    p.repeats = static_cast<std::uint64_t>(count(*it, std::int64_t{1} << 40));
  for (const auto& [lesson, beats] : member(j, "beats").items()) {
    if (!beats.is_object()) continue;
    for (const auto& [beat, b] : beats.items()) {
      if (!b.is_object()) continue;
      const auto tries = b.find("tries");
      p.beats[lesson][beat] = {flag(b, "seen"), flag(b, "known"), flag(b, "first_try"), flag(b, "shown"),
                               tries == b.end() ? 0 : static_cast<int>(count(*tries, kMostTries))};
    }
  }
  for (const auto& [lesson, mistakes] : member(j, "mistakes").items()) {
    if (!mistakes.is_object()) continue;
    for (const auto& [about, n] : mistakes.items()) p.mistakes[lesson][about] = static_cast<int>(count(n, kMostTries));
  }
  return p;
}

}  // namespace

Result<LessonProgress> parse_progress(std::string_view text) {
  return reading(tr("The progress file"), [&] { return read_progress(text); });
}

std::filesystem::path progress_file() {
  const auto folder = state_folder();
  return folder.empty() ? folder : folder / "lessons.json";
}

Result<LessonProgress> load_progress(const std::filesystem::path& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return LessonProgress{};
  const auto bytes = read_file(file, kMaxBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  std::string text(bytes->size(), '\0');
  std::transform(bytes->begin(), bytes->end(), text.begin(), [](std::byte b) { return static_cast<char>(b); });
  return parse_progress(text);
}

Result<void> save_progress(const std::filesystem::path& file, const LessonProgress& progress) {
  if (file.empty()) return ok();
  if (auto made = make_folder(file.parent_path()); !made) return made;
  const std::string text = progress_text(progress);
  return write_file_atomically(file, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace attn
