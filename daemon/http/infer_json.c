/* Approximate memory of jansson for each kind, with allocator overhead. */
#include "daemon/http/infer_json.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

#include "daemon/http/infer_ask.h"
#include "daemon/http/infer_wide.h"
#include "proto/base/json.h"

#define OBJECT_BYTES 256u
#define ARRAY_BYTES 128u
#define PAIR_BYTES 64u
#define VALUE_BYTES 48u
/* The text with the most memory per byte is "{},". */
#define MOST_A_BYTE ((OBJECT_BYTES + VALUE_BYTES) / 3u + 1u)

/* Refuse a short text that would need very much memory. */
static msd_err check_parts(struct msd_span text, struct msd_diag *d)
{
	struct msd_json_parts parts;

	if (text.n <= MSD_INFER_READ_BYTES / MOST_A_BYTE)
		return MSD_OK;
	msd_json_count(text, &parts);
	if (parts.n_objects * OBJECT_BYTES + parts.n_arrays * ARRAY_BYTES +
		    parts.n_pairs * PAIR_BYTES + parts.n_commas * VALUE_BYTES <=
	    MSD_INFER_READ_BYTES)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "the JSON: its %zu objects, %zu arrays and %zu values "
			    "would take more than %u MiB to read: write data in one "
			    "array, or send it as binary_data",
			    parts.n_objects, parts.n_arrays, parts.n_commas,
			    MSD_INFER_READ_BYTES >> 20);
}

static json_t *load_once(struct msd_span text, json_error_t *error)
{
	return json_loadb((const char *)text.p, text.n,
			  JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, error);
}

/* If a number does not fit, parse once more with wide numbers; this is rare. */
static json_t *load(struct msd_span text, bool *ret_has_wide, json_error_t *error)
{
	struct msd_buf wide = {0};
	json_t *json = load_once(text, error);

	*ret_has_wide = json == NULL &&
			json_error_code(error) == json_error_numeric_overflow &&
			msd_infer_wide_write(text, &wide) && !wide.bad;
	if (*ret_has_wide)
		json = load_once((struct msd_span){wide.p, wide.n}, error);
	msd_buf_finish(&wide);
	return json;
}

msd_err msd_infer_json_load(struct msd_span text, json_t **ret, bool *ret_has_wide,
			    struct msd_diag *d)
{
	json_error_t error;
	const msd_err err = check_parts(text, d);

	if (err != MSD_OK)
		return err;
	*ret = load(text, ret_has_wide, &error);
	if (*ret != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "the JSON, line %d, column %d: %s",
			    error.line, error.column, error.text);
}

#define NAME_SHOWN 200u /* bytes of a name */
#define WHY_BYTES 1024u

msd_err msd_infer_wrong_as(struct msd_diag *d, msd_err err, const char *what,
			   struct msd_span name, const char *fmt, ...)
{
	char why[WHY_BYTES];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return msd_diag_set(d, err, "%s %.*s: %s", what,
			    (int)(name.n < NAME_SHOWN ? name.n : NAME_SHOWN),
			    (const char *)name.p, why);
}

void msd_infer_put_shape(struct msd_buf *out, const int64_t *shape, uint32_t ndim)
{
	msd_buf_printf(out, "[");
	for (uint32_t i = 0; i < ndim; i++) {
		msd_buf_printf(out, "%s", i > 0 ? "," : "");
		if (shape[i] < 0) {
			msd_buf_printf(out, "*");
		} else {
			msd_buf_printf(out, "%lld", (long long)shape[i]);
		}
	}
	msd_buf_printf(out, "]");
}

bool msd_infer_text_bytes(struct msd_span field, uint64_t most, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < field.n; i++) {
		if (field.p[i] < '0' || field.p[i] > '9' || n > most)
			return false;
		n = 10 * n + (size_t)(field.p[i] - '0');
	}
	if (field.n == 0 || n > most)
		return false;
	*ret = n;
	return true;
}

bool msd_infer_split(struct msd_span field, struct msd_span body, uint64_t most,
		     struct msd_span *ret_text, struct msd_span *ret_behind)
{
	size_t n = body.n;

	if (field.p != NULL && !msd_infer_text_bytes(field, most, &n))
		return false;
	if (n > body.n || n > most)
		return false;
	*ret_text = (struct msd_span){body.p, n};
	*ret_behind = (struct msd_span){body.p + n, body.n - n};
	return true;
}
