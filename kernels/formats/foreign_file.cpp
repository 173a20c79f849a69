#include "kernels/formats/foreign_file.h"

#include "kernels/base/text.h"

namespace attn {

std::string foreign_file(std::span<const std::byte> head, std::string_view name) {
  constexpr std::string_view kZip = "PK\x03\x04", kPickle = "\x80\x02", kHdf = "\x89HDF";
  constexpr std::size_t kSizeBytes = 8;  // of the header of safetensors, before it
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("version https://git-lfs.github.com/"))
    return tr("it is a Git LFS pointer, not the file itself; fetch it with git lfs pull");
  if (text.starts_with(kZip) && name.ends_with(".npz"))
    return tr("it is a .npz, a zip of arrays; save one array: np.save('q.npy', np.load('FILE.npz')['q'])");
  const bool of_torch = name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".bin");
  if ((text.starts_with(kZip) && of_torch) || text.starts_with(kPickle))
    return tr("it is a torch file; save one tensor: np.save('q.npy', torch.load('FILE.pt')['q'].float().numpy())");
  if (text.size() > kSizeBytes + 1 && text.substr(kSizeBytes, 2) == "{\"")
    return tr(
        "it is a .safetensors file; save one tensor: np.save('q.npy', "
        "safetensors.torch.load_file('FILE.safetensors')['q'].float().numpy())");
  if (text.starts_with(kHdf))
    return tr("it is an HDF5 file; save one data set: np.save('q.npy', h5py.File('FILE.h5')['q'][:])");
  return {};
}

}  // namespace attn
