#include "kernels/gpu/compile/sources.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "kernels/base/files.h"
#include "kernels/base/folders.h"
#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/hooks.h"
#include "kernels/gpu/compile/phases.h"

namespace attn::gpu {
namespace {

constexpr std::uint64_t kMaxSourceBytes = 1 << 20;

// Once every header counted for every kernel, in this order. The hashes of the kernels of that time stand in saved
// sessions and name cubins on disk, so for them these headers go on counting.
constexpr std::string_view kFirstKernels[] = {"naive", "tiled", "flash_simt"};
constexpr std::string_view kFirstHeaders[] = {"kernels/gpu/device.cuh", "kernels/gpu/args.h",
                                              "kernels/gpu/flash_simt_layout.h"};

// What each #include line of a text names, in their order.
std::vector<std::string_view> includes_of(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  std::vector<std::string_view> names;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (is_hook_line(line)) continue;
    for (const std::string_view word : {"", "#", "include"}) {
      line = line.starts_with(word) ? line.substr(word.size()) : std::string_view();
      line.remove_prefix(std::min(line.size(), line.find_first_not_of(kSpaces)));
    }
    if (line.empty() || (line.front() != '"' && line.front() != '<')) continue;
    const std::size_t end = line.find(line.front() == '"' ? '"' : '>', 1);
    if (end != std::string_view::npos) names.push_back(line.substr(1, end - 1));
  }
  return names;
}

// Adds the header of that name, then those that it includes. Names that are none of ours are CUDA's own.
void add_header(std::string_view name, std::span<const SourceText> sources, std::vector<SourceText>& headers) {
  if (std::ranges::find(headers, name, &SourceText::name) != headers.end()) return;
  const auto at = std::ranges::find(sources, name, &SourceText::name);
  if (at == sources.end()) return;
  headers.push_back(*at);
  for (const std::string_view next : includes_of(at->text)) add_header(next, sources, headers);
}

// The written texts without their score lines, made once.
class PlainSources {
 public:
  PlainSources() {
    texts_.reserve(written_sources().size());
    for (const SourceText& s : written_sources()) {
      if (is_score_header(s.name)) continue;
      texts_.push_back(without_score_lines(s.text));
      sources_.push_back({s.name, texts_.back()});
    }
  }
  std::span<const SourceText> all() const { return sources_; }

 private:
  std::vector<std::string> texts_;
  std::vector<SourceText> sources_;
};

}  // namespace

std::span<const SourceText> embedded_sources(ScoreLines lines) {
  if (lines == ScoreLines::in) return written_sources();
  static const PlainSources kPlain;
  return kPlain.all();
}

std::vector<SourceText> headers_of(std::string_view id, std::string_view text, std::span<const SourceText> sources) {
  std::vector<SourceText> headers;
  if (std::ranges::find(kFirstKernels, id) != std::end(kFirstKernels)) {
    for (const std::string_view name : kFirstHeaders) add_header(name, sources, headers);
  }
  for (const std::string_view name : includes_of(text)) add_header(name, sources, headers);
  return headers;
}

std::string source_hash(std::string_view id, std::string_view text, std::span<const SourceText> sources) {
  std::string all = without_hook_lines(without_phase_lines(text));
  for (const SourceText& header : headers_of(id, text, sources)) {
    all += header.name;
    all += without_hook_lines(without_phase_lines(header.text));
  }
  return hash_of(all);
}

std::string text_hash(std::string_view id, std::string_view text, std::span<const SourceText> sources) {
  std::string all(text);
  bool hooked = has_hooks(text);
  for (const SourceText& header : headers_of(id, text, sources)) {
    all += header.text;
    hooked = hooked || has_hooks(header.text);
  }
  for (const SourceText& s : sources) {
    if (hooked && is_recorder(s.name)) all += s.text;
  }
  return hash_of(all);
}

std::string KernelSource::label(std::string_view id) const {
  return edited ? fmt::format("{}@{}", id, hash.substr(0, 8)) : std::string(id);
}

bool can_stamp(const KernelSource& source, std::string_view id) {
  const auto headers = headers_of(id, source.hooked, embedded_sources(source.score_lines));
  return has_stamps(source.hooked) || std::ranges::any_of(headers, has_stamps, &SourceText::text);
}

bool can_record(const KernelSource& source, std::string_view id) {
  const auto headers = headers_of(id, source.hooked, embedded_sources(source.score_lines));
  return has_hooks(source.hooked) || std::ranges::any_of(headers, has_hooks, &SourceText::text);
}

KernelSource with_hooks(KernelSource source, std::string_view id) {
  source.text = source.hooked;
  source.text_hash = text_hash(id, source.text, embedded_sources(source.score_lines));
  return source;
}

Result<KernelSource> kernel_source(std::string_view id, const std::filesystem::path& folder, ScoreLines lines) {
  KernelSource source;
  source.score_lines = lines;
  const std::string name = fmt::format("kernels/gpu/{}.cu", id);
  std::string_view shipped;
  for (const SourceText& s : embedded_sources(lines)) {
    if (s.name == name) shipped = s.text;
  }
  const std::filesystem::path edited = folder / fmt::format("{}.cu", id);
  std::error_code error;
  if (!folder.empty() && std::filesystem::exists(edited, error)) {
    auto bytes = read_file(edited, kMaxSourceBytes);
    if (!bytes) return tl::unexpected(bytes.error());
    source.name = edited.string();
    source.text.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    source.edited = source.of_user = true;
    if (lines == ScoreLines::out) source.text = with_blank_score_lines(source.text);
    if (has_score_lines(shipped) && !has_score_lines(source.text)) {
      return fail(ErrorKind::cannot_run,
                  phrase("{} does not support softcap or ALiBi: it lacks the lines ending in \"// @score\". Copy the "
                         "@score lines from the original {}.cu, or move your copy away.",
                         source.name, id));
    }
  } else {
    source.name = name;
    source.text = shipped;
    if (source.text.empty()) return bad_input(phrase("the program contains no source named {}", source.name));
  }
  source.hooked = source.text;
  if (!source.edited) source.text = without_hook_lines(source.text);
  source.hash = source_hash(id, source.text, embedded_sources(lines));
  source.text_hash = text_hash(id, source.text, embedded_sources(lines));
  return source;
}

std::filesystem::path edited_kernels_folder() {
  if (const auto named = environment("ATTNSCOPE_KERNELS")) return *named;
  const std::filesystem::path data = data_folder();
  return data.empty() ? data : data / "kernels";
}

}  // namespace attn::gpu
