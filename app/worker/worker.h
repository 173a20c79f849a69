// `attnscope worker`: the only process that opens the NVIDIA driver. It reads requests from a socket, runs them one
// after the other and answers; after a sticky error, or when the other side goes away, it ends. Who asks restarts it.
// app/worker/requests.h lists what it can be asked.
#pragma once

#include "app/system/child_process.h"
#include "app/worker/open_gpu.h"

namespace attn {

// The worker's life. The value is the exit code of its process.
int work(Socket& socket, const WorkerParts& parts);

}  // namespace attn
