// What a state string says of Profile.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/state/string/key_makers.h"
#include "app/state/string/key_values.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

// Names of sources are short and plain; "own" is the kernel's.
constexpr std::string_view kOwn = "own", kUsual = "usual";
constexpr std::size_t kMaxName = 256;
constexpr std::int64_t kMaxBeatUs = 1000000000;  // no run takes a quarter of an hour
constexpr std::string_view kNoTimeline = "none";
constexpr std::int64_t kMaxBlockNs = 1000000000000;
constexpr std::int64_t kMostBlock = (std::int64_t{1} << 31) - 1;
constexpr std::int32_t kMostTile = 1 << 22;

}  // namespace

void add_profile_view_keys(std::vector<StateKey>& keys) {
  keys.push_back(choice_key(
      "profile_page",
      named<ProfilePage>(std::vector{ProfilePage::figures, ProfilePage::source, ProfilePage::heartbeat,
                                     ProfilePage::timeline, ProfilePage::lab}),
      [](auto& s) -> auto& { return s.view.profile.page; }));
  keys.push_back(choice_key(
      "profile_code", named<CodeKind>(std::vector{CodeKind::sass, CodeKind::ptx, CodeKind::diff}),
      [](auto& s) -> auto& { return s.view.profile.code; }));
  keys.push_back({"profile_file",
                  [](const State& s) {
                    return s.view.profile.file.empty() ? std::string(kOwn) : percent_encoded(s.view.profile.file);
                  },
                  [](State& s, std::string_view text) -> Result<void> {
                    if (text.empty() || text.size() > kMaxName)
                      return bad_input(tr("the name of a source must have 1 to 256 bytes"));
                    s.view.profile.file = text == kOwn ? std::string_view() : text;
                    return ok();
                  }});
  keys.push_back({"profile_against",
                  [](const State& s) {
                    return s.view.profile.against.empty() ? std::string(kUsual)
                                                          : percent_encoded(s.view.profile.against);
                  },
                  [](State& s, std::string_view text) -> Result<void> {
                    if (text.empty() || text.size() > kMaxName)
                      return bad_input(tr("the name of a measurement must have 1 to 256 bytes"));
                    s.view.profile.against = text == kUsual ? std::string_view() : text;
                    return ok();
                  }});
  keys.push_back(choice_key(
      "profile_phase", named<gpu::CodePhase>(gpu::all_code_phases()),
      [](auto& s) -> auto& { return s.view.profile.phase; }));
  keys.push_back(flag_key(
      "profile_levels", [](auto& s) -> auto& { return s.view.profile.roof_levels; }));
  keys.push_back(number_key(
      "profile_line", 0, 1000000, [](auto& s) -> auto& { return s.view.profile.line; }));
  keys.push_back(number_key(
      "profile_beat_from", 0, kMaxBeatUs, [](auto& s) -> auto& { return s.view.profile.beat_from_us; }));
  keys.push_back(number_key(
      "profile_beat_to", 0, kMaxBeatUs, [](auto& s) -> auto& { return s.view.profile.beat_to_us; }));
  keys.push_back({"profile_timeline",
                  [](const State& s) {
                    return s.view.profile.timeline.empty() ? std::string(kUsual)
                                                           : percent_encoded(s.view.profile.timeline);
                  },
                  [](State& s, std::string_view text) -> Result<void> {
                    if (text.empty() || text.size() > kMaxName)
                      return bad_input(tr("the name of a timeline must have 1 to 256 bytes"));
                    s.view.profile.timeline = text == kUsual ? std::string_view() : text;
                    return ok();
                  }});
  keys.push_back({"profile_time_beside",
                  [](const State& s) {
                    const std::string& beside = s.view.profile.time_beside;
                    return beside.empty() ? std::string(kNoTimeline) : percent_encoded(beside);
                  },
                  [](State& s, std::string_view text) -> Result<void> {
                    if (text.empty() || text.size() > kMaxName)
                      return bad_input(tr("the name of a timeline must have 1 to 256 bytes"));
                    s.view.profile.time_beside = text == kNoTimeline ? std::string_view() : text;
                    return ok();
                  }});
  keys.push_back(number_key(
      "profile_time_block", -1, kMostBlock, [](auto& s) -> auto& { return s.view.profile.time_block; }));
  keys.push_back(number_key(
      "profile_time_from", 0, kMaxBlockNs, [](auto& s) -> auto& { return s.view.profile.time_from_ns; }));
  keys.push_back(number_key(
      "profile_time_to", 0, kMaxBlockNs, [](auto& s) -> auto& { return s.view.profile.time_to_ns; }));
  keys.push_back(number_key(
      "profile_key_tile", -1, kMostTile, [](auto& s) -> auto& { return s.view.profile.key_tile; }));
  keys.push_back(flag_key(
      "profile_time_sms", [](auto& s) -> auto& { return s.view.profile.time_sms; }));
  keys.push_back(flag_key(
      "profile_path", [](auto& s) -> auto& { return s.view.profile.time_path; }));
}

}  // namespace attn
