#include "graph/serializer/onnx/dtype.h"

#include <stddef.h>
#include <string.h>

static const struct {
	int32_t number;
	const char *name;
} dtypes[] = {
	{1, "float32"},
	{2, "uint8"},
	{3, "int8"},
	{4, "uint16"},
	{5, "int16"},
	{6, "int32"},
	{7, "int64"},
	{9, "bool"},
	{10, "float16"},
	{11, "float64"},
	{12, "uint32"},
	{13, "uint64"},
	{14, "complex64"},
	{15, "complex128"},
	{16, "bfloat16"},
	{17, "float8_e4m3fn"},
	{18, "float8_e4m3fnuz"},
	{19, "float8_e5m2"},
	{20, "float8_e5m2fnuz"},
	{21, "uint4"},
	{22, "int4"},
	{23, "float4_e2m1fn"},
	{24, "float8_e8m0fnu"},
	{25, "uint2"},
	{26, "int2"},
	{27, "float6_e2m3fn"},
	{28, "float6_e3m2fn"},
};

#define LAST_WRITTEN 16 /* last type of opset 17 */

const char *onnx_dtype_name(int32_t type)
{
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		if (dtypes[i].number == type)
			return dtypes[i].name;
	}
	return NULL;
}

int32_t onnx_dtype_number(const char *name)
{
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		if (dtypes[i].number <= LAST_WRITTEN &&
		    strcmp(dtypes[i].name, name) == 0)
			return dtypes[i].number;
	}
	return 0;
}
