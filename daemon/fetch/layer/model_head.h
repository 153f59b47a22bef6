#ifndef MSD_FETCH_MODEL_HEAD_H
#define MSD_FETCH_MODEL_HEAD_H
/*
 * Recognize the first bytes of a model that a worker can load. This only chooses among
 * files: the worker checks the file itself.
 */
#include "proto/base/bytes.h"

#define MSD_MODEL_HEAD_BYTES 4096u /* enough for each format */

enum msd_model_head {
	MSD_HEAD_OTHER,
	MSD_HEAD_LIBRARY, /* ELF, shared; of TVM or of any other program */
	MSD_HEAD_MODEL    /* ONNX, TensorFlow, TensorFlow Lite, tmfile */
};

/** The kind of a file of @bytes bytes that begins with @head. */
enum msd_model_head msd_model_head_of(struct msd_span head, uint64_t bytes);

#endif
