#include "tests/client/same.h"

#include <string.h>

static bool same_bytes(const void *a, const void *b, size_t n)
{
	return n == 0 || memcmp(a, b, n) == 0;
}

static bool same_tensor(const modser_tensor *a, const modser_tensor *b)
{
	return same_bytes(&a->dtype, &b->dtype, sizeof(a->dtype)) &&
	       same_bytes(&a->device, &b->device, sizeof(a->device)) &&
	       a->ndim == b->ndim &&
	       same_bytes(a->shape, b->shape, a->ndim * sizeof(*a->shape)) &&
	       a->bytes == b->bytes &&
	       same_bytes(&a->handle, &b->handle, sizeof(a->handle));
}

static bool same_value(const modser_value *a, const modser_value *b);

static bool same_items(const modser_value *a, const modser_value *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!same_value(&a->as.tuple.item[i], &b->as.tuple.item[i]))
			return false;
	}
	return true;
}

static bool same_value(const modser_value *a, const modser_value *b)
{
	if (a->kind != b->kind)
		return false;
	switch ((int)a->kind) {
	case MODSER_NIL:
		return true;
	case MODSER_BOOL:
		return a->as.b == b->as.b;
	case MODSER_INT:
	case MODSER_FLOAT: /* by its bits */
		return same_bytes(&a->as.i, &b->as.i, sizeof(a->as.i));
	case MODSER_STR:
	case MODSER_BYTES: /* with the NUL behind them */
		return a->as.str.n == b->as.str.n &&
		       same_bytes(a->as.str.p, b->as.str.p, a->as.str.n + 1);
	case MODSER_DTYPE:
		return same_bytes(&a->as.dtype, &b->as.dtype, sizeof(a->as.dtype));
	case MODSER_DEVICE:
		return same_bytes(&a->as.device, &b->as.device, sizeof(a->as.device));
	case MODSER_SHAPE:
		return a->as.shape.ndim == b->as.shape.ndim &&
		       same_bytes(a->as.shape.dim, b->as.shape.dim,
				  a->as.shape.ndim * sizeof(*a->as.shape.dim));
	case MODSER_TENSOR:
	case MODSER_RESIDENT:
		return same_tensor(&a->as.tensor, &b->as.tensor);
	case MODSER_TUPLE:
		return a->as.tuple.n == b->as.tuple.n &&
		       same_items(a, b, a->as.tuple.n);
	case MODSER_MAP:
		return a->as.tuple.n == b->as.tuple.n &&
		       same_items(a, b, 2 * a->as.tuple.n);
	default:
		return same_bytes(&a->as.handle, &b->as.handle, sizeof(a->as.handle));
	}
}

bool same_result(const modser_result *a, const modser_result *b)
{
	const modser_error *ea = modser_result_error(a), *eb = modser_result_error(b);

	if (ea->code != eb->code || strcmp(ea->name, eb->name) != 0 ||
	    strcmp(ea->message, eb->message) != 0 || strcmp(ea->hint, eb->hint) != 0 ||
	    modser_result_exec_ns(a) != modser_result_exec_ns(b))
		return false;
	return ea->code != MODSER_OK ||
	       same_value(modser_result_value(a), modser_result_value(b));
}
