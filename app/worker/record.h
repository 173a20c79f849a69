// A GPU kernel's recording: asked of the worker, decoded here.
#pragma once

#include <cstdint>
#include <string>

#include "app/worker/client.h"
#include "kernels/recording/recording.h"

namespace attn {

struct GpuRecorded {
  Recording recording;
  bool same_bits = false;  // O and LSE of the run that recorded itself and of the plain one
  double plain_us = 0, traced_us = 0;
};

// `device` as the worker's hello says. Refused in words where the kernel, the problem or the machine cannot.
Result<GpuRecorded> record_on_gpu(GpuClient& client, const GpuRunRequest& r, const Device& device,
                                  const Deadline& deadline, const GpuClient::Progress& progress = {});

}  // namespace attn
