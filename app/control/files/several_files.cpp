// Several files opened at once.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/control/files/files.h"
#include "app/state/inputs/input_files.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "profiling/session/session_reading.h"

namespace attn {
namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// What was opened, and of what was not its name and why.
struct Came {
  std::size_t files = 0, measurements = 0, kernels = 0, recordings = 0, lessons = 0;
  std::string shown;  // the recording that is, where there are several
  std::vector<std::string> failed;

  std::string words() const {
    std::vector<std::string> what;
    if (measurements > 0) what.push_back(plural(measurements, "{} measurement", "{} measurements"));
    if (kernels > 0) what.push_back(plural(kernels, "{} kernel", "{} kernels"));
    if (recordings > 0) what.push_back(plural(recordings, "{} recording", "{} recordings"));
    if (lessons > 0) what.push_back(plural(lessons, "{} lesson", "{} lessons"));
    std::string all = files == 0 ? std::string(tr("Nothing was opened."))
                                 : plural(files, "Opened {} file{}{}.", "Opened {} files{}{}.",
                                          what.empty() ? "" : ": ", fmt::join(what, ", "));
    if (!shown.empty()) all += phrase(" Step shows the recording of {}.", shown);
    if (!failed.empty())
      all += failed.size() == 1 ? phrase(" One file failed: {}", failed.front())
                                : phrase(" {} failed: {}", failed.size(), fmt::join(failed, " "));
    return all;
  }
};

}  // namespace

// Each file that is to be read, a piece at a time. Arrays and lessons are read where they are taken.
struct Files::Several {
  std::vector<std::string> paths;
  std::vector<OneOfSeveral> read = {};
  std::unique_ptr<SessionReading> session = {};  // of the next

  // Whether all are read.
  bool step() {
    if (read.size() == paths.size()) return true;
    const std::string& path = paths[read.size()];
    OneOfSeveral one;
    one.path = absolute_name(path);
    const std::filesystem::path file(path);
    one.lesson = file.extension() == ".json";
    if (!one.lesson && gpu::is_own_file(file.filename().string())) {
      auto kernel = gpu::read_own_kernel(path);
      kernel ? void(one.kernel = *std::move(kernel)) : void(one.error = kernel.error().message);
    } else if (!one.lesson) {
      if (session == nullptr) session = std::make_unique<SessionReading>(file);
      const auto done = session->step();
      if (done && !*done) return false;
      done ? void(one.session = session->take()) : void(one.error = done.error().message);
      session.reset();
    }
    read.push_back(std::move(one));
    return read.size() == paths.size();
  }
};

void Files::open_all(const std::vector<std::string>& paths) {
  if (files_.refuse_while_running()) return;
  std::vector<std::string> arrays, others;
  for (const std::string& path : paths)
    (std::filesystem::path(path).extension() == ".npy" ? arrays : others).push_back(path);
  // Q stands for K, V and the bias beside it.
  const auto q = std::ranges::find_if(arrays, [](const std::string& a) { return file_name(a).starts_with('q'); });
  const std::string first = arrays.empty() ? "" : q == arrays.end() ? arrays.front() : *q;
  if (others.empty()) return first.empty() ? void() : open_arrays(first);
  const auto several = std::make_shared<Several>(Several{others});
  const auto work = [several](TaskHandle& task) -> Result<bool> {
    const std::size_t n = several->read.size(), all = several->paths.size();
    if (task.stop().stop_requested()) return true;
    if (n < all && several->session == nullptr)
      task.progress(static_cast<double>(n) / static_cast<double>(all), several->paths[n], -1);
    return several->step();
  };
  files_.start_sliced(plural(others.size(), "Opening {} file", "Opening {} files"), work,
                      [this, first, several](const Result<void>& done) {
                        if (!done) return context_.log.error(done.error().message);
                        opened_all(std::move(several->read));
                        if (!first.empty()) open_arrays(first);
                      });
}

void Files::opened_all(std::vector<OneOfSeveral> files) {
  Came came;
  OneOfSeveral* recorded = nullptr;
  const auto fails = [&](const OneOfSeveral& one, std::string why) {
    // Most reasons name the file already.
    const bool named = why.find(file_name(one.path)) != std::string::npos;
    if (!why.ends_with('.')) why += '.';
    came.failed.push_back(named ? why : fmt::format("{}: {}", file_name(one.path), why));
  };
  for (OneOfSeveral& one : files) {
    if (one.error.empty() && one.kernel != nullptr)
      if (const auto taken = take_kernel(one.kernel); !taken) one.error = taken.error().message;
    if (one.lesson)
      if (const auto opened = lessons_.open_file(one.path); !opened) one.error = opened.error().message;
    if (!one.error.empty()) {
      fails(one, one.error);
      continue;
    }
    ++came.files;
    came.kernels += one.kernel != nullptr ? 1 : 0;
    came.lessons += one.lesson ? 1 : 0;
    runs_.remember(one.path);
    if (!one.session) continue;
    for (const std::string& note : one.session->notes) context_.log.note(note);
    came.measurements += rows_of(*one.session);
    came.recordings += one.session->recordings.size();
    if (rows_of(*one.session) > 0) sweeps_.show_runs(*one.session);
    offer(one.path, one.session->kernels);
    if (!one.session->tensors.empty() || !one.session->timelines.empty()) keep_beside(*one.session);
    if (!one.session->recordings.empty()) recorded = &one;
  }
  if (recorded != nullptr) {
    if (came.recordings > 1) came.shown = file_name(recorded->path);
    show_recording(recorded->path, std::move(recorded->session->recordings.front()), recorded->session->state);
  }
  const LogLevel level = came.failed.empty() ? LogLevel::note : came.files > 0 ? LogLevel::warning : LogLevel::error;
  context_.log.say(level, came.words());
}

}  // namespace attn
