// A container read in pieces, for where a large file must not hold up a frame: its directory, its entries, the text of
// session.json. parse_container() is all of it at once.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "kernels/base/result.h"
#include "kernels/formats/container.h"

namespace attn {

class ContainerReading {
 public:
  // `bytes` must outlive it; `name` is for messages. `wanted`: which entries are read besides session.json; without it
  // all.
  ContainerReading(std::span<const std::byte> bytes, std::string name, const ContainerLimits& limits,
                   std::function<bool(const std::string&)> wanted = {});
  ~ContainerReading();
  ContainerReading(const ContainerReading&) = delete;
  ContainerReading& operator=(const ContainerReading&) = delete;

  // Reads the next piece. Whether all is read.
  Result<bool> step();
  Container take();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace attn
