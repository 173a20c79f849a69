#include "app/window/film.h"

#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/letters.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

// Text is legible in them; 4:2:0 is what every player shows, and wants even sizes.
std::vector<std::string> encoder_arguments(const std::filesystem::path& file, const std::filesystem::path& part,
                                           int width, int height) {
  std::vector<std::string> out{"-hide_banner",
                               "-loglevel",
                               "error",
                               "-y",
                               "-f",
                               "rawvideo",
                               "-pixel_format",
                               "rgba",
                               "-video_size",
                               fmt::format("{}x{}", width, height),
                               "-framerate",
                               std::to_string(kFilmRate),
                               "-i",
                               "pipe:0",
                               "-vf",
                               "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
                               "-colorspace",
                               "bt709",
                               "-color_primaries",
                               "bt709",
                               "-color_trc",
                               "bt709"};
  const bool webm = same_letters(file.extension().string(), ".webm");
  const std::vector<std::string> kind =
      webm ? std::vector<std::string>{"-c:v",    "libvpx-vp9", "-crf",      "24", "-b:v", "0",
                                      "-row-mt", "1",          "-cpu-used", "4",  "-f",   "webm"}
           : std::vector<std::string>{"-c:v", "libx264", "-crf", "16", "-movflags", "+faststart", "-f", "mp4"};
  out.insert(out.end(), kind.begin(), kind.end());
  out.push_back(part.string());
  return out;
}

}  // namespace

FilmWriter::FilmWriter(FedProgram encoder, std::filesystem::path file, std::filesystem::path part)
    : encoder_(std::move(encoder)), file_(std::move(file)), part_(std::move(part)) {}

FilmWriter::~FilmWriter() {
  std::error_code ignored;
  if (!part_.empty()) std::filesystem::remove(part_, ignored);
}

Result<FilmWriter> FilmWriter::create(const std::filesystem::path& file, int width, int height) {
  const std::filesystem::path ffmpeg = program_in_path("ffmpeg");
  if (ffmpeg.empty())
    return fail(
        ErrorKind::cannot_run,
        phrase("{}: ffmpeg, which encodes videos, is not on PATH. Install it, or choose a name that ends in .gif.",
               file.filename().string()));
  const std::filesystem::path part = file.string() + ".part";
  auto encoder = FedProgram::start(ffmpeg, encoder_arguments(file, part, width, height));
  if (!encoder) return tl::unexpected(encoder.error());
  return FilmWriter(*std::move(encoder), file, part);
}

Result<void> FilmWriter::add(const Image& image, int times, const std::stop_token& stop) {
  for (int n = 0; n < times; ++n)
    if (auto fed = encoder_.feed(std::as_bytes(std::span(image.rgba)), stop); !fed) return fed;
  return ok();
}

Result<void> FilmWriter::finish(const std::stop_token& stop) {
  if (auto ended = encoder_.finish(stop); !ended) return ended;
  std::error_code error;
  std::filesystem::rename(part_, file_, error);
  if (error) return fail(ErrorKind::failed, phrase("{} cannot be written: {}", file_.string(), error.message()));
  part_.clear();
  return ok();
}

}  // namespace attn
