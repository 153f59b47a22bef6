#ifndef MSD_ONNX_ELEMENTS_H
#define MSD_ONNX_ELEMENTS_H
/* Element types that operators took on after the opset that is written. */
#include "graph/serializer/onnx/out.h"

/** Refuse @o where ONNX's operator @name has its elements only in a later opset, which
 * the text names with the input or output. */
MSD_MUST_CHECK int onnx_elements_check(const struct onnx_out *o, const char *name);

#endif
