#ifndef MSD_ONNX_DTYPE_H
#define MSD_ONNX_DTYPE_H
/* Element types, by ONNX's numbers. */
#include <stdint.h>

/** The name of ONNX's element type @type; NULL if it is not supported. */
const char *onnx_dtype_name(int32_t type);
/** The number of a dtype in opset 17, the written opset; 0 if it has none. */
int32_t onnx_dtype_number(const char *name);

#endif
