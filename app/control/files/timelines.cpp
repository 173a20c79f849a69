#include "app/control/files/timelines.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "app/system/assets.h"
#include "kernels/base/text.h"
#include "profiling/measure/source_now.h"
#include "profiling/session/session_reading.h"

namespace attn {

namespace {

using Known = std::vector<std::shared_ptr<const Timeline>>;

// assets/sessions/*-timeline.attn. A machine without them has none, which is no error.
std::vector<std::filesystem::path> bundled_files() {
  std::vector<std::filesystem::path> files;
  const auto folder = find_asset("sessions");
  if (!folder) return files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, error))
    if (entry.path().filename().string().ends_with("-timeline.attn")) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// Those of another text than their kernel has now.
void refuse_others(TimelinesView& view, const Known& added) {
  SourcesNow sources;
  for (const auto& t : added)
    if (std::string why = sources.why_another(*t); !why.empty()) view.refused[t.get()] = std::move(why);
}

}  // namespace

void Timelines::find() {
  if (context_.model.timelines.looked) return;
  context_.model.timelines.looked = true;
  const auto all = std::make_shared<Known>();
  const auto error = std::make_shared<std::string>();
  const auto take = [all, error](const std::filesystem::path&, Result<Session> session) {
    if (!session && error->empty()) *error = session.error().message;
    if (!session) return;
    for (Timeline& t : session->timelines) all->push_back(std::make_shared<const Timeline>(std::move(t)));
  };
  const auto reading = std::make_shared<SessionsReading>(bundled_files(), SessionPart::all, take);
  const auto work = [reading](TaskHandle&) -> Result<bool> { return reading->step(); };
  context_.tasks.start_sliced(tr("Reading recorded timelines"), work, [this, all, error](const Result<void>& read) {
    TimelinesView& view = context_.model.timelines;
    view.all.insert(view.all.end(), all->begin(), all->end());
    refuse_others(view, *all);
    view.error = read ? *error : read.error().message;
  });
}

void Timelines::show(const Known& opened) {
  Known& known = context_.model.timelines.all;
  known.insert(known.begin(), opened.begin(), opened.end());
  refuse_others(context_.model.timelines, opened);
}

std::vector<std::shared_ptr<const Timeline>> shared_timelines(std::vector<Timeline> timelines) {
  Known shared;
  shared.reserve(timelines.size());
  for (Timeline& t : timelines) shared.push_back(std::make_shared<const Timeline>(std::move(t)));
  return shared;
}

}  // namespace attn
