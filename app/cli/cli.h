// The command line: `attnscope` opens the window, `attnscope COMMAND` works without one. Data goes to stdout, words to
// stderr. Exit 0 done, 1 a check failed, 2 bad usage or input, 3 cannot run on this machine, 130 cancelled.
#pragma once

namespace attn::cli {

int run(int argc, char** argv);

}  // namespace attn::cli
