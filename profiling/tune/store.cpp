#include "profiling/tune/store.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <limits>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/clock.h"
#include "kernels/base/files.h"
#include "kernels/base/folders.h"
#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/formats/json_reading.h"
#include "kernels/model/problem_json.h"
#include "profiling/tune/tile_json.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr int kVersion = 1, kMaxDepth = 16;
constexpr std::uint64_t kMaxBytes = 8ULL << 20;
constexpr std::size_t kMaxTiles = 1 << 14, kMaxText = 4096;
constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kBandRows = 64;

std::string band(std::int64_t n) {
  if (n < 1) return "0..0";
  const auto low = std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(n)) - 1);
  return fmt::format("{}..{}", low, 2 * low - 1);
}

json key_to_json(const TunedKey& k) {
  return {{"kernel", k.kernel},
          {"device", k.device},
          {"source_hash", k.source_hash},
          {"compiler", k.compiler},
          {"dtype", k.dtype},
          {"D", k.D},
          {"Dv", k.Dv},
          {"mask", k.mask},
          {"length", k.length},
          {"blocks", k.blocks}};
}

Result<TunedKey> key_from_json(const json& j) {
  JsonFields fields(j, "key");
  TunedKey k;
  k.kernel = fields.text("kernel");
  k.device = fields.text("device");
  k.source_hash = fields.text("source_hash");
  k.compiler = fields.text("compiler");
  k.dtype = fields.text("dtype");
  k.D = fields.integer("D", 1, kMaxHeadDim);
  k.Dv = fields.integer("Dv", 1, kMaxHeadDim);
  k.mask = fields.text("mask");
  k.length = fields.text("length");
  k.blocks = fields.text("blocks");
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return k;
}

json result_to_json(const TunedKey& key, const TuneResult& r) {
  json tiles = json::array();
  for (const TriedTile& t : r.tiles) tiles.push_back(tile_to_json(t));
  return {{"key", key_to_json(key)},
          {"problem", problem_to_json(r.problem)},
          {"decision", name_of(*r.decision)},
          {"words", r.words},
          {"usual", r.usual},
          {"chosen", r.chosen},
          {"seconds", r.seconds},
          {"clock", r.clock},
          {"date", r.date},
          {"tiles", std::move(tiles)}};
}

Result<TuneResult> result_from_json(const json& j, const TunedKey* key) {
  JsonFields fields(j, "result");
  const auto kept = key_from_json(fields.object("key"));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  if (!kept) return tl::unexpected(kept.error());
  if (key != nullptr && !(*kept == *key)) return bad_input(phrase("it has another key: {}", describe(*kept)));
  TuneResult r;
  r.kernel = kept->kernel;
  r.device = kept->device;
  const auto problem = problem_from_json(fields.object("problem"), tr("result, problem"));
  const auto decision = tune_decision_from_name(fields.text("decision"));
  if (!decision) fields.refuse("decision", tr("is unknown"));
  r.decision = decision;
  r.words = fields.text("words", kMaxText);
  r.seconds = fields.number("seconds");
  r.clock = fields.text("clock");
  r.date = fields.text("date");
  const json& tiles = fields.array("tiles");
  if (tiles.size() > kMaxTiles) fields.refuse("tiles", phrase("has more than {}", kMaxTiles));
  const auto last = static_cast<std::int64_t>(tiles.size()) - 1;
  r.usual = static_cast<std::size_t>(fields.integer("usual", 0, std::max<std::int64_t>(0, last)));
  r.chosen = static_cast<std::size_t>(fields.integer("chosen", 0, std::max<std::int64_t>(0, last)));
  if (tiles.empty()) fields.refuse("tiles", tr("is empty"));
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  if (!problem) return tl::unexpected(problem.error());
  r.problem = *problem;
  for (const json& t : tiles) {
    auto tile = tile_from_json(t);
    if (!tile) return tl::unexpected(tile.error());
    r.tiles.push_back(*std::move(tile));
  }
  r.tiles[r.usual].tile.usual = true;
  if (r.tiles[r.chosen].fate != TileFate::timed) return bad_input(tr("the chosen tile was not timed"));
  return r;
}

Result<TuneResult> result_in(std::span<const std::byte> bytes, const TunedKey* key) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto parsed = parse_json(text, tr("it"), kMaxDepth);
  if (!parsed || !parsed->is_object()) return bad_input(tr("it is damaged: not a JSON object"));
  const json& j = *parsed;
  JsonFields fields(j, "file");
  const std::int64_t version = fields.integer("attnscope_tiles", 0, kMax32);
  const std::string sum = fields.text("checksum");
  const json& result = fields.object("result");
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  if (version != kVersion) return bad_input(phrase("its version is {}, not {}", version, kVersion));
  if (hash_of(result.dump()) != sum) return bad_input(tr("it is damaged: its checksum is wrong"));
  return result_from_json(result, key);
}

// `key`: whose it must be; null: of any.
Result<TuneResult> read_kept(const std::filesystem::path& file, const TunedKey* key) {
  const auto bytes = read_file(file, kMaxBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  auto result = reading(tr("it"), [&] { return result_in(*bytes, key); });
  if (!result)
    return bad_input(
        phrase("{} was rejected: {}. Tune again, or delete the file.", file.string(), result.error().message));
  return result;
}

// What the user types to tune exactly this.
std::string command_for(const TunedKey& key, const Problem& p) {
  std::string words = fmt::format("attnscope tune {} --b {} --hq {} --l {} --d {} --dtype {}", key.kernel, p.B, p.Hq,
                                  p.Lq, p.D, key.dtype);
  if (p.mask.causal) words += " --causal";
  return words;
}

}  // namespace

std::string mask_class(const Problem& p) {
  const bool window = p.mask.window_left >= 0 || p.mask.window_right > 0;
  std::string words = window ? "window" : p.mask.causal || p.mask.window_right == 0 ? "causal" : "full";
  if (!p.mask.key_lengths.empty()) words += "+lengths";
  if (p.has_bias()) words += "+bias";
  if (p.softcap) words += "+softcap";
  if (p.alibi) words += "+alibi";
  return words;
}

std::string length_band(const Problem& p) {
  const std::string q = band(p.Lq), k = band(p.Lk);
  return q == k ? q : q + " x " + k;
}

std::string blocks_band(const Problem& p, const Device& d) {
  const std::int64_t blocks = p.B * p.Hq * ((p.Lq + kBandRows - 1) / kBandRows);
  return band(blocks / std::max<std::int64_t>(1, d.cores));
}

TunedKey tuned_key(const KernelRow& row, const Problem& p, const Device& device, const std::string& source_hash,
                   const std::string& compiler) {
  TunedKey k;
  k.kernel = row.id;
  k.device = device.name;
  k.source_hash = source_hash;
  k.compiler = row.processor == Processor::gpu ? compiler : "";
  k.dtype = name_of(p.dtype);
  k.D = p.D;
  k.Dv = p.Dv;
  k.mask = mask_class(p);
  k.length = length_band(p);
  k.blocks = blocks_band(p, device);
  return k;
}

std::string describe(const TunedKey& k) {
  const std::string dims = k.D == k.Dv ? fmt::format("D = {}", k.D) : fmt::format("D = {}, Dv = {}", k.D, k.Dv);
  return fmt::format("{} on {}, {} {}, {}, L {}, {} blocks {}, source {}{}", k.kernel, k.device, k.dtype, dims, k.mask,
                     k.length, k.blocks, k.compiler.empty() ? "a core" : "an SM", k.source_hash.substr(0, 8),
                     k.compiler.empty() ? "" : ", " + k.compiler);
}

std::filesystem::path tuned_folder() {
  const auto cache = cache_folder();
  return cache.empty() ? cache : cache / "tiles";
}

std::filesystem::path tuned_file(const std::filesystem::path& folder, const TunedKey& key) {
  return folder / fmt::format("{}-{}.json", key.kernel, short_hash_of(key_to_json(key).dump()));
}

Result<void> keep_tuned(const std::filesystem::path& folder, const TunedKey& key, TuneResult result) {
  if (folder.empty()) return fail(ErrorKind::io, tr("There is no cache folder; set HOME or XDG_CACHE_HOME."));
  if (!result.decision) return bad_input(tr("A tuning run without a decision is not stored."));
  result.date = time_text(std::chrono::system_clock::now(), TimeZone::utc, "%Y-%m-%dT%H:%M:%SZ");
  if (auto made = make_folder(folder); !made) return made;
  json payload = result_to_json(key, result);
  const std::string sum = hash_of(payload.dump());
  const json j = {{"attnscope_tiles", kVersion}, {"checksum", sum}, {"result", std::move(payload)}};
  const std::string text = j.dump(1) + "\n";
  return write_file_atomically(tuned_file(folder, key), std::as_bytes(std::span(text)));
}

Result<TuneResult> read_tuned(const std::filesystem::path& folder, const TunedKey& key) {
  const auto file = tuned_file(folder, key);
  std::error_code error;
  if (folder.empty() || !std::filesystem::exists(file, error))
    return fail(ErrorKind::cannot_run, phrase("there is no tuned tile for {}", describe(key)));
  return read_kept(file, &key);
}

KeptTunings kept_tunings(const std::filesystem::path& folder) {
  KeptTunings kept;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    auto result = read_kept(file, nullptr);
    if (result)
      kept.results.push_back(*std::move(result));
    else
      kept.refused.push_back(result.error().message);
  }
  return kept;
}

Result<Options> tuned_options(const std::filesystem::path& folder, const TunedKey& key, const KernelRow& row,
                              const Problem& p, const Options& o, const Device& device) {
  const auto kept = read_tuned(folder, key);
  if (!kept && kept.error().kind == ErrorKind::cannot_run)
    return fail(ErrorKind::cannot_run, phrase("the tile is set to tuned, but {}; run `{}`, or use tile = default.",
                                              kept.error().message, command_for(key, p)));
  if (!kept) return tl::unexpected(kept.error());
  const Options& tile = kept->tiles[kept->chosen].tile.options;
  Options with = o;
  for (const OptionSpec& spec : row.options)
    if (tunes(row, *spec.option)) choose(with, *spec.option, chosen(tile, *spec.option));
  // A key does not hold everything: what was kept must be one that the kernel takes for this very problem.
  if (auto takes = row.supports(row, p, with, device); !takes)
    return bad_input(phrase("{} contains a tile that does not fit here: {}", tuned_file(folder, key).string(),
                            takes.error().message));
  return with;
}

std::string tile_from(const KernelRow& row, const Options& asked, bool tuned) {
  if (!has_tiles(row)) return {};
  if (tuned) return "tuned";
  const bool chooses = std::ranges::any_of(
      row.options, [&](const OptionSpec& spec) { return tunes(row, *spec.option) && chosen(asked, *spec.option); });
  return chooses ? "asked" : "default";
}

}  // namespace attn
