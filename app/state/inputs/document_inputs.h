// The numbers of a document: generated, from .npy files, or those of a recording in an .attn file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/recording/recording.h"
#include "viz/state/state.h"

namespace attn {

// Recordings of .attn files that inputs refer to: where InputSpec::q_file names an .attn, Q, K, V and the bias are
// those of its first recording.
using OpenedRecordings = std::map<std::string, std::shared_ptr<const Recording>>;

bool is_attn_file(const std::filesystem::path& file);

// Makes the document that of a recording in `file`: its problem, options, kernel and numbers.
void take_recording(const Recording& recording, const std::string& file, Document& document);

// make_inputs, and inputs out of `opened`; a file that is not in there yet is read. Any thread, on a map of its own.
Result<Inputs> document_inputs(const Problem& p, const InputSpec& spec, const OpenedRecordings& opened);

// The words that stand at the rows and columns of these inputs; none where they have no words.
Labels labels_of(const Problem& p, const InputSpec& spec, const OpenedRecordings& opened);

// Records the document with its kernel. An .attn is taken as it was recorded.
Result<Recording> record_document(const Document& document, Stop stop);

}  // namespace attn
