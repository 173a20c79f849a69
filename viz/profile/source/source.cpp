#include "viz/profile/source/source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/letters.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

using gpu::CodePhase;

std::string without_tabs(std::string_view text) {
  constexpr std::size_t kTab = 8;
  std::string out;
  for (const char c : text) {
    if (c == '\t')
      out.append(kTab - out.size() % kTab, ' ');
    else
      out += c;
  }
  return out;
}

// "kernels/gpu/flash_tile.cuh" -> "flash_tile.cuh"
std::string short_name(std::string_view name) {
  return std::string(name.substr(name.rfind('/') + 1));
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<SourceRow> rows_of(const gpu::ListedFile& file) {
  std::vector<SourceRow> rows;
  CodePhase before = CodePhase::none;
  for (const gpu::ListedLine& line : file.lines) {
    SourceRow row;
    row.text = without_tabs(line.text);
    row.letters = letters_of(row.text);
    row.phase = line.phase;
    row.is_tag = gpu::phase_named_by(line.text).has_value();
    row.names_phase = line.phase != CodePhase::none && line.phase != before;
    row.mix = line.mix;
    row.total = line.mix.total();
    before = line.phase;
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Hottest {
  std::size_t file = 0;
  std::int32_t line = 0;
};
// Of each phase the line of all files with the most instructions of it.
std::vector<Hottest> hottest_lines(const gpu::KernelListing& listing) {
  std::vector<Hottest> hottest(gpu::kCodePhases);
  std::vector<std::uint32_t> most(gpu::kCodePhases, 0);
  for (std::size_t f = 0; f < listing.files.size(); ++f) {
    const auto& lines = listing.files[f].lines;
    for (std::size_t n = 0; n < lines.size(); ++n) {
      std::vector<std::uint32_t> of(gpu::kCodePhases, 0);
      for (const gpu::InstructionPlace& place : lines[n].instructions)
        ++of[static_cast<std::size_t>(listing.phase_at(place))];
      for (std::size_t p = 0; p < of.size(); ++p) {
        if (of[p] <= most[p]) continue;
        most[p] = of[p];
        hottest[p] = {f, static_cast<std::int32_t>(n + 1)};
      }
    }
  }
  return hottest;
}

std::vector<PhaseRow> phases_of(const gpu::KernelListing& listing, std::uint32_t all) {
  const std::vector<Hottest> hottest = hottest_lines(listing);
  std::vector<PhaseRow> rows;
  for (const CodePhase phase : gpu::all_code_phases()) {
    const auto n = static_cast<std::size_t>(phase);
    PhaseRow row;
    row.phase = phase;
    row.mix = listing.by_phase.at(n);
    row.total = row.mix.total();
    if (row.total == 0) continue;
    row.sign = sign_of(phase);
    row.words = gpu::words_of(phase);
    row.share = static_cast<double>(row.total) / static_cast<double>(all);
    row.file = hottest[n].file == 0 ? "" : short_name(listing.files[hottest[n].file].name);
    row.line = hottest[n].line;
    rows.push_back(std::move(row));
  }
  return rows;
}

// Beside the lines of this file, where they are of this very text.
void put_samples(const KernelSamples& samples, const gpu::KernelListing& listing, SourceScene& scene) {
  if (!samples.no_lines.empty()) return;
  if (samples.text_hash != listing.text_hash) {
    scene.why_no_samples = tr("The samples are from another version of this source, so the lines do not match.");
    return;
  }
  scene.sampled = true;
  scene.samples = counts_of(samples).all;
  for (SampledLine& line : samples_by_line(samples)) {
    if (samples.files.at(line.file) != listing.files[scene.file].name || line.line > scene.rows.size()) continue;
    SourceRow& row = scene.rows[line.line - 1];
    row.samples = std::move(line.counts);
    row.sample_share = share_of(row.samples.all, scene.samples);
    scene.most_samples = std::max(scene.most_samples, row.samples.all);
  }
}

// By function and address, so that a line of thousands of instructions is no search of thousands for each.
using SampledPlaces = std::map<std::pair<std::string_view, std::uint32_t>, const SampledInstruction*>;
SampledPlaces places_of(const KernelSamples& samples) {
  SampledPlaces places;
  for (const SampledFunction& function : samples.functions)
    for (const SampledInstruction& i : function.instructions)
      places.emplace(std::pair(std::string_view(function.name), i.address), &i);
  return places;
}

// Of what a warp waits for, or does, where its instruction needs the room.
std::string_view brief_of(WarpState state) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {marked("issues"), marked("ready"), marked("dispatch"), marked("result"), marked("busy pipe"), marked("shared"),
       marked("special"), marked("queue"), marked("L1 queue"), "DRAM", marked("barrier"), marked("tensor"),
       marked("fetch")});
  static_assert(kWords.size() == kWarpStates);
  return tr_of(kWords.at(static_cast<std::size_t>(state)));
}

// Beside the instructions of one line. Shares are of that line: the text's column has the line's own.
void put_samples(const KernelSamples& samples, const gpu::KernelListing& listing, const gpu::ListedLine& listed,
                 CodeScene& code) {
  code.sampled = true;
  const SampledPlaces places = places_of(samples);
  std::vector<SampleCounts> counts(listed.instructions.size());
  std::uint64_t all = 0;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const gpu::InstructionPlace& place = listed.instructions[n];
    const auto at = places.find({listing.sass.functions[place.function].name, listing.at(place).address});
    if (at != places.end()) counts[n].add(samples, *at->second);
    all += counts[n].all;
  }
  const std::uint64_t kernel = counts_of(samples).all;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    if (counts[n].all == 0) continue;
    CodeRow& row = code.rows[n];
    row.part = share_of(counts[n].all, all);
    row.share = share_text(row.part);
    row.state = words_of(counts[n].main_state());
    row.state_brief = brief_of(counts[n].main_state());
    row.words = samples_words(counts[n], share_of(counts[n].all, kernel));
  }
}

// Where there is no machine code to list, the phases are those that were counted.
void put_counted_phases(const KernelCounts& counts, SourceScene& scene) {
  const std::uint64_t all = sums_of(counts)[InstructionCounter::executed];
  const bool listed = !scene.phases.empty();
  const std::vector<CountedLine> lines = counts_by_line(counts);
  for (const CountedPhase& phase : counts_by_phase(counts)) {
    auto row = std::ranges::find(scene.phases, phase.phase, &PhaseRow::phase);
    if (row == scene.phases.end() && listed) continue;
    if (!listed) {
      row = scene.phases.insert(scene.phases.end(), PhaseRow());
      row->phase = phase.phase;
      row->sign = sign_of(phase.phase);
      row->words = gpu::words_of(phase.phase);
      if (const auto most = std::ranges::find(lines, phase.phase, &CountedLine::phase); most != lines.end()) {
        row->file = most->file == 0 ? "" : short_name(counts.files.at(most->file));
        row->line = static_cast<std::int32_t>(most->line);
      }
    }
    row->counts = phase_cells_of(counts, phase.sums, all);
  }
}

// The same for what was counted.
void put_counts(const KernelCounts& counts, const gpu::KernelListing& listing, SourceScene& scene) {
  if (!counts.no_lines.empty()) {
    scene.why_no_counts = counts.no_lines;
    return;
  }
  if (counts.text_hash != listing.text_hash) {
    scene.why_no_counts = tr("The counts are from another version of this source, so the lines do not match.");
    return;
  }
  scene.counted = true;
  const std::uint64_t all = sums_of(counts)[InstructionCounter::executed];
  for (const CountColumn column : all_count_columns())
    scene.count_heads.at(static_cast<std::size_t>(column)) = head_of(counts, column);
  for (const CountedLine& line : counts_by_line(counts)) {
    if (counts.files.at(line.file) != listing.files[scene.file].name || line.line > scene.rows.size()) continue;
    scene.rows[line.line - 1].counts = cells_of(counts, line.sums, all);
  }
  put_counted_phases(counts, scene);
  for (const CountColumn column : all_count_columns()) {
    const auto value = [&](std::int32_t line) {
      return value_of(counts, scene.rows[static_cast<std::size_t>(line - 1)].counts.sums, column).value_or(0);
    };
    std::vector<std::int32_t>& lines = scene.most_counted.at(static_cast<std::size_t>(column));
    for (std::int32_t line = 1; line <= static_cast<std::int32_t>(scene.rows.size()); ++line)
      if (value(line) > 0) lines.push_back(line);
    std::ranges::stable_sort(lines, [&](std::int32_t a, std::int32_t b) { return value(a) > value(b); });
  }
}

std::string in_small_letters(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), lower_case);
  return out;
}

}  // namespace

std::vector<LetterSpan> letters_of(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, TensorColour>, 9> kLetters{{
      {"q", TensorColour::q},
      {"k", TensorColour::k},
      {"v", TensorColour::v},
      {"s", TensorColour::s},
      {"p", TensorColour::p},
      {"m", TensorColour::m},
      {"l", TensorColour::l},
      {"o", TensorColour::o},
      {"alpha", TensorColour::alpha},
  }};
  text = text.substr(0, text.find("//"));
  if (text.substr(std::min(text.size(), text.find_first_not_of(' '))).starts_with('#')) return {};
  std::vector<LetterSpan> letters;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    for (const auto& [name, hue] : kLetters)
      if (text.substr(at, end - at) == name) letters.push_back({at, end - at, hue});
    at = std::max(end, at + 1);
  }
  return letters;
}

PhaseSign sign_of(CodePhase phase) {
  using enum TensorColour;
  struct Sign {
    CodePhase phase;
    const char* letter;
    TensorColour hue;
  };
  static constexpr Sign kSigns[] = {{CodePhase::q, "Q", q},         {CodePhase::k, "K", k}, {CodePhase::v, "V", v},
                                    {CodePhase::s, "S", s},         {CodePhase::m, "m", m}, {CodePhase::p, "P", p},
                                    {CodePhase::alpha, "α", alpha}, {CodePhase::l, "ℓ", l}, {CodePhase::o, "O", o}};
  for (const Sign& sign : kSigns)
    if (sign.phase == phase) return {sign.letter, Face::maths, sign.hue};
  return {std::string(gpu::name_of(phase)), Face::text, Token::dim};
}

SourceScene source_scene(const ListingView& view, const std::string& subject_key, const ProfileView& chosen,
                         const TakenOfRow& taken) {
  SourceScene scene;
  if (view.of != subject_key || view.running) {
    scene.empty = tr("The kernel is being compiled and disassembled.");
    return scene;
  }
  if (view.listing == nullptr) {
    scene.empty = view.error;
    return scene;
  }
  const gpu::KernelListing& listing = *view.listing;
  scene.why_no_sass = listing.why_no_sass;
  for (std::size_t f = 0; f < listing.files.size(); ++f) {
    const std::string name = short_name(listing.files[f].name);
    FileChoice file{f == 0 ? "" : name, name, listing.files[f].instructions, false};
    if (file.name == chosen.file) scene.file = f;
    scene.files.push_back(std::move(file));
  }
  scene.files.at(scene.file).on = true;
  scene.rows = rows_of(listing.files[scene.file]);
  for (const gpu::InstructionMix& mix : listing.by_phase) scene.instructions += mix.total();
  if (scene.instructions > 0) scene.phases = phases_of(listing, scene.instructions);
  const KernelSamples* const samples = taken.samples;
  if (samples != nullptr) put_samples(*samples, listing, scene);
  scene.why_no_counts = taken.why_no_counts;
  if (taken.counts != nullptr) put_counts(*taken.counts, listing, scene);
  const auto heat = [&](std::int32_t line) -> std::uint64_t {
    const SourceRow& row = scene.rows[static_cast<std::size_t>(line - 1)];
    return scene.sampled ? row.samples.all : row.total;
  };
  for (std::size_t n = 0; n < scene.rows.size(); ++n) {
    scene.most = std::max(scene.most, scene.rows[n].total);
    if (const auto line = static_cast<std::int32_t>(n + 1); heat(line) > 0) scene.hot.push_back(line);
  }
  std::ranges::stable_sort(scene.hot, [&](std::int32_t a, std::int32_t b) { return heat(a) > heat(b); });
  if (scene.why_no_samples.empty() && samples != nullptr) scene.why_no_samples = samples->no_lines;
  scene.title = scene.instructions == 0
                    ? phrase("{} for {}", listing.label, listing.arch)
                    : phrase("{} for {}: {} instructions", listing.label, listing.arch, scene.instructions);
  return scene;
}

std::int32_t line_shown(const SourceScene& scene, const ProfileView& view) {
  const auto lines = static_cast<std::int32_t>(scene.rows.size());
  if (view.line >= 1 && view.line <= lines) return view.line;
  return scene.hot.empty() ? std::min(1, lines) : scene.hot.front();
}

gpu::CodePhase phase_shown(const SourceScene& scene, const ProfileView& view) {
  const std::int32_t line = line_shown(scene, view);
  return line >= 1 ? scene.rows.at(static_cast<std::size_t>(line) - 1).phase : gpu::CodePhase::none;
}

std::optional<ChooseSourceLine> line_of_sought(const SourceScene& scene, const ProfileView& view) {
  if (view.phase == gpu::CodePhase::none || !scene.empty.empty() || scene.rows.empty()) return std::nullopt;
  const auto row = std::ranges::find(scene.phases, view.phase, &PhaseRow::phase);
  if (row != scene.phases.end() && row->line > 0) return ChooseSourceLine{row->file, row->line};
  // No machine code: the first line that the source gives to it.
  const auto line = std::ranges::find(scene.rows, view.phase, &SourceRow::phase);
  if (line == scene.rows.end()) return ChooseSourceLine{};
  return ChooseSourceLine{view.file, static_cast<std::int32_t>(line - scene.rows.begin()) + 1};
}

std::int32_t next_hot(const SourceScene& scene, std::int32_t line, int direction, std::optional<CountColumn> by) {
  const std::vector<std::int32_t>& order = by ? scene.most_counted.at(static_cast<std::size_t>(*by)) : scene.hot;
  if (order.empty()) return line;
  const auto at = std::ranges::find(order, line);
  if (at == order.end()) return order.front();
  const auto count = static_cast<std::ptrdiff_t>(order.size());
  const std::ptrdiff_t next = (at - order.begin() + direction + count) % count;
  return order[static_cast<std::size_t>(next)];
}

std::optional<std::int32_t> find_in(const SourceScene& scene, std::string_view words, std::int32_t line,
                                    int direction) {
  const auto count = static_cast<std::int32_t>(scene.rows.size());
  if (words.empty() || count == 0) return std::nullopt;
  const std::string wanted = in_small_letters(words);
  for (std::int32_t n = 1; n <= count; ++n) {
    const std::int32_t at = ((line - 1 + direction * n) % count + count) % count;
    if (in_small_letters(scene.rows[static_cast<std::size_t>(at)].text).find(wanted) != std::string::npos)
      return at + 1;
  }
  return std::nullopt;
}

std::string mix_words(const gpu::InstructionMix& mix) {
  std::vector<gpu::InstructionKind> kinds;
  for (const gpu::InstructionKind kind : gpu::all_instruction_kinds())
    if (mix[kind] > 0) kinds.push_back(kind);
  std::ranges::stable_sort(kinds, [&](auto a, auto b) { return mix[a] > mix[b]; });
  std::string words;
  for (const gpu::InstructionKind kind : kinds)
    words += fmt::format("{}{} {}", words.empty() ? "" : " · ", mix[kind], gpu::words_of(kind));
  return words;
}

std::string share_text(double share) {
  const double percent = 100 * share;
  return percent < 9.95 ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent);
}

std::string samples_words(const SampleCounts& samples, double share) {
  if (samples.all == 0) return {};
  std::vector<WarpState> states;
  for (const WarpState state : all_warp_states())
    if (samples.of.at(static_cast<std::size_t>(state)) > 0) states.push_back(state);
  const auto of = [&](WarpState state) { return samples.of.at(static_cast<std::size_t>(state)); };
  std::ranges::stable_sort(states, [&](WarpState a, WarpState b) { return of(a) > of(b); });
  std::string words = phrase("{:.3g} % of all samples, {}", 100 * share, samples.all);
  constexpr std::size_t kShown = 3;
  for (std::size_t n = 0; n < std::min(kShown, states.size()); ++n)
    words += fmt::format("{}{:.0f} % {}", n == 0 ? ": " : ", ", 100 * share_of(of(states[n]), samples.all),
                         words_of(states[n]));
  return words;
}

CodeScene code_scene(const gpu::KernelListing& listing, const SourceScene& scene, std::int32_t line, CodeKind kind,
                     const KernelSamples* samples) {
  CodeScene code;
  const char* what = kind == CodeKind::sass ? "SASS" : "PTX";
  code.title = phrase("{} of line {}", what, line);
  // PTX needs no disassembler.
  if (!listing.why_no_sass.empty() && (kind == CodeKind::sass || listing.ptx.empty())) {
    code.empty = listing.why_no_sass;
    return code;
  }
  const auto& lines = listing.files.at(scene.file).lines;
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) {
    code.empty = tr("No line is selected.");
    return code;
  }
  const gpu::ListedLine& listed = lines[static_cast<std::size_t>(line - 1)];
  if (kind == CodeKind::sass ? listed.instructions.empty() : listed.ptx.empty()) {
    code.empty = kind == CodeKind::sass ? tr("This line has no instructions.") : tr("This line has no PTX.");
    return code;
  }
  if (kind == CodeKind::sass) {
    for (const gpu::InstructionPlace& place : listed.instructions) {
      const gpu::Instruction& i = listing.at(place);
      code.rows.push_back({fmt::format("{:04x}", i.address), i.text, listing.phase_at(place), {}, {}, {}, {}});
    }
    if (samples != nullptr && scene.sampled) put_samples(*samples, listing, listed, code);
    return code;
  }
  for (const std::uint32_t n : listed.ptx)
    code.rows.push_back({fmt::format("{}", n + 1), without_tabs(listing.ptx[n]), listed.phase, {}, {}, {}, {}});
  return code;
}

std::string code_text(const CodeScene& code) {
  std::string text;
  for (const CodeRow& row : code.rows) text += row.address + "\t" + row.text + "\n";
  return text;
}

}  // namespace attn
