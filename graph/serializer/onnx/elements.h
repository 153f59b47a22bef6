#ifndef MSD_ONNX_ELEMENTS_H
#define MSD_ONNX_ELEMENTS_H
/* Element types that operators support only after the written opset. */
#include "graph/serializer/onnx/out.h"

/**
 * Reject @o if ONNX's operator @name has its element types only in a later opset. The
 * text names the opset and the input or output.
 */
MSD_MUST_CHECK int onnx_elements_check(const struct onnx_out *o, const char *name);

#endif
