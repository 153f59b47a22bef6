#ifndef MSD_ONNX_DTYPE_H
#define MSD_ONNX_DTYPE_H
/* Element types, by ONNX's numbers. */
#include <stdint.h>

/** The name of ONNX's element type @type; NULL: there is none here. */
const char *onnx_dtype_name(int32_t type);
/** ONNX's number for a dtype; 0: there is none. */
int32_t onnx_dtype_number(const char *name);

#endif
