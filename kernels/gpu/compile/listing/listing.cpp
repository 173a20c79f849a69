#include "kernels/gpu/compile/listing/listing.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kernels/gpu/compile/listing/ptx_lines.h"

namespace attn::gpu {
namespace {

struct Text {
  std::string name, text;
};

std::vector<Text> texts_of(const KernelSource& source, std::string_view id) {
  std::vector<Text> texts{{source.name, source.text}};
  for (const SourceText& header : headers_of(id, source.text, embedded_sources(source.score_lines)))
    texts.push_back({std::string(header.name), std::string(header.text)});
  return texts;
}

Result<ListedFile> file_of(const Text& text) {
  const auto phases = phases_of_lines(text.text);
  if (!phases) return bad_input(fmt::format("{}, {}", text.name, phases.error().message));
  ListedFile file;
  file.name = text.name;
  std::string_view rest = text.text;
  for (const CodePhase phase : *phases) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ListedLine listed;
    listed.text = line.substr(0, line.ends_with('\r') ? line.size() - 1 : line.size());
    listed.phase = phase;
    file.lines.push_back(std::move(listed));
  }
  return file;
}

// The line information names files where they seemed to lie: "/a/folder/kernels/gpu/naive.cu".
bool is_named(std::string_view in_lines, std::string_view name) {
  // Of an absolute name the compiler makes one in its own folder all the same.
  if (in_lines == name || (name.starts_with('/') && in_lines.ends_with(name))) return true;
  return in_lines.size() > name.size() && in_lines.ends_with(name) &&
         in_lines[in_lines.size() - name.size() - 1] == '/';
}

// The routine that an instruction belongs to; nothing: to the function itself.
std::optional<std::size_t> routine_of(const SassFunction& f, std::size_t instruction) {
  std::optional<std::size_t> found;
  for (std::size_t r = 0; r < f.routines.size(); ++r)
    if (f.routines[r].first <= instruction) found = r;
  return found;
}

// A routine has the phase of those who call it, where they agree.
std::vector<CodePhase> phases_of_routines(const SassFunction& f, std::span<const CodePhase> phases) {
  std::vector<CodePhase> of;
  for (const SassRoutine& routine : f.routines) {
    std::optional<CodePhase> all;
    for (std::size_t n = 0; n < f.instructions.size(); ++n) {
      const std::string& text = f.instructions[n].text;
      if (opcode_of(text) != "CALL" || text.find("(" + routine.name + ")") == std::string::npos) continue;
      all = !all || *all == phases[n] ? phases[n] : CodePhase::none;
      if (*all == CodePhase::none) break;
    }
    of.push_back(all.value_or(CodePhase::none));
  }
  return of;
}

class Lister {
 public:
  explicit Lister(KernelListing& listing) : listing_(listing) {
    for (const ListedFile& file : listing.files) {
      std::vector<CodePhase> phases;
      phases.reserve(file.lines.size());
      for (const ListedLine& line : file.lines) phases.push_back(line.phase);
      by_file_.push_back(std::move(phases));
    }
  }

  // PTX alone, by what it says of its lines itself.
  void list_ptx() {
    const PtxLines lines = ptx_lines(listing_.ptx);
    match_files(lines.files);
    for (std::uint32_t n = 0; n < lines.chains.size(); ++n) {
      std::vector<std::uint32_t> seen;
      for (const SourceFrame& frame : ours(lines.chains[n])) {
        if (std::ranges::find(seen, frame.file) != seen.end()) continue;
        seen.push_back(frame.file);
        listing_.files[frame.file].lines[frame.line - 1].ptx.push_back(n);
      }
    }
    const auto unused = std::ranges::remove_if(listing_.files.begin() + 1, listing_.files.end(), [](const auto& file) {
      return std::ranges::all_of(file.lines, [](const ListedLine& line) { return line.ptx.empty(); });
    });
    listing_.files.erase(unused.begin(), unused.end());
  }

  void list() {
    match_files(listing_.sass.files);
    std::vector<CodePhase> of_chain;
    of_chain.reserve(listing_.sass.chains.size());
    for (const auto& chain : listing_.sass.chains) of_chain.push_back(phase_of_chain(ours(chain), by_file_));
    for (std::uint32_t f = 0; f < listing_.sass.functions.size(); ++f) {
      const SassFunction& function = listing_.sass.functions[f];
      std::vector<CodePhase> phases;
      phases.reserve(function.instructions.size());
      for (const Instruction& i : function.instructions) phases.push_back(of_chain[i.chain]);
      const auto routines = phases_of_routines(function, phases);
      for (std::uint32_t n = 0; n < phases.size(); ++n) {
        if (const auto r = routine_of(function, n)) phases[n] = routines[*r];
        listing_.by_phase[static_cast<std::size_t>(phases[n])].add(function.instructions[n].kind);
        put({f, n});
      }
      listing_.phases.push_back(std::move(phases));
    }
    // The kernel's own file stays, whatever came of it.
    const auto unused = std::ranges::remove_if(listing_.files.begin() + 1, listing_.files.end(),
                                               [](const ListedFile& file) { return file.instructions == 0; });
    listing_.files.erase(unused.begin(), unused.end());
  }

 private:
  static constexpr std::uint32_t kNotOurs = ~0U;  // CUDA's own header

  void match_files(std::span<const std::string> names) {
    for (const std::string& name : names) {
      const auto at = std::ranges::find_if(listing_.files, [&](const auto& f) { return is_named(name, f.name); });
      our_file_.push_back(at == listing_.files.end() ? kNotOurs
                                                     : static_cast<std::uint32_t>(at - listing_.files.begin()));
    }
  }
  // The frames that lie in files of ours, and in lines that these have.
  std::vector<SourceFrame> ours(std::span<const SourceFrame> chain) const {
    std::vector<SourceFrame> frames;
    for (const SourceFrame& frame : chain) {
      const std::uint32_t file = our_file_[frame.file];
      if (file == kNotOurs || frame.line == 0 || frame.line > listing_.files[file].lines.size()) continue;
      frames.push_back({file, frame.line});
    }
    return frames;
  }
  // An instruction counts once in each file of its chain: for the innermost of that file's lines.
  void put(InstructionPlace place) {
    const Instruction& instruction = listing_.at(place);
    std::vector<std::uint32_t> seen;
    for (const SourceFrame& frame : ours(listing_.sass.chains[instruction.chain])) {
      if (std::ranges::find(seen, frame.file) != seen.end()) continue;
      seen.push_back(frame.file);
      ListedFile& file = listing_.files[frame.file];
      ListedLine& line = file.lines[frame.line - 1];
      ++file.instructions;
      line.mix.add(instruction.kind);
      line.instructions.push_back(place);
      const std::uint32_t ptx = instruction.ptx;
      if (ptx == 0 || ptx > listing_.ptx.size()) continue;
      const auto at = std::ranges::lower_bound(line.ptx, ptx - 1);
      if (at == line.ptx.end() || *at != ptx - 1) line.ptx.insert(at, ptx - 1);
    }
  }

  KernelListing& listing_;
  std::vector<std::vector<CodePhase>> by_file_;
  std::vector<std::uint32_t> our_file_;  // of each that the compiler names
};

}  // namespace

std::string key_of(const ListingSubject& subject) {
  const Problem& p = subject.problem;
  const Options& o = subject.options;
  std::string further;
  for (const Setting& s : o.further) further += fmt::format(" {} {}", s.name, s.value);
  return fmt::format("{} {} D {}/{} {} {} {}{} {}{}{}{} {}x{} {} {}{}", subject.kernel, subject.arch, p.D, p.Dv,
                     name_of(p.dtype), name_of(p.pass), name_of(p.storage.kind()),
                     p.layout == AxisOrder::blhd ? " blhd" : "", p.mask.any() ? "masked" : "whole",
                     p.has_bias() ? " bias" : "", p.softcap ? " softcap" : "", p.alibi ? " alibi" : "", o.br, o.bc,
                     o.threads, o.stages, further);
}

std::uint32_t InstructionMix::total() const {
  return std::accumulate(of.begin(), of.end(), 0U);
}

CodePhase phase_of_chain(std::span<const SourceFrame> chain, std::span<const std::vector<CodePhase>> phases) {
  for (const SourceFrame& frame : chain) {
    const std::vector<CodePhase>& file = phases[frame.file];
    if (frame.line == 0 || frame.line > file.size()) continue;
    if (file[frame.line - 1] != CodePhase::none) return file[frame.line - 1];
  }
  return CodePhase::none;
}

Result<KernelListing> list_source(const KernelSource& source, std::string_view id, std::string_view arch,
                                  std::string why) {
  KernelListing listing;
  listing.label = source.label(id);
  listing.arch = arch;
  listing.source_hash = source.hash;
  listing.text_hash = source.text_hash;
  listing.why_no_sass = std::move(why);
  for (const Text& text : texts_of(source, id)) {
    auto file = file_of(text);
    if (!file) return tl::unexpected(file.error());
    listing.files.push_back(std::move(*file));
  }
  return listing;
}

Result<KernelListing> list_ptx(const KernelSource& source, std::string_view id, std::string_view arch,
                               std::string_view ptx, std::string why) {
  auto listing = list_source(source, id, arch, std::move(why));
  if (!listing) return listing;
  while (!ptx.empty()) {
    const std::string_view line = ptx.substr(0, ptx.find('\n'));
    ptx.remove_prefix(std::min(ptx.size(), line.size() + 1));
    listing->ptx.emplace_back(line);
  }
  if (!listing->ptx.empty()) Lister(*listing).list_ptx();
  return listing;
}

Result<KernelListing> list_kernel(const KernelSource& source, std::string_view id, std::string_view arch,
                                  std::span<const std::byte> cubin, std::string_view sass) {
  auto listing = list_source(source, id, arch, {});
  if (!listing) return listing;
  auto parsed = parse_sass(sass);
  if (!parsed) return tl::unexpected(parsed.error());
  listing->sass = std::move(*parsed);
  listing->ptx = ptx_of(cubin);
  Lister(*listing).list();
  return listing;
}

}  // namespace attn::gpu
