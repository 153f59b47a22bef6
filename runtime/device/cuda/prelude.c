#include "runtime/device/cuda/prelude.h"

#include <string.h>

/* Defines the integer types at file scope, GNU C's assembly keywords, and INFINITY. */
static const char always[] =
	"#if __has_include(<cuda/std/cstdint>)\n"
	"#include <cuda/std/cstdint>\n"
	"#include <cuda/std/limits>\n"
	"using cuda::std::int8_t;\n"
	"using cuda::std::int16_t;\n"
	"using cuda::std::int32_t;\n"
	"using cuda::std::int64_t;\n"
	"using cuda::std::uint8_t;\n"
	"using cuda::std::uint16_t;\n"
	"using cuda::std::uint32_t;\n"
	"using cuda::std::uint64_t;\n"
	"#define MSD_INFINITY (::cuda::std::numeric_limits<float>::infinity())\n"
	"#else\n"
	"typedef signed char int8_t;\n"
	"typedef short int16_t;\n"
	"typedef int int32_t;\n"
	"typedef long long int64_t;\n"
	"typedef unsigned char uint8_t;\n"
	"typedef unsigned short uint16_t;\n"
	"typedef unsigned int uint32_t;\n"
	"typedef unsigned long long uint64_t;\n"
	"#define MSD_INFINITY (__int_as_float(0x7f800000))\n"
	"#endif\n"
	"#ifndef INFINITY\n"
	"#define INFINITY MSD_INFINITY\n"
	"#endif\n"
	"#ifndef __asm__\n"
	"#define __asm__ asm\n"
	"#endif\n"
	"#ifndef __volatile__\n"
	"#define __volatile__ volatile\n"
	"#endif\n";

/* The tag is the one of cuda.h, so headers of the toolkit may declare it again. */
static const char tensor_map[] = "struct alignas(64) CUtensorMap_st {\n"
				 "  unsigned long long opaque[16];\n"
				 "};\n"
				 "typedef struct CUtensorMap_st CUtensorMap;\n";

static const char begin[] = "#line 1 \"module.cu\"\n";

static const char traits[] = "#pragma once\n"
			     "#include <cuda/std/type_traits>\n"
			     "namespace std { using namespace cuda::std; }\n";

const char *const msd_cuda_prelude_names[MSD_CUDA_PRELUDE_HEADERS] = {
	"cuda.h", "math.h", "cmath", "stdint.h", "cstdint", "type_traits"};
const char *const msd_cuda_prelude_texts[MSD_CUDA_PRELUDE_HEADERS] = {"", "", "",
								      "", "", traits};

static bool has(struct msd_span source, const char *text)
{
	return memmem(source.p, source.n, text, strlen(text)) != NULL;
}

/* True if the source uses it but does not define it. */
static bool needs_tensor_map(struct msd_span source)
{
	return has(source, "CUtensorMap") && !has(source, "CUtensorMap_st") &&
	       !has(source, "CUtensorMap {") && !has(source, "struct CUtensorMap");
}

bool msd_cuda_prelude_put(struct msd_span source, struct msd_buf *ret)
{
	msd_buf_put(ret, always, sizeof(always) - 1);
	if (needs_tensor_map(source))
		msd_buf_put(ret, tensor_map, sizeof(tensor_map) - 1);
	msd_buf_put(ret, begin, sizeof(begin) - 1);
	msd_buf_put(ret, source.p, strnlen((const char *)source.p, source.n));
	msd_buf_put(ret, "", 1);
	return !ret->bad;
}
