#include "app/cli/step/step_text.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "attnscope_version.h"
#include "kernels/base/text.h"
#include "kernels/formats/container.h"
#include "kernels/model/kernel.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem_json.h"
#include "kernels/model/traffic.h"
#include "kernels/recording/replay/exact.h"
#include "viz/draw/number_text.h"
#include "viz/step/bars/strip.h"
#include "viz/step/facts/values.h"
#include "viz/step/place/place.h"

namespace attn::cli {
namespace {

using nlohmann::json;

constexpr int kDigits = 7;  // at most; an error bound cuts them
constexpr std::array<std::string_view, kTrafficParts> kParts{"q", "k", "v", "bias", "s", "p", "o", "stats"};

std::string slot_words(Slot s) {
  return std::string(letter_of_slot(s)) + (made_as(s) == s ? "" : " old");
}

// Versions that event e made, in slot order.
std::vector<VersionId> made_by(const Recording& rec, EventIndex e) {
  std::vector<VersionId> made;
  for (std::size_t slot = 0; slot < slot_count(); ++slot) {
    const VersionId v = rec.after(e, static_cast<Slot>(slot));
    const bool known = v == kNoVersion || rec.version(v).made_by != e;
    if (!known && std::find(made.begin(), made.end(), v) == made.end()) made.push_back(v);
  }
  return made;
}

std::uint64_t bytes_after(const Recording& rec, EventIndex e) {
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : rec.events[e].hbm_bytes) sum += bytes;
  return sum;
}

// Columns of texts, right-aligned; texts hold characters of several bytes.
std::string table(const std::vector<std::string>& cells, std::int32_t cols) {
  int width = 0;
  for (const std::string& cell : cells) width = std::max(width, text_length(cell));
  std::string text;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const bool starts = n % static_cast<std::size_t>(cols) == 0;
    text += starts ? (n == 0 ? "      " : "\n      ") : "  ";
    text.append(static_cast<std::size_t>(width - text_length(cells[n])), ' ');
    text += cells[n];
  }
  return text + "\n";
}

json traffic_json(const std::array<std::uint64_t, kTrafficParts>& parts) {
  json j = json::object();
  for (std::size_t n = 0; n < kTrafficParts; ++n) j[std::string(kParts[n])] = parts[n];
  return j;
}

std::array<std::uint64_t, kTrafficParts> both_ways(const Traffic& t) {
  std::array<std::uint64_t, kTrafficParts> sum{};
  add_traffic(t, sum);
  return sum;
}

json rows_json(std::span<const float> values, std::int64_t cols) {
  json rows = json::array();
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (n % static_cast<std::size_t>(cols) == 0) rows.push_back(json::array());
    rows.back().push_back(number_to_json(static_cast<double>(values[n])));
  }
  return rows;
}

// Rows of a tensor from `first` on, all heads counted; of one without columns a number a row.
std::string rows_text(const Array& a, std::int64_t first, std::int64_t rows, int digits) {
  const std::int64_t cols = a.shape().size() > 3 ? a.shape()[3] : 1;
  std::vector<std::string> cells;
  for (std::int64_t n = first * cols; n < (first + rows) * cols; ++n)
    cells.push_back(significant_text(static_cast<double>(a.get(n)), digits));
  return table(cells, static_cast<std::int32_t>(cols));
}

json flat_json(const Array& a) {
  json values = json::array();
  for (std::int64_t n = 0; n < a.size(); ++n) values.push_back(number_to_json(static_cast<double>(a.get(n))));
  return values;
}

// Runs as one line: subscripts after _, superscripts in ^( ). Inside a superscript a subscript stays on its height, in
// the text face beside its letter.
std::string line_of(const TextRuns& runs) {
  std::string text;
  int raise = 0;
  const TextRun* before = nullptr;
  for (const TextRun& run : runs) {
    const bool beside = before != nullptr && before->face == Face::maths && before->ink == run.ink;
    if (raise > 0 && run.raise > 0 && run.face == Face::text && beside) text += "_";
    before = &run;
    if (raise > 0 && run.raise <= 0) text += ")";
    if (run.raise > 0 && raise <= 0) text += "^(";
    if (run.raise < 0 && raise >= 0) text += "_";
    raise = run.raise;
    text += run.text;
  }
  return raise > 0 ? text + ")" : text;
}

// Members of an object, without its braces, to be followed by others.
std::string members(const json& object) {
  const std::string text = object.dump();
  return text.substr(1, text.size() - 2);
}

}  // namespace

std::string StepWriter::heading() const {
  std::string tile;
  if (rec_.options.br > 0) tile = phrase(", tile {}x{}", rec_.options.br, rec_.options.bc);
  return phrase("{}\n{} ({} order){}, {} steps, computed on {}\n\n", describe(rec_.problem), rec_.kernel,
                name_of(rec_.order), tile, rec_.events.size(), rec_.device);
}

void StepWriter::follow(EventIndex e) {
  const EventId& id = rec_.events[e].id;
  // Where no query tile is live, one stands for what is summed by keys.
  const std::int32_t i = std::max(id.i, 0);
  if ((id.i < 0 && exact_) || (exact_ && exact_->covers(id.b, id.h, i))) return;
  exact_.emplace(rec_, id.b, id.h, i);
}

std::string StepWriter::tile_text(VersionId id, std::size_t most) const {
  const Version& v = rec_.version(id);
  const std::span<const float> values = rec_.values(id);
  const int natural = is_input(v.slot) ? natural_decimals(values) : -1;
  const auto rows = static_cast<std::size_t>(v.rows), cols = static_cast<std::size_t>(v.cols);
  const std::size_t shown = std::clamp<std::size_t>(most / std::max<std::size_t>(cols, 1), 1, rows);
  std::vector<std::string> cells;
  for (std::size_t n = 0; n < shown * cols; ++n) {
    const auto value = static_cast<double>(values[n]);
    const double bound = bound_of(rec_, exact_ ? &*exact_ : nullptr, id, n);
    cells.push_back(natural >= 0 ? number_text(value, {natural, false}) : significant_text(value, kDigits, bound));
  }
  std::string title = fmt::format("    {} ", slot_words(v.slot));
  title += slot_row(v.slot).rows == SlotRows::keys ? "keys" : "rows";
  title += fmt::format(" {} to {}", v.first_row, v.first_row + v.rows - 1);
  if (slot_row(v.slot).columns == SlotColumns::keys)
    title += phrase(", keys {} to {}", v.first_col, v.first_col + v.cols - 1);
  if (v.holds.normalised) title += tr(", divided by ℓ");
  title += "\n" + table(cells, v.cols);
  return shown == rows ? title : title + phrase("    … {} more\n", rows - shown);
}

std::string StepWriter::text(EventIndex e, std::size_t most) {
  follow(e);
  const ExactTile* exact = exact_ ? &*exact_ : nullptr;
  const StepPlace at = place_of(rec_, e, Selection{});
  const StripScene strip = strip_scene(rec_, at, step_values(rec_, at, Selection{}, exact), texts_);
  std::string text = strip.position + "\n";
  for (const TextRuns* runs : {&strip.headline, &strip.sentence, &strip.formula}) {
    const std::string words = line_of(*runs);
    if (!words.empty()) text += "    " + words + "\n";
  }
  for (const VersionId v : made_by(rec_, e)) text += tile_text(v, most);
  if (const std::uint64_t bytes = event_bytes(rec_, e); bytes != 0) {
    text += phrase("    HBM: {} B in this step, {} B so far\n", bytes, bytes_after(rec_, e));
  }
  return text + "\n";
}

std::string StepWriter::summary() const {
  const Problem& p = rec_.problem;
  const auto last = static_cast<EventIndex>(rec_.events.size() - 1);
  std::uint64_t on_chip = 0;
  for (const std::uint64_t bytes : on_chip_bytes(rec_.order, p, rec_.options)) on_chip += bytes;
  std::string text = phrase("HBM bytes: {} as tile loads (with nothing cached), {} compulsory; peak on chip: {}\n",
                            bytes_after(rec_, last), compulsory(rec_.order, p).total(), on_chip);
  if (p.pass == Pass::backward) return text + gradients_text();
  for (std::int64_t head = 0; head < p.B * p.Hq; ++head) {
    const std::string where = p.B * p.Hq == 1 ? "" : phrase(", batch {}, query head {}", head / p.Hq, head % p.Hq);
    text += phrase("\nOutput O{}\n", where) + rows_text(rec_.outputs.out, head * p.Lq, p.Lq, kDigits);
    text += fmt::format("LSE{}\n", where) + rows_text(rec_.outputs.lse, head * p.Lq, p.Lq, kDigits + 1);
  }
  return text;
}

std::string StepWriter::gradients_text() const {
  const Problem& p = rec_.problem;
  std::string text;
  for (const auto& [name, array, heads] :
       {std::tuple("dQ", &rec_.outputs.d_q, p.Hq), std::tuple("dK", &rec_.outputs.d_k, p.Hkv),
        std::tuple("dV", &rec_.outputs.d_v, p.Hkv)}) {
    const std::int64_t rows = array->shape()[2];
    for (std::int64_t head = 0; head < p.B * heads; ++head) {
      const std::string where = p.B * heads == 1 ? "" : phrase(", batch {}, head {}", head / heads, head % heads);
      text += phrase("\nGradient {}{}\n", name, where) + rows_text(*array, head * rows, rows, kDigits);
    }
  }
  return text;
}

std::string StepWriter::json_heading() const {
  return members({{"program", fmt::format("attnscope {} ({})", ATTNSCOPE_VERSION, ATTNSCOPE_COMMIT)},
                  {"kernel", rec_.kernel},
                  {"device", rec_.device},
                  {"order", name_of(rec_.order)},
                  {"problem", problem_to_json(rec_.problem)},
                  {"options", options_to_json(rec_.options)},
                  {"step_count", rec_.events.size()}});
}

std::string StepWriter::json(EventIndex e) {
  const InEnglish recorded;
  follow(e);
  const ExactTile* exact = exact_ ? &*exact_ : nullptr;
  const Event& event = rec_.events[e];
  const StepPlace at = place_of(rec_, e, Selection{});
  const StripScene strip = strip_scene(rec_, at, step_values(rec_, at, Selection{}, exact), texts_);
  const auto index = [](std::int32_t n) { return n < 0 ? nlohmann::json() : nlohmann::json(n); };
  nlohmann::json j{{"step", e + 1},
                   {"phase", name_of(event.id.phase)},
                   {"pass", event.pass},
                   {"b", event.id.b},
                   {"h", event.id.h},
                   {"i", index(event.id.i)},
                   {"j", index(event.id.j)},
                   {"position", strip.position},
                   {"headline", line_of(strip.headline)},
                   {"sentence", line_of(strip.sentence)},
                   {"formula", line_of(strip.formula)},
                   {"hbm_bytes", event_bytes(rec_, e)},
                   {"hbm_bytes_so_far", traffic_json(event.hbm_bytes)},
                   {"made", nlohmann::json::array()}};
  for (const VersionId id : made_by(rec_, e)) {
    const Version& v = rec_.version(id);
    nlohmann::json bounds = nlohmann::json::array();
    const std::span<const float> values = rec_.values(id);
    double largest = 0;
    for (std::size_t n = 0; n < values.size(); ++n) largest = std::max(largest, bound_of(rec_, exact, id, n));
    j["made"].push_back({{"tensor", name_of(v.slot)},
                         {"first_row", v.first_row},
                         {"first_col", v.first_col},
                         {"holds",
                          {{"scaled", v.holds.scaled},
                           {"base2", v.holds.base2},
                           {"normalised", v.holds.normalised},
                           {"masked", v.holds.masked}}},
                         {"error_bound", number_to_json(largest)},
                         {"values", rows_json(values, v.cols)}});
  }
  return j.dump();
}

std::string StepWriter::json_summary() const {
  const Problem& p = rec_.problem;
  nlohmann::json j{{"tile_load_bytes", traffic_json(rec_.events.back().hbm_bytes)},
                   {"compulsory_bytes", traffic_json(both_ways(compulsory(rec_.order, p)))},
                   {"on_chip_bytes", traffic_json(on_chip_bytes(rec_.order, p, rec_.options))}};
  const auto add = [&j](const char* name, const Array& a) {
    j[name] = {{"shape", a.shape()}, {"values", flat_json(a)}};
  };
  if (p.pass == Pass::backward) {
    add("dq", rec_.outputs.d_q);
    add("dk", rec_.outputs.d_k);
    add("dv", rec_.outputs.d_v);
  } else {
    add("out", rec_.outputs.out);
    add("lse", rec_.outputs.lse);
  }
  return members(j);
}

}  // namespace attn::cli
