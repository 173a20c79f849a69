// The JSON of a container: bounded, versioned, with words for non-finite numbers.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/formats/container.h"

#include "kernels/base/text.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "attnscope";

// Deepest nesting of arrays and objects outside of strings; counts without parsing.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<json> parse_json(std::string_view text, const std::string& name, int max_depth) {
  if (depth_of(text) > max_depth) {
    return bad_input(phrase("{} is nested more than {} levels deep.", name, max_depth));
  }
  // The one place where exceptions are needed: they alone say where the text went wrong.
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    return bad_input(phrase("{} is not valid JSON (byte {} of {}).", name, error.byte, text.size()));
  } catch (const json::exception&) {
    return bad_input(phrase("{} contains a number that is out of range.", name));
  }
}

std::string session_text(const json& session, int version) {
  nlohmann::ordered_json ordered;
  ordered["format"] = kFormat;
  ordered["version"] = version;
  for (const auto& [key, value] : session.items()) {
    if (key != "format" && key != "version") ordered[key] = value;
  }
  // Names of devices and files may hold any bytes; what is not UTF-8 is shown as U+FFFD rather than lost as a whole.
  return ordered.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<void> check_session_object(const json& session, const std::string& name) {
  const auto member = [&](const char* key) { return session.is_object() ? session.value(key, json()) : json(); };
  if (member("format") != kFormat) {
    return bad_input(
        phrase("{} is a zip file but not from AttnScope: its session.json has no \"format\": \"{}\".", name, kFormat));
  }
  const json version = member("version");
  if (!version.is_number_unsigned() || version.get<std::uint64_t>() == 0) {
    return bad_input(phrase("{}: session.json has no version number.", name));
  }
  if (version.get<std::uint64_t>() > kAttnVersion) {
    return bad_input(
        phrase("{} was written by a newer version of AttnScope (format {}); this version reads formats 1 to {}.", name,
               version.dump(), kAttnVersion));
  }
  return ok();
}

Result<std::shared_ptr<json>> session_object(const Container& c, const std::string& name) {
  if (c.session != nullptr) return c.session;
  auto session = parse_json(c.session_json, name + ": session.json", ContainerLimits{}.max_json_depth);
  if (!session) return tl::unexpected(session.error());
  if (auto good = check_session_object(*session, name); !good) return tl::unexpected(good.error());
  return std::make_shared<json>(*std::move(session));
}

json number_to_json(double x) {
  if (std::isfinite(x)) return x;
  if (std::isnan(x)) return "nan";
  return x > 0 ? "inf" : "-inf";
}

Result<double> number_from_json(const json& j, const std::string& where) {
  if (j.is_number()) return j.get<double>();
  if (j == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (j == "inf") return std::numeric_limits<double>::infinity();
  if (j == "-inf") return -std::numeric_limits<double>::infinity();
  return bad_input(fmt::format(R"({} must be a number, "inf", "-inf" or "nan".)", where));
}

}  // namespace attn
