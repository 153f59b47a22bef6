#include <string.h>

#include "proto/limits.h"
#include "runtime/load/state.h"
#include "runtime/module/check.h"
#include "runtime/value/error.h"

/*
 * One library may contain functions for the host and for a device. If a callee
 * complains about the device of its tensors, add the devices of the tensors and what
 * to try.
 */
static void hint_device(const struct msd_loaded *m, const struct msd_any *args,
			size_t n, struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];
	const struct msd_dltensor *t = NULL;
	const struct msd_device place = msd_loaded_device(m);
	struct msd_buf text = {0};

	for (size_t i = 0; t == NULL && i < n; i++)
		t = msd_any_dltensor(&args[i]);
	if (t == NULL || place.type == MSD_DEV_CPU ||
	    strstr(msd_diag_text(d), "device_type") == NULL)
		return;
	msd_buf_printf(&text, "%s (", msd_diag_text(d));
	if (t->device.type == MSD_DEV_CPU) {
		msd_buf_printf(
			&text,
			"its tensors are on the cpu: call it with the device %s:%d)",
			msd_device_type_format(place.type, name), place.id);
	} else {
		msd_buf_printf(&text,
			       "its tensors are on %s:%d: if it is a function of the "
			       "host, call it with the device cpu)",
			       msd_device_type_format(t->device.type, name),
			       t->device.id);
	}
	if (!text.bad)
		(void)msd_diag_set_bytes(d, d->code, (const char *)text.p, text.n);
	msd_buf_finish(&text);
}

/* The callee's own error. Host code of a device module requires tensors on its device
 * before it reaches a kernel. If that device's module cannot run, report this first. */
static msd_err call_failed(struct msd_loaded *m, const struct msd_function *fn,
			   const struct msd_any *args, size_t n, struct msd_diag *d)
{
	struct msd_buf why = {0};
	msd_err err = msd_abi_fetch_error(d);

	if (err == MSD_CALL_FAILED && strstr(msd_diag_text(d), "device_type") != NULL)
		msd_node_refusals(msd_loaded_root(m), &why);
	if (why.n > 0 && !why.bad) {
		err = MSD_UNSUPPORTED;
		(void)msd_diag_set(d, err, "%.*s: %s", (int)why.n, (const char *)why.p,
				   msd_diag_text(d));
	}
	msd_buf_finish(&why);
	hint_device(m, args, n, d);
	return msd_diag_wrap(d, err, "%s", fn->name);
}

static msd_err call_plain(struct msd_loaded *m, struct msd_function *fn,
			  const struct msd_any *args, size_t n, struct msd_any *ret,
			  struct msd_diag *d)
{
	struct msd_any result = {0};

	msd_abi_clear();
	if (fn->call(fn, args, (int32_t)n, &result) != 0)
		return call_failed(m, fn, args, n, d);
	if (result.type == MSD_T_DLTENSOR || result.type == MSD_T_RAW_STR ||
	    result.type == MSD_T_BYTE_ARRAY) { /* owned by the callee: copy it now */
		if (!msd_any_copy(&result, ret)) {
			return msd_diag_set(d, MSD_NOMEM,
					    "%s: no memory for its result", fn->name);
		}
		return MSD_OK;
	}
	*ret = result;
	return MSD_OK;
}

static const struct msd_dtype bool8 = {MSD_DT_BOOL, 8, 1};
static const struct msd_dtype uint1 = {MSD_DT_UINT, 1, 1};

/* One bit per argument; calls with more arguments than this are rejected. */
struct bools {
	uint64_t is_bool8[MSD_MAX_TENSORS / 64];
	uint64_t is_uint1[MSD_MAX_TENSORS / 64];
};

static bool bit_at(const uint64_t *bits, size_t i)
{
	return (bits[i / 64] >> (i % 64) & 1) != 0;
}

static bool has_bools(const struct msd_any *args, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct msd_dltensor *t = msd_any_dltensor(&args[i]);
		if (t != NULL &&
		    (msd_dtype_eq(t->dtype, bool8) || msd_dtype_eq(t->dtype, uint1)))
			return true;
	}
	return false;
}

static void bools_note(struct bools *b, const struct msd_any *args, size_t n)
{
	memset(b, 0, sizeof(*b));
	for (size_t i = 0; i < n; i++) {
		const struct msd_dltensor *t = msd_any_dltensor(&args[i]);
		if (t != NULL && msd_dtype_eq(t->dtype, bool8)) {
			b->is_bool8[i / 64] |= (uint64_t)1 << (i % 64);
		} else if (t != NULL && msd_dtype_eq(t->dtype, uint1)) {
			b->is_uint1[i / 64] |= (uint64_t)1 << (i % 64);
		}
	}
}

static void bools_rewrite(const struct bools *b, const struct msd_any *args, size_t n,
			  enum msd_bool_style style)
{
	for (size_t i = 0; i < n; i++) {
		if (bit_at(b->is_bool8, i) || bit_at(b->is_uint1, i)) {
			msd_any_dltensor(&args[i])->dtype =
				style == MSD_BOOL_UINT1 ? uint1 : bool8;
		}
	}
}

static void bools_restore(const struct bools *b, const struct msd_any *args, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bit_at(b->is_bool8, i)) {
			msd_any_dltensor(&args[i])->dtype = bool8;
		} else if (bit_at(b->is_uint1, i)) {
			msd_any_dltensor(&args[i])->dtype = uint1;
		}
	}
}

/* True if the callee rejected a dtype. It checks before it computes, so a second call
 * is harmless. */
static bool is_dtype_complaint(msd_err err, const struct msd_diag *d)
{
	return err == MSD_CALL_FAILED && strstr(msd_diag_text(d), "dtype") != NULL;
}

static msd_err call_with_bools(struct msd_loaded *m, struct msd_function *fn,
			       const struct msd_any *args, size_t n,
			       struct msd_any *ret, struct msd_diag *d)
{
	struct msd_call_rules *rules = fn->rules;
	struct msd_diag first = {0};
	struct bools b;
	msd_err err;

	if (n > MSD_MAX_TENSORS) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "%s: %zu arguments", fn->name,
				    n);
	}
	bools_note(&b, args, n);
	bools_rewrite(&b, args, n, rules->bool_style);
	if (rules->bool_style != MSD_BOOL_UNKNOWN) {
		err = call_plain(m, fn, args, n, ret, d);
		bools_restore(&b, args, n);
		return err;
	}
	/* 0.22 or 0.23: try the convention since 0.23, then the older one, and
	 * remember the one that worked. */
	err = call_plain(m, fn, args, n, ret, &first);
	if (is_dtype_complaint(err, &first)) {
		bools_rewrite(&b, args, n, MSD_BOOL_UINT1);
		err = call_plain(m, fn, args, n, ret, d);
		if (err == MSD_OK)
			rules->bool_style = MSD_BOOL_UINT1;
	} else if (err == MSD_OK) {
		rules->bool_style = MSD_BOOL_BOOL8;
	}
	bools_restore(&b, args, n);
	if (err !=
	    MSD_OK) /* report the first error: it has bool as the caller passed it */
		(void)msd_diag_set(d, err, "%s", msd_diag_text(&first));
	msd_diag_finish(&first);
	return err;
}

msd_err msd_loaded_call(struct msd_loaded *m, struct msd_function *fn,
			struct msd_any *args, size_t n, struct msd_any *ret,
			struct msd_diag *d)
{
	if (n > INT32_MAX) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "%s: %zu arguments", fn->name,
				    n);
	}
	if (fn->rules == NULL)
		return call_plain(m, fn, args, n, ret, d);
	msd_err err = msd_check_args(fn->rules, args, n, d);
	if (err != MSD_OK)
		return err;
	if (has_bools(args, n))
		return call_with_bools(m, fn, args, n, ret, d);
	return call_plain(m, fn, args, n, ret, d);
}
