#include "app/control/files/timelines.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "app/system/assets.h"
#include "kernels/base/text.h"
#include "profiling/session/session.h"

namespace attn {

Result<std::vector<Timeline>> bundled_timelines() {
  std::vector<Timeline> all;
  const auto folder = find_asset("sessions");
  if (!folder) return all;
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, error))
    if (entry.path().filename().string().ends_with("-timeline.attn")) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    auto session = read_session(file);
    if (!session) return tl::unexpected(session.error());
    std::ranges::move(session->timelines, std::back_inserter(all));
  }
  return all;
}

void Timelines::find() {
  if (context_.model.timelines.looked) return;
  context_.model.timelines.looked = true;
  const auto work = [this](TaskHandle& task) -> Result<void> {
    auto found = bundled_timelines();
    std::vector<std::shared_ptr<const Timeline>> all;
    if (found)
      for (Timeline& t : *found) all.push_back(std::make_shared<const Timeline>(std::move(t)));
    task.deliver([this, all = std::move(all), error = found ? "" : found.error().message] {
      TimelinesView& view = context_.model.timelines;
      view.all.insert(view.all.end(), all.begin(), all.end());
      view.error = error;
    });
    return ok();
  };
  context_.tasks.start(tr("Reading recorded timelines"), work);
}

void Timelines::show(const std::vector<Timeline>& opened) {
  std::vector<std::shared_ptr<const Timeline>> all;
  all.reserve(opened.size());
  for (const Timeline& t : opened) all.push_back(std::make_shared<const Timeline>(t));
  auto& known = context_.model.timelines.all;
  known.insert(known.begin(), all.begin(), all.end());
}

}  // namespace attn
