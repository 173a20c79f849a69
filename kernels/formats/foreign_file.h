// Files that are taken for one of ours and are another program's: what each is, and how to make one of ours of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace attn {

// By its first bytes, and the ending of its name where they say too little; empty: not known. "it is ..., and what to
// do", for behind a name and a colon.
std::string foreign_file(std::span<const std::byte> head, std::string_view name);

}  // namespace attn
