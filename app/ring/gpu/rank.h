// A rank of a ring of GPUs: a process with one GPU.
#pragma once

#include "app/system/child_process.h"

namespace attn {

// Answers until whoever asks is gone; the value is the process's exit code.
int work_as_gpu_rank(Socket& asker);

}  // namespace attn
