/*
 * Compares arguments with the known signature of a function before its code is
 * called.
 *
 * Happy path: each argument is matched with its parameter, if that is known. Tensors
 * are always checked for device, layout and alignment, and for dtype, rank and shape
 * if the signature has them; scalars for kind and width. Texts name function,
 * argument and both types.
 */
#include "runtime/module/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 256

/* The parameter for argument @i, or NULL if nothing is known of it. */
static const struct msd_param *param_at(const struct msd_call_rules *rules, size_t i)
{
	const struct msd_signature *s = rules->info.signature;

	return s->params != NULL && i < s->n_params ? &s->params[i] : NULL;
}

static bool is_optional(const struct msd_signature *s, size_t i)
{
	return i >= s->n_params - s->n_optional;
}

/* "addone: argument 0 (A): ..." */
static msd_err refuse(const struct msd_call_rules *rules, size_t i, struct msd_diag *d,
		      const char *expected, const char *got)
{
	const struct msd_param *p = param_at(rules, i);

	if (p == NULL || p->name == NULL) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "%s: argument %zu: expected %s, got %s",
				    rules->info.name, i, expected, got);
	}
	return msd_diag_set(d, MSD_BAD_ARGUMENT,
			    "%s: argument %zu (%s): expected %s, got %s",
			    rules->info.name, i, p->name, expected, got);
}

bool msd_dtype_fits(struct msd_dtype want, struct msd_dtype got)
{
	return msd_dtype_eq(want, got) ||
	       (msd_dtype_is_bool(want) && msd_dtype_is_bool(got));
}

/* "a float32 tensor of rank 1", with the known parts only. */
static void describe_tensor(const struct msd_param *p, char out[static TEXT_MAX])
{
	char dtype[MSD_DTYPE_NAME_MAX] = "";
	size_t n = 0;

	if (p->has_dtype)
		(void)msd_dtype_format(p->dtype, dtype);
	n = (size_t)snprintf(out, TEXT_MAX, "a%s %s%stensor",
			     strchr("aeiou", dtype[0]) != NULL && dtype[0] != '\0' ? "n"
										   : "",
			     dtype, dtype[0] != '\0' ? " " : "");
	if (p->ndim >= 0)
		(void)snprintf(out + n, TEXT_MAX - n, " of rank %d", p->ndim);
}

static void describe_shape(const int64_t *shape, int32_t ndim, bool symbols,
			   char out[static TEXT_MAX])
{
	size_t n = (size_t)snprintf(out, TEXT_MAX, "shape [");

	for (int32_t i = 0; i < ndim && n < TEXT_MAX - 32; i++) {
		const char *comma = i > 0 ? ", " : "";
		if (symbols && shape[i] < 0) {
			n += (size_t)snprintf(out + n, TEXT_MAX - n, "%s*", comma);
		} else {
			n += (size_t)snprintf(out + n, TEXT_MAX - n, "%s%" PRId64,
					      comma, shape[i]);
		}
	}
	(void)snprintf(out + n, TEXT_MAX - n, "]");
}

/* An extent of @p below 0 is variable. */
static bool fits_shape(const struct msd_param *p, const struct msd_dltensor *t)
{
	if (p->ndim != t->ndim)
		return false;
	for (int32_t k = 0; k < p->ndim; k++) {
		if (p->shape[k] >= 0 && p->shape[k] != t->shape[k])
			return false;
	}
	return true;
}

static msd_err check_known_tensor(const struct msd_call_rules *rules, size_t i,
				  const struct msd_param *p,
				  const struct msd_dltensor *t, struct msd_diag *d)
{
	char dtype[MSD_DTYPE_NAME_MAX];
	char want[TEXT_MAX];
	char got[TEXT_MAX];
	const bool has_shape = p->shape != NULL && p->ndim >= 0;

	if ((p->has_dtype && !msd_dtype_fits(p->dtype, t->dtype)) ||
	    (p->ndim >= 0 && p->ndim != t->ndim && !has_shape)) {
		describe_tensor(p, want);
		(void)snprintf(got, sizeof(got), "%s of rank %d",
			       msd_dtype_format(t->dtype, dtype), t->ndim);
		return refuse(rules, i, d, want, got);
	}
	if (has_shape && !fits_shape(p, t)) {
		describe_shape(p->shape, p->ndim, true, want);
		describe_shape(t->shape, t->ndim, false, got);
		return refuse(rules, i, d, want, got);
	}
	return MSD_OK;
}

/* Checks for every tensor passed to CPU code, known or not. */
static msd_err check_tensor(const struct msd_call_rules *rules, size_t i,
			    const struct msd_dltensor *t, struct msd_diag *d)
{
	char device[MSD_DTYPE_NAME_MAX];
	char want[TEXT_MAX];
	char got[TEXT_MAX];

	const bool is_host = t->device.type == MSD_DEV_CPU;

	if (!is_host &&
	    (t->device.type != rules->device.type ||
	     (t->device.id != rules->device.id && !rules->is_any_ordinal))) {
		(void)snprintf(got, sizeof(got), "one on %s:%d",
			       msd_device_type_format(t->device.type, device),
			       t->device.id);
		(void)snprintf(want, sizeof(want), "a tensor on cpu");
		if (rules->device.type > MSD_DEV_CPU) {
			(void)snprintf(
				want, sizeof(want), "a tensor on %s:%d or cpu",
				msd_device_type_format(rules->device.type, device),
				rules->device.id);
		}
		return refuse(rules, i, d, want, got);
	}
	if (t->byte_offset != 0) {
		(void)snprintf(got, sizeof(got), "byte_offset %" PRIu64,
			       t->byte_offset);
		return refuse(rules, i, d, "byte_offset 0", got);
	}
	if (is_host && (uintptr_t)t->data % rules->data_align != 0) {
		(void)snprintf(want, sizeof(want), "data aligned to %u bytes",
			       rules->data_align);
		(void)snprintf(got, sizeof(got), "an address aligned to %u",
			       (unsigned)((uintptr_t)t->data & -(uintptr_t)t->data));
		return refuse(rules, i, d, want, got);
	}
	if (t->data == NULL && msd_dltensor_bytes(t) > 0)
		return refuse(rules, i, d, "data", "NULL");
	return MSD_OK;
}

/* Compiled code truncates an int that is wider than its parameter. */
static bool int_fits(const struct msd_param *p, int64_t v)
{
	if (!p->has_dtype || p->dtype.bits >= 64)
		return true;
	const int64_t limit = (int64_t)1
			      << (p->dtype.bits - (p->dtype.code == MSD_DT_INT));

	return v < limit && v >= (p->dtype.code == MSD_DT_INT ? -limit : 0);
}

static msd_err check_scalar(const struct msd_call_rules *rules, size_t i,
			    const struct msd_param *p, const struct msd_any *v,
			    struct msd_diag *d)
{
	const bool is_int = v->type == MSD_T_INT || v->type == MSD_T_BOOL;
	char dtype[MSD_DTYPE_NAME_MAX];
	char got[TEXT_MAX];

	if (p->kind == MSD_P_INT && !is_int)
		return refuse(rules, i, d, "an int", msd_type_name(v->type));
	if (p->kind == MSD_P_INT && !int_fits(p, v->as.i)) {
		(void)snprintf(got, sizeof(got), "%" PRId64, v->as.i);
		return refuse(rules, i, d, msd_dtype_format(p->dtype, dtype), got);
	}
	if (p->kind == MSD_P_BOOL && !is_int)
		return refuse(rules, i, d, "a bool", msd_type_name(v->type));
	if (rules->is_typed && v->type == MSD_T_ARRAY) /* it may become a shape */
		return MSD_OK;
	if (p->kind == MSD_P_SHAPE && v->type != MSD_T_SHAPE)
		return refuse(rules, i, d, "a shape", msd_type_name(v->type));
	if (p->kind == MSD_P_TUPLE && v->type != MSD_T_ARRAY)
		return refuse(rules, i, d, "a tuple", msd_type_name(v->type));
	/* tvm-ffi code converts an int; classic code rejects it with its own error. */
	if (p->kind == MSD_P_FLOAT && !is_int && v->type != MSD_T_FLOAT)
		return refuse(rules, i, d, "a float", msd_type_name(v->type));
	return MSD_OK;
}

msd_err msd_check_arg(const struct msd_call_rules *rules, size_t i,
		      const struct msd_any *v, struct msd_diag *d)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	const struct msd_param *p = param_at(rules, i);
	const bool is_known = p != NULL && p->kind != MSD_P_UNKNOWN;
	char want[TEXT_MAX];

	if (t != NULL) {
		if (is_known && p->kind != MSD_P_TENSOR && p->kind != MSD_P_OTHER)
			return check_scalar(rules, i, p, v, d);
		msd_err err = check_tensor(rules, i, t, d);
		if (err != MSD_OK || !is_known || p->kind != MSD_P_TENSOR)
			return err;
		return check_known_tensor(rules, i, p, t, d);
	}
	if (is_known && p->kind == MSD_P_TENSOR) {
		if (v->type == MSD_T_NONE && is_optional(rules->info.signature, i))
			return MSD_OK;
		describe_tensor(p, want);
		return refuse(rules, i, d, want, msd_type_name(v->type));
	}
	if (is_known)
		return check_scalar(rules, i, p, v, d);
	/* Compiled code takes any object for a tensor; a VM checks this itself. */
	if (rules->info.style == MSD_FUNC_PRIM && !rules->is_typed &&
	    v->type >= MSD_T_OBJECT && v->type != MSD_T_STR && v->type != MSD_T_BYTES) {
		return refuse(rules, i, d, "a tensor, a number or a string",
			      msd_type_name(v->type));
	}
	return MSD_OK;
}

msd_err msd_check_args(const struct msd_call_rules *rules, const struct msd_any *args,
		       size_t n, struct msd_diag *d)
{
	const struct msd_signature *s = rules->info.signature;

	if (s->known && n != s->n_params && n != s->n_params + rules->n_bound &&
	    (n > s->n_params || !is_optional(s, n))) {
		const bool lacks_out =
			rules->info.style == MSD_FUNC_PRIM && n < s->n_params;

		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"%s: expected %zu argument%s, got %zu%s%s%s", rules->info.name,
			s->n_params, s->n_params == 1 ? "" : "s", n,
			s->text != NULL ? "; it is " : "",
			s->text != NULL ? s->text : "",
			lacks_out ? "; what it fills is an argument, too: "
				    "out:DTYPE[SHAPE] of modser call, an array in "
				    "Python"
				  : "");
	}
	for (size_t i = 0; i < n; i++) {
		msd_err err = msd_check_arg(rules, i, &args[i], d);
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}
