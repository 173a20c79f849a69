// The lab compiles and measures kernels: in a page it stays empty and says so.
#include "app/control/profile/labs.h"

#include "app/web/absent/words.h"

namespace attn {
namespace {

void refuse(Log& log) {
  log.warn(in_desktop(tr("A browser cannot compile or measure kernels.")));
}

}  // namespace

std::filesystem::path drafts_folder() {
  return {};
}
void Labs::follow() {}
void Labs::edit(const EditLab&) {
  refuse(context_.log);
}
void Labs::travel(bool) {
  refuse(context_.log);
}
void Labs::build() {
  refuse(context_.log);
}
void Labs::revert() {}
void Labs::open_experiment(const std::string&) {
  refuse(context_.log);
}
void Labs::limit_registers(const LimitRegisters&) {
  refuse(context_.log);
}
void Labs::take_try(std::size_t) {}
void Labs::answer_draft(bool) {}
void Labs::keep() {
  refuse(context_.log);
}
void Labs::save() {
  refuse(context_.log);
}

}  // namespace attn
