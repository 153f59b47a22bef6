/* Tensor maps, with the rules that the documentation of cuTensorMapEncodeTiled (CUDA
 * driver API, "Tensor Map Object Management") lists; each is named by its parameter. */
#include <string.h>

#include "stub.h"

/* Found by name alone: there is no header that declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum {
	FIRST_PACKED = 13, /* 16U4_ALIGN8B */
	PACKED_4 = 14,     /* 16U4_ALIGN16B */
	PACKED_6 = 15,     /* 16U6_ALIGN16B */
	INTERLEAVE_32B = 2,
	SWIZZLE_32B = 1,
	SWIZZLE_128B = 3,
	SWIZZLE_ATOM_64B = 6,
};

struct map {
	int type;
	uint32_t rank;
	uint64_t address;
	const uint64_t *shape, *strides;
	const uint32_t *box, *steps;
	int interleave, swizzle, promotion, fill;
};

/* Bytes of an element; the packed ones are smaller than one: 0. */
static unsigned element_bytes(int type)
{
	static const unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

	return type < FIRST_PACKED ? bytes[type] : 0;
}

static bool is_float(int type)
{
	return type >= 6 && type < FIRST_PACKED;
}

static bool is_wide(const struct map *m)
{
	return m->type == PACKED_4 || m->type == PACKED_6;
}

/* tensorDataType, tensorRank, and the four enumerations. */
static bool kinds_ok(const struct map *m)
{
	if (m->type < 0 || m->type > PACKED_6 || m->rank < 1 || m->rank > 5)
		return false;
	if (m->interleave < 0 || m->interleave > INTERLEAVE_32B || m->swizzle < 0 ||
	    m->swizzle > SWIZZLE_ATOM_64B || m->promotion < 0 || m->promotion > 3 ||
	    m->fill < 0 || m->fill > 1)
		return false;
	if (m->interleave != 0 && m->rank < 3)
		return false;
	if (m->interleave == INTERLEAVE_32B && m->swizzle != SWIZZLE_32B)
		return false;
	return m->fill == 0 || is_float(m->type);
}

/* swizzle: which of them the packed types have. */
static bool packed_ok(const struct map *m)
{
	if (m->type == PACKED_6 && m->interleave != 0)
		return false;
	if (m->type == PACKED_6 && m->swizzle == SWIZZLE_ATOM_64B)
		return true;
	return !is_wide(m) || m->swizzle == 0 || m->swizzle == SWIZZLE_128B ||
	       m->swizzle == SWIZZLE_128B + 1;
}

/* globalAddress, globalDim, globalStrides. */
static bool memory_ok(const struct map *m)
{
	const unsigned align = m->interleave == INTERLEAVE_32B || is_wide(m) ? 32 : 16;

	if (m->address % align != 0 || memory_at(m->address, 1) == NULL)
		return false;
	for (uint32_t i = 0; i < m->rank; i++) {
		if (m->shape[i] == 0 || m->shape[i] > (uint64_t)1 << 32)
			return false;
	}
	for (uint32_t i = 0; i + 1 < m->rank; i++) {
		if (m->strides[i] % align != 0 || m->strides[i] >= (uint64_t)1 << 40)
			return false;
	}
	return m->shape[0] % (is_wide(m) ? 128 : m->type == FIRST_PACKED ? 2 : 1) == 0;
}

/* boxDim, elementStrides, and what swizzle says of the box. */
static bool box_ok(const struct map *m)
{
	static const unsigned spans[] = {0, 32, 64, 128, 128, 128, 128};
	const uint64_t inner = (uint64_t)m->box[0] * element_bytes(m->type);

	for (uint32_t i = 0; i < m->rank; i++) {
		if (m->box[i] == 0 || m->box[i] > 256)
			return false;
		if ((i > 0 || m->interleave != 0) &&
		    (m->steps[i] == 0 || m->steps[i] > 8))
			return false;
	}
	if (is_wide(m) && m->box[0] != 128)
		return false;
	if (m->interleave != 0)
		return true;
	return inner % 16 == 0 && (m->swizzle == 0 || inner <= spans[m->swizzle]);
}

/* The map's first word is a mix of what it was made of. */
static uint64_t mix(const struct map *m)
{
	uint64_t word = (uint64_t)m->type;

	for (uint32_t i = 0; i < m->rank; i++)
		word = word * 31 + m->shape[i] * 7 + m->box[i] * 3 + m->steps[i];
	for (uint32_t i = 0; i + 1 < m->rank; i++)
		word = word * 31 + m->strides[i];
	return word * 31 + (uint64_t)(m->interleave + m->swizzle * 3 +
				      m->promotion * 9 + m->fill * 27);
}

/* NOLINTNEXTLINE(readability-function-size): the driver's signature */
STUB_API int cuTensorMapEncodeTiled(uint64_t *ret, int type, uint32_t rank,
				    void *address, const uint64_t *shape,
				    const uint64_t *strides, const uint32_t *box,
				    const uint32_t *steps, int interleave, int swizzle,
				    int promotion, int fill)
{
	const struct map m = {type,      rank,       (uint64_t)(uintptr_t)address,
			      shape,     strides,    box,
			      steps,     interleave, swizzle,
			      promotion, fill};

	ENTER(enter_context("cuTensorMapEncodeTiled"));
	if ((uintptr_t)ret % 64 != 0 || !kinds_ok(&m) || !packed_ok(&m) ||
	    !memory_ok(&m) || !box_ok(&m))
		return INVALID_VALUE;
	memset(ret, 0, 128);
	ret[0] = mix(&m);
	ret[1] = m.address;
	ret[2] = shape[0];
	ret[3] = rank > 1 ? shape[1] : 1;
	ret[4] = rank > 1 ? strides[0] : 0;
	ret[5] = box[0];
	ret[6] = rank > 1 ? box[1] : 1;
	return OK;
}
