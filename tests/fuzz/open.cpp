// A file goes through the window's own open path, as OpenFile does it, and the kernels that a session brings are taken:
// whatever stands in it, the window goes on and says something. The first byte chooses the kind of file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "kernels/formats/container.h"
#include "tests/fuzz/container_of.h"
#include "tests/kernels/temp_folder.h"

namespace {

using attn::Container;

struct File {
  const char* name;
  std::string bytes;
};

std::string zipped(const Container& c) {
  const auto bytes = attn::container_bytes(c);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string();
}

// A session whose one kernel is the text.
std::string session_with_kernel(std::string_view text) {
  nlohmann::json session;
  session["kernels"].push_back({{"file", "mine.cu"}, {"text", text}});
  Container c;
  try {
    c.session_json = attn::session_text(session, 2);
  } catch (const nlohmann::json::exception&) {
    return {};  // a text that no JSON holds
  }
  return zipped(c);
}

File file_of(std::string_view input) {
  const char kind = input.empty() ? 'k' : input.front();
  input.remove_prefix(input.empty() ? 0 : 1);
  switch (kind) {
    case 'c':
      return {"mine.cu", std::string(input)};
    case 'l':
      return {"mine.json", std::string(input)};
    case 'q':
      return {"q.npy", std::string(input)};
    case 's':
      return {"mine.attn", zipped(attn::fuzz::plain_entries(std::as_bytes(std::span(input))))};
    case 'z':
      return {"mine.attn", std::string(input)};
    default:
      return {"mine.attn", session_with_kernel(input)};
  }
}

// One window for all: what one file leaves must not break the next.
class Window {
 public:
  Window() { open_new(); }

  void open(const File& file) {
    const auto path = folder_ / file.name;
    std::ofstream(path, std::ios::binary) << file.bytes;
    const std::uint64_t said = controller_->log().after(0).size();
    controller_->update({attn::OpenFile{path.string()}});
    controller_->wait();
    controller_->update({attn::AnswerOffer{true}});
    controller_->update({});
    const bool lesson = std::string_view(file.name) == "mine.json";
    if (!lesson && controller_->log().after(0).size() == said) std::abort();  // neither opened nor refused
    if (++opened_ % 256 == 0) open_new();
  }

 private:
  void open_new() {
    attn::ControllerOptions o;
    o.state = attn::initial_state();
    o.save_folder = folder_.path();
    o.runs.runs = folder_ / "runs";

    controller_ = std::make_unique<attn::Controller>(std::move(o));
  }

  attn::TempFolder folder_;
  std::unique_ptr<attn::Controller> controller_;
  std::size_t opened_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Window window;
  window.open(file_of({reinterpret_cast<const char*>(data), size}));
  return 0;
}
