// What a command says of its options. Handles of the parser's own objects, which live as long as the program's.
// CLI11 is known to parser.cpp, cli.cpp and describe.cpp alone: its inline functions took nine seconds of each file.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace attn::cli {

class AddedOption {
 public:
  explicit AddedOption(CLI::Option* option) : option_(option) {}
  AddedOption* operator->() { return this; }
  AddedOption type_name(const std::string& words);
  AddedOption required();
  // What --help says it is when left out.
  AddedOption default_str(const std::string& words);
  // --name alone stands for --name=VALUE.
  AddedOption alone_means(const std::string& value);
  // Without one the option is not for people: help, manual page and completion leave it out.
  AddedOption group(const std::string& name);

 private:
  CLI::Option* option_;
};

class Parser {
 public:
  explicit Parser(CLI::App* app) : app_(app) {}

  Parser add_subcommand(const std::string& name, const std::string& help);
  // T: std::string, std::int32_t, std::int64_t, std::uint64_t, double or float, or an optional of one of them. `name`:
  // "--name", "-n,--name"; without - what stands by its place.
  template <class T>
  AddedOption add_option(const std::string& name, T& value, const std::string& help = "");
  // What stands by its place, any number of it.
  AddedOption add_values(const std::string& name, std::vector<std::string>& values, const std::string& help);
  // May be given several times, each with one value.
  AddedOption add_repeated(const std::string& name, std::vector<std::string>& values, const std::string& help);
  AddedOption add_flag(const std::string& name, bool& value, const std::string& help);
  void footer(const std::string& words);
  bool parsed() const;

 private:
  CLI::App* app_;
};

}  // namespace attn::cli
