// 64-byte aligned memory, as vector loads and Buffers::workspace want it. Its content is arbitrary.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace attn::cpu {

class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes)
      : data_(static_cast<std::byte*>(::operator new(bytes == 0 ? 1 : bytes, kAlignment))) {}
  std::byte* data() { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace attn::cpu
