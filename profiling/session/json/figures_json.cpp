#include "profiling/session/json/figures_json.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/formats/container.h"
#include "kernels/formats/json_fields.h"
#include "kernels/model/problem_json.h"
#include "profiling/figures/metrics.h"
#include "profiling/session/json/number_in.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMaxText = 64 << 10;

// Files from before the two had keys of their own tell them in `method` alone:
// "ptxas and the launch, limited by registers; the least of 2 launches: naive_scores".
void read_from_method(Figure& f) {
  constexpr std::string_view kBefore = "ptxas and the launch, limited by ";
  if (f.origin != Origin::compiled || !f.method.starts_with(kBefore)) return;
  const std::string_view rest = std::string_view(f.method).substr(kBefore.size());
  f.limiter = rest.substr(0, rest.find(';'));
  f.min_of_launches = rest.find("; the least of ") != std::string_view::npos;
}

Result<Figure> figure_from_json(const json& j, const std::string& where) {
  JsonFields fields(j, where);
  Figure f;
  const std::string name = fields.text("origin");
  const auto origin = origin_from_name(name);
  if (!origin) fields.refuse("origin", fmt::format("is '{}', an unknown origin", name));
  f.origin = origin.value_or(Origin::not_available);
  if (f.available()) {
    f.value = number_in(fields, "value", -kInfinity, kInfinity, true);
    f.method = fields.text("method", kMaxText);
    if (fields.has("min_of_launches")) f.min_of_launches = fields.boolean("min_of_launches");
    if (fields.has("limiter"))
      f.limiter = fields.text("limiter", kMaxText);
    else
      read_from_method(f);
  } else {
    f.reason = fields.text("reason", kMaxText);
  }
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  return f;
}

}  // namespace

json figures_to_json(const Measurement& m) {
  json figures = json::object();
  const auto table = metric_table();
  for (std::size_t i = 0; i < table.size() && i < m.figures.size(); ++i) {
    const Figure& f = m.figures[i];
    json j = {{"origin", name_of(f.origin)}};
    if (f.available()) {
      j["value"] = number_to_json(f.value);
      j["method"] = f.method;
      if (f.min_of_launches) j["min_of_launches"] = true;
      if (!f.limiter.empty()) j["limiter"] = f.limiter;
    } else {
      j["reason"] = f.reason;
    }
    figures[std::string(table[i].id)] = std::move(j);
  }
  return figures;
}

Result<void> read_figures(const json& figures, const std::string& where, Measurement& m,
                          std::vector<std::string>& unknown) {
  const Figure absent{Origin::not_available, 0, "", "not in this file"};
  m.figures.assign(metric_table().size(), absent);
  for (const auto& [id, j] : figures.items()) {
    if (const auto index = find_metric(id)) {
      auto f = figure_from_json(j, fmt::format("{}, figure '{}'", where, id));
      if (!f) return tl::unexpected(f.error());
      m.figures[*index] = std::move(*f);
    } else if (std::find(unknown.begin(), unknown.end(), id) == unknown.end()) {
      unknown.push_back(id);
    }
  }
  return ok();
}

}  // namespace attn
