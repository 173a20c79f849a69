#include "profiling/session/codes.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/base/text.h"
#include "kernels/formats/json_fields.h"
#include "profiling/figures/measurement.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxCodes = 256;
constexpr const char* kMember = "code";  // of a row

std::string_view text_in(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

WrittenCodes::WrittenCodes(const Session& s) {
  for (const SweepRun& run : s.runs) {
    for (const Measurement& m : run.rows) {
      if (m.code == nullptr || codes_.size() == kMaxCodes || find(*m.code)) continue;
      codes_.push_back({m.code.get(), text_of(*m.code)});
    }
  }
}

std::optional<std::size_t> WrittenCodes::find(const gpu::MachineCode& code) const {
  // Rows that were measured together share it; of several files the texts are compared.
  auto at = std::ranges::find(codes_, &code, &Code::code);
  if (at == codes_.end()) at = std::ranges::find_if(codes_, [&](const Code& c) { return *c.code == code; });
  return at == codes_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - codes_.begin()));
}

std::optional<std::size_t> WrittenCodes::number_of(const Measurement& m) const {
  return m.code == nullptr ? std::nullopt : find(*m.code);
}

void WrittenCodes::add_to(json& session, Container& c) const {
  for (std::size_t n = 0; n < codes_.size(); ++n) {
    const std::string entry = fmt::format("c{}/sass.txt", n);
    session["codes"].push_back({{"arch", codes_[n].code->arch}, {"sass", entry}});
    const auto bytes = std::as_bytes(std::span(codes_[n].text));
    c.files[entry].assign(bytes.begin(), bytes.end());
  }
}

Result<bool> more_codes(const json& session, const Container& c, const std::string& name, Codes& codes) {
  const auto list = session.find("codes");
  if (list == session.end()) return true;
  if (!list->is_array() || list->size() > kMaxCodes)
    return bad_input(phrase("{}: session.json: \"codes\" must be a list of at most {}.", name, kMaxCodes));
  if (codes.size() == list->size()) return true;
  JsonFields fields((*list)[codes.size()], phrase("{}: code {}", name, codes.size()));
  const std::string arch = fields.text("arch"), entry = fields.text("sass");
  if (auto read = fields.result(); !read) return tl::unexpected(read.error());
  const auto at = c.files.find(entry);
  if (at == c.files.end()) return bad_input(phrase("{}: its entry {} is missing.", name, entry));
  auto code = gpu::machine_code_from(text_in(at->second), arch, phrase("{}: {}", name, entry));
  if (!code) return tl::unexpected(code.error());
  codes.push_back(std::make_shared<const gpu::MachineCode>(*std::move(code)));
  return codes.size() == list->size();
}

Result<void> take_code(const json& j, const Codes& codes, const std::string& where, Measurement& m) {
  const auto at = j.find(kMember);
  if (at == j.end()) return ok();
  if (!at->is_number_unsigned() || at->get<std::uint64_t>() >= codes.size())
    return bad_input(phrase("{}: \"{}\" must be the number of one of the {} codes.", where, kMember, codes.size()));
  m.code = codes[at->get<std::size_t>()];
  return ok();
}

}  // namespace attn
