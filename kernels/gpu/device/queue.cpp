#include "kernels/gpu/device/queue.h"

#include <utility>

#include "kernels/base/hash.h"

namespace attn::gpu {
namespace {

constexpr std::int64_t kSharedWithoutAsking = 48 * 1024;

}  // namespace

Result<Queue> Queue::make(Driver& driver, CompileService& compiler, std::string arch, std::filesystem::path edited) {
  Result<StreamHandle> stream = driver.create_stream();
  if (!stream) return tl::unexpected(stream.error());
  Queue queue(driver, compiler, std::move(arch), std::move(edited));
  queue.stream_ = queue.own_stream_ = *stream;
  return queue;
}

Queue Queue::on(Driver& driver, CompileService& compiler, std::string arch, std::filesystem::path edited,
                StreamHandle stream) {
  Queue queue(driver, compiler, std::move(arch), std::move(edited));
  queue.stream_ = stream;
  return queue;
}

Queue::Queue(Queue&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)),
      compiler_(other.compiler_),
      arch_(std::move(other.arch_)),
      edited_(std::move(other.edited_)),
      stream_(other.stream_),
      own_stream_(other.own_stream_),
      trace_(other.trace_),
      stamps_(std::move(other.stamps_)),
      loaded_(std::move(other.loaded_)) {}

Queue::~Queue() {
  if (driver_ == nullptr) return;
  for (auto& [key, loaded] : loaded_) driver_->unload(loaded.module);
  if (own_stream_ != nullptr) driver_->destroy_stream(own_stream_);
}

Result<Queue::Loaded*> Queue::load(std::string_view kernel, const std::vector<std::string>& defines,
                                   const KernelSource* own) {
  std::string key(kernel);
  for (const std::string& define : defines) key += ' ' + define;
  if (const auto at = loaded_.find(key); at != loaded_.end()) return &at->second;
  const ScoreLines lines = score_lines_for(defines);
  Result<KernelSource> source = own != nullptr ? Result<KernelSource>(*own) : kernel_source(kernel, edited_, lines);
  if (!source) return tl::unexpected(source.error());
  source->score_lines = lines;
  if (trace_ != 0 || !stamps_.empty()) *source = with_hooks(std::move(*source), kernel);
  Result<Compiled> compiled = compiler_->compile({std::move(*source), arch_, defines});
  if (!compiled) return tl::unexpected(compiled.error());
  Result<Module> module = driver_->load(compiled->code.data());
  if (!module) return tl::unexpected(module.error());
  return &loaded_.emplace(std::move(key), Loaded{*module, std::move(*compiled), {}}).first->second;
}

Result<Module> Queue::load_text(std::string_view name, const std::string& text,
                                const std::vector<std::string>& defines) {
  KernelSource source;
  source.name = std::string(name) + ".cu";
  source.text = text;
  source.hash = hash_of(text);
  Result<Compiled> compiled = compiler_->compile({std::move(source), arch_, defines});
  if (!compiled) return tl::unexpected(compiled.error());
  return driver_->load(compiled->code.data());
}

Result<Function> Queue::entry(Loaded& loaded, const std::string& name, std::int64_t shared_bytes) {
  if (const auto at = loaded.functions.find(name); at != loaded.functions.end()) return at->second;
  Result<Function> f = driver_->function(loaded.module, name);
  if (!f) return f;
  if (shared_bytes > kSharedWithoutAsking) {
    auto allowed = driver_->allow_shared(*f, static_cast<std::uint32_t>(shared_bytes));
    if (!allowed) return tl::unexpected(allowed.error());
  }
  loaded.functions.emplace(name, *f);
  return f;
}

}  // namespace attn::gpu
