#include "viz/bench/sources/source_pair.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "viz/bench/runs/slice.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  constexpr std::size_t kTab = 8;
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string line;
    for (const char c : text.substr(0, end)) {
      if (c == '\t')
        line.append(kTab - line.size() % kTab, ' ');
      else
        line += c;
    }
    lines.push_back(std::move(line));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

// Length of the longest common subsequence of a[i..] and b[j..].
class CommonLines {
 public:
  CommonLines(const std::vector<std::string>& a, const std::vector<std::string>& b)
      : width_(b.size() + 1), length_((a.size() + 1) * width_) {
    for (std::size_t i = a.size(); i-- > 0;)
      for (std::size_t j = b.size(); j-- > 0;)
        length_[i * width_ + j] = a[i] == b[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  }
  std::int32_t at(std::size_t i, std::size_t j) const { return length_[i * width_ + j]; }

 private:
  std::size_t width_;
  std::vector<std::int32_t> length_;
};

// What two lines do not share at their beginning and end. Whole characters: a UTF-8 sequence is not cut.
std::array<TextSpan, 2> differing(std::string_view a, std::string_view b) {
  const auto inside = [](std::string_view s, std::size_t at) {
    return at < s.size() && (static_cast<unsigned char>(s[at]) & 0xc0U) == 0x80U;
  };
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t front = 0, back = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  while (front > 0 && (inside(a, front) || inside(b, front))) --front;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  while (back > 0 && (inside(a, a.size() - back) || inside(b, b.size() - back))) --back;
  return {TextSpan{front, a.size() - back - front}, TextSpan{front, b.size() - back - front}};
}

const gpu::SourceText* source_of(std::string_view kernel) {
  const std::string name = fmt::format("kernels/gpu/{}.cu", kernel);
  const auto sources = gpu::embedded_sources();
  const auto found = std::ranges::find_if(sources, [&](const gpu::SourceText& s) { return s.name == name; });
  return found == sources.end() ? nullptr : &*found;
}

// A row with softcap or ALiBi is of the text with its lines for them.
std::string hash_now(std::string_view kernel, gpu::ScoreLines lines) {
  const auto source = gpu::kernel_source(kernel, {}, lines);
  return source ? source->hash : std::string();
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The headers that it is compiled with, and whether the row that is shown was measured from this text.
std::string note_of(const gpu::SourceText& source, std::string_view kernel, const State& state, const Model& model) {
  // By no name: the first rungs' hashes count headers that they do not include.
  const auto headers = gpu::headers_of({}, source.text, gpu::embedded_sources());
  std::vector<std::string_view> names;
  names.reserve(headers.size());
  for (const gpu::SourceText& h : headers) names.push_back(file_name(h.name));
  std::string note = phrase("with {}", fmt::join(names, ", "));
  const ShownSlices shown = shown_slices(state, model);
  for (const Measurement* m : shown.slices.front().rows) {
    if (m->key.kernel != kernel || m->key.source_hash.empty()) continue;
    if (m->key.source_hash == hash_now(kernel, gpu::score_lines_for(m->key.problem))) continue;
    return phrase("{}; the row shown here was measured with a different source, {}", note,
                  m->key.source_hash.substr(0, 8));
  }
  return note;
}

std::size_t count_of(const std::vector<PairRow>& rows, std::size_t side) {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [&](const PairRow& r) { return !r.same && r.line.at(side) > 0; }));
}

const std::string& spoken_of(const State& state, const std::string& subject) {
  return subject.empty() ? bench_kernel(state) : subject;
}

}  // namespace

std::vector<PairRow> paired_lines(std::string_view left, std::string_view right) {
  const std::vector<std::string> a = lines_of(left), b = lines_of(right);
  const CommonLines common(a, b);
  std::vector<PairRow> rows;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    // A stretch of lines that one side alone has.
    std::size_t i_end = i, j_end = j;
    while ((i_end < a.size() || j_end < b.size()) && !(i_end < a.size() && j_end < b.size() && a[i_end] == b[j_end])) {
      const bool skip_left =
          j_end == b.size() || (i_end < a.size() && common.at(i_end + 1, j_end) >= common.at(i_end, j_end + 1));
      skip_left ? ++i_end : ++j_end;
    }
    for (std::size_t n = 0; n < std::max(i_end - i, j_end - j); ++n) {
      PairRow row;
      const bool has_left = i + n < i_end, has_right = j + n < j_end;
      if (has_left) row.line[0] = static_cast<std::int32_t>(i + n + 1), row.text[0] = a[i + n];
      if (has_right) row.line[1] = static_cast<std::int32_t>(j + n + 1), row.text[1] = b[j + n];
      if (has_left && has_right) row.differs = differing(row.text[0], row.text[1]);
      rows.push_back(std::move(row));
    }
    i = i_end, j = j_end;
    if (i == a.size() || j == b.size()) continue;
    rows.push_back({{static_cast<std::int32_t>(i + 1), static_cast<std::int32_t>(j + 1)}, {a[i], b[j]}, {}, true});
    ++i, ++j;
  }
  return rows;
}

namespace {

// Neither blank nor a comment nor an include: what a compiler makes something of.
bool is_code(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return false;
  const std::string_view text = std::string_view(line).substr(first);
  return !text.starts_with("//") && !text.starts_with("#include") && !text.starts_with("#pragma once");
}

std::size_t first_stretch_of_code(const SourcePairScene& scene) {
  for (const std::size_t from : scene.stretches)
    for (std::size_t n = from; n < scene.rows.size() && !scene.rows[n].same; ++n)
      if (is_code(scene.rows[n].text[0]) || is_code(scene.rows[n].text[1])) return from;
  return scene.stretches.empty() ? 0 : scene.stretches.front();
}

// The GPU's rungs of the pass that the kernel is of, in the order of the ladder.
std::vector<const KernelRow*> rungs_beside(std::string_view kernel) {
  const auto row = find_kernel(kernel);
  std::vector<const KernelRow*> rungs = ladder_of(row ? (*row)->passes.front() : Pass::forward);
  std::erase_if(rungs, [](const KernelRow* r) { return r->processor != Processor::gpu; });
  return rungs;
}

}  // namespace

std::array<std::string, 2> compared_kernels(const State& state, const std::string& subject) {
  std::array<std::string, 2> kernels = state.view.bench.sources;
  if (kernels[1].empty()) kernels[1] = spoken_of(state, subject);
  // A training step has two sources: its backward's is shown.
  if (const auto step = find_kernel(kernels[1]); step && !(*step)->parts.empty())
    kernels[1] = (*step)->parts.back()->id;
  const std::vector<const KernelRow*> rungs = rungs_beside(kernels[1]);
  if (const auto chosen = find_kernel(kernels[1]);
      state.view.bench.sources[1].empty() && chosen && (*chosen)->processor == Processor::cpu) {
    auto like = std::ranges::find(rungs, (*chosen)->order, &KernelRow::order);
    if (like == rungs.end()) like = std::ranges::find(rungs, order_look((*chosen)->order).like, &KernelRow::order);
    if (like != rungs.end()) kernels[1] = (*like)->id;
  }
  if (!kernels[0].empty()) return kernels;
  const auto at = std::ranges::find_if(rungs, [&](const KernelRow* row) { return row->id == kernels[1]; });
  if (at != rungs.end()) kernels[0] = at == rungs.begin() ? rungs[1]->id : (*std::prev(at))->id;
  return kernels;
}

SourcePairScene source_pair_scene(const State& state, const Model& model, const std::string& subject) {
  SourcePairScene scene;
  scene.kernels = compared_kernels(state, subject);
  for (const KernelRow& row : gpu::gpu_kernel_table()) scene.choices.emplace_back(row.id);
  std::array<const gpu::SourceText*, 2> sources{};
  for (std::size_t side = 0; side < 2; ++side) {
    sources.at(side) = source_of(scene.kernels.at(side));
    if (sources.at(side) != nullptr) continue;
    const std::string& id = scene.kernels.at(side);
    scene.empty =
        id.empty() ? tr("Choose two GPU kernels.")
                   : phrase(
                         "{} runs on the CPU, but only sources of GPU kernels are bundled. Choose two of the kernels "
                         "above.",
                         id);
  }
  if (!scene.empty.empty()) {
    scene.headline = scene.empty;
    return scene;
  }
  scene.rows = paired_lines(sources[0]->text, sources[1]->text);
  for (std::size_t n = 0; n < scene.rows.size(); ++n)
    if (!scene.rows[n].same && (n == 0 || scene.rows[n - 1].same)) scene.stretches.push_back(n);
  scene.first_code = first_stretch_of_code(scene);
  std::array<std::size_t, 2> all{};
  for (std::size_t side = 0; side < 2; ++side) {
    scene.notes.at(side) = note_of(*sources.at(side), scene.kernels.at(side), state, model);
    for (const PairRow& row : scene.rows) all.at(side) += row.line.at(side) > 0 ? 1 : 0;
  }
  scene.headline = phrase("{} and {}: {} of {} and {} of {} lines differ.", scene.kernels[0], scene.kernels[1],
                          count_of(scene.rows, 0), all[0], count_of(scene.rows, 1), all[1]);
  const std::string& chosen = spoken_of(state, subject);
  if (const auto row = find_kernel(chosen);
      state.view.bench.sources[1].empty() && row && (*row)->processor == Processor::cpu)
    scene.headline += phrase(" {}, which {}, runs on the CPU.", chosen,
                             chosen == bench_kernel(state) ? tr("is selected") : tr("is shown in the charts"));
  return scene;
}

std::size_t next_stretch(const SourcePairScene& scene, std::size_t row, int direction) {
  const auto& all = scene.stretches;
  if (all.empty()) return row;
  if (direction > 0) {
    const auto next = std::ranges::upper_bound(all, row);
    return next == all.end() ? all.front() : *next;
  }
  const auto next = std::ranges::lower_bound(all, row);
  return next == all.begin() ? all.back() : *std::prev(next);
}

}  // namespace attn
