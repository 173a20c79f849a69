// What the subcommands share: one file each adds itself to the parser and hands back what to run.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "app/cli/stopper.h"
#include "kernels/base/result.h"

namespace attn::cli {

struct Command {
  CLI::App* parser = nullptr;
  // The value is the exit code.
  std::function<Result<int>(Stopper&)> run;
  // Ctrl+C and the time limit ask the command to stop; else the system's own handling stays.
  bool stoppable = true;
};

Command add_window(CLI::App& program);  // parser: the program itself
Command add_step(CLI::App& program);
Command add_run(CLI::App& program);
Command add_bench(CLI::App& program);
Command add_verify(CLI::App& program);
Command add_list(CLI::App& program);
Command add_doctor(CLI::App& program);
Command add_shot(CLI::App& program);
Command add_report(CLI::App& program);
Command add_inspect(CLI::App& program);
Command add_worker(CLI::App& program);

}  // namespace attn::cli
