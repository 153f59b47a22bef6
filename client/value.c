#include <string.h>

#include "client/modser.h"
#include "proto/dtype.h"

modser_value modser_nil(void)
{
	return (modser_value){.kind = MODSER_NIL};
}

modser_value modser_bool(bool v)
{
	return (modser_value){.kind = MODSER_BOOL, .as.b = v};
}

modser_value modser_int(int64_t v)
{
	return (modser_value){.kind = MODSER_INT, .as.i = v};
}

modser_value modser_float(double v)
{
	return (modser_value){.kind = MODSER_FLOAT, .as.f = v};
}

modser_value modser_str(const char *text)
{
	return (modser_value){.kind = MODSER_STR, .as.str = {text, strlen(text)}};
}

modser_value modser_result_of(uint64_t id)
{
	return (modser_value){.kind = MODSER_RESULT_OF, .as.result_of = {.id = id}};
}

modser_value modser_tensor_arg(modser_dtype dtype, const int64_t *shape, uint32_t ndim,
			       const void *data)
{
	/* Arguments are only read; results share the field, so it is not const. */
	return (modser_value){.kind = MODSER_TENSOR,
			      .as.tensor = {.dtype = dtype,
					    .ndim = ndim,
					    .shape = shape,
					    .data = (void *)(uintptr_t)data}};
}

modser_value modser_out_arg(modser_dtype dtype, const int64_t *shape, uint32_t ndim,
			    void *data)
{
	return (modser_value){
		.kind = MODSER_OUT,
		.as.tensor = {
			.dtype = dtype, .ndim = ndim, .shape = shape, .data = data}};
}

bool modser_dtype_parse(const char *name, modser_dtype *ret)
{
	struct msd_dtype t;

	if (!msd_dtype_parse(name, strlen(name), &t))
		return false;
	*ret = (modser_dtype){t.code, t.bits, t.lanes};
	return true;
}

bool modser_tensor_bytes(modser_dtype dtype, const int64_t *shape, uint32_t ndim,
			 uint64_t *ret)
{
	struct msd_dtype t = {dtype.code, dtype.bits, dtype.lanes};
	uint64_t n;

	return t.bits != 0 && t.lanes != 0 && ndim <= MSD_MAX_NDIM &&
	       msd_shape_elements(shape, ndim, &n) && msd_dtype_bytes(t, n, ret);
}

const modser_value *modser_find(const modser_value *map, const char *key)
{
	size_t n = strlen(key);

	if (map == NULL || map->kind != MODSER_MAP)
		return NULL;
	for (size_t i = 0; i < map->as.tuple.n; i++) {
		const modser_value *pair = &map->as.tuple.item[2 * i];

		if (pair->kind == MODSER_STR && pair->as.str.n == n &&
		    memcmp(pair->as.str.p, key, n) == 0)
			return pair + 1;
	}
	return NULL;
}

const char *modser_version(void)
{
	return MSD_VERSION;
}
