#include "app/cli/arguments/parser.h"

#include <cstdint>
#include <optional>

#include <CLI/CLI.hpp>

namespace attn::cli {

AddedOption AddedOption::type_name(const std::string& words) {
  return AddedOption(option_->type_name(words));
}

AddedOption AddedOption::required() {
  return AddedOption(option_->required());
}

AddedOption AddedOption::default_str(const std::string& words) {
  return AddedOption(option_->default_str(words));
}

AddedOption AddedOption::alone_means(const std::string& value) {
  return AddedOption(option_->expected(0, 1)->default_str(value));
}

AddedOption AddedOption::group(const std::string& name) {
  return AddedOption(option_->group(name));
}

Parser Parser::add_subcommand(const std::string& name, const std::string& help) {
  return Parser(app_->add_subcommand(name, help));
}

template <class T>
AddedOption Parser::add_option(const std::string& name, T& value, const std::string& help) {
  return AddedOption(app_->add_option(name, value, help));
}

template AddedOption Parser::add_option(const std::string&, std::string&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::int32_t&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::int64_t&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::uint64_t&, const std::string&);
template AddedOption Parser::add_option(const std::string&, double&, const std::string&);
template AddedOption Parser::add_option(const std::string&, float&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::optional<std::int32_t>&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::optional<double>&, const std::string&);
template AddedOption Parser::add_option(const std::string&, std::optional<float>&, const std::string&);

AddedOption Parser::add_values(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  return AddedOption(app_->add_option(name, values, help));
}

AddedOption Parser::add_repeated(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  return AddedOption(app_->add_option(name, values, help)->allow_extra_args(false));
}

AddedOption Parser::add_flag(const std::string& name, bool& value, const std::string& help) {
  return AddedOption(app_->add_flag(name, value, help));
}

void Parser::footer(const std::string& words) {
  app_->footer(words);
}

bool Parser::parsed() const {
  return app_->parsed();
}

}  // namespace attn::cli
