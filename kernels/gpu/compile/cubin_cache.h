// One entry of the cache on disk: a line of text that says what follows, the compiler's log, the machine code.
//
//   attnscope-cubin 1 KEY LOG_BYTES CODE_BYTES CHECKSUM\n  LOG  CODE
//
// An entry is trusted only if its key is the one asked for, its size and checksum hold and the code is an ELF file of
// a GPU; else it is as if it were not there, and the next compilation overwrites it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "kernels/gpu/compile/compiler.h"

namespace attn::gpu {

std::optional<Cubin> read_cached(const std::filesystem::path& file, const std::string& key);
// Temporary name, synced, renamed. False where the entry could not be written.
bool keep_cached(const std::filesystem::path& file, const std::string& key, const Cubin& cubin);

}  // namespace attn::gpu
