// What the subcommands share: one file each adds itself to the parser and hands back what to run.
#pragma once

#include <functional>

#include "app/cli/arguments/parser.h"
#include "app/cli/arguments/stopper.h"
#include "kernels/base/result.h"

namespace attn::cli {

struct Command {
  Parser parser{nullptr};
  // The value is the exit code.
  std::function<Result<int>(Stopper&)> run;
  // Ctrl+C and the time limit ask the command to stop; else the system's own handling stays.
  bool stoppable = true;
};

Command add_window(Parser program);  // parser: the program itself
Command add_step(Parser program);
Command add_run(Parser program);
Command add_bench(Parser program);
Command add_verify(Parser program);
Command add_list(Parser program);
Command add_doctor(Parser program);
Command add_shot(Parser program);
Command add_report(Parser program);
Command add_inspect(Parser program);
Command add_museum(Parser program);
Command add_profile(Parser program);
Command add_lesson(Parser program);
Command add_timeline(Parser program);
Command add_sass(Parser program);
Command add_tune(Parser program);
Command add_lab(Parser program);
Command add_ring(Parser program);
Command add_worker(Parser program);

}  // namespace attn::cli
