// A film out of pictures of one size: MP4 or WebM, encoded by the ffmpeg that is installed.
#pragma once

#include <filesystem>
#include <stop_token>
#include <utility>

#include "app/graphics/image.h"
#include "app/system/run_program.h"
#include "kernels/base/result.h"

namespace attn {

constexpr int kFilmRate = 30;  // pictures a second

class FilmWriter {
 public:
  // `file` ends in .mp4 or .webm. Refused in words where PATH has no ffmpeg. The file is there once it is whole.
  static Result<FilmWriter> create(const std::filesystem::path& file, int width, int height);
  FilmWriter(FilmWriter&& other) noexcept
      : encoder_(std::move(other.encoder_)),
        file_(std::move(other.file_)),
        part_(std::exchange(other.part_, std::filesystem::path())) {}
  FilmWriter& operator=(FilmWriter&&) = delete;
  ~FilmWriter();

  // Shown for `times` pictures.
  Result<void> add(const Image& image, int times, const std::stop_token& stop);
  Result<void> finish(const std::stop_token& stop);

 private:
  FilmWriter(FedProgram encoder, std::filesystem::path file, std::filesystem::path part);
  FedProgram encoder_;
  std::filesystem::path file_, part_;  // part_: until it is whole; empty: it is
};

}  // namespace attn
