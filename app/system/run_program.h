// Another program, run to its end for what it prints, or in place of this one. POSIX; run_program.cpp alone asks the
// system.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/system/child_process.h"
#include "kernels/base/result.h"

namespace attn {

// What it wrote to stdout. The error says how it ended, with the last of what it wrote to stderr. It is killed where
// the deadline passes, where stop is asked for, or where it prints more than `max_bytes`. `folder`: where it works;
// empty: here.
Result<std::string> output_of(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                              const Deadline& deadline, std::size_t max_bytes,
                              const std::filesystem::path& folder = {});

// The file of a program that PATH has by this name; empty: none.
std::filesystem::path program_in_path(const std::string& name);

// Another program that reads from stdin what it is fed. What it prints is thrown away; its errors are said. It is
// killed with the object.
class FedProgram {
 public:
  static Result<FedProgram> start(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  FedProgram(FedProgram&&) noexcept;
  FedProgram& operator=(FedProgram&&) noexcept;
  ~FedProgram();
  // Until it has taken all of them; the error says how it ended where it takes no more.
  Result<void> feed(std::span<const std::byte> bytes, const std::stop_token& stop);
  // Nothing more comes: until it has ended.
  Result<void> finish(const std::stop_token& stop);

 private:
  struct Impl;
  explicit FedProgram(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Becomes another program, found in PATH by its name; returns only where that can't be.
Error replace_process(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace attn
