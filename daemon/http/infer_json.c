#include "daemon/http/infer_json.h"

#include <jansson.h>

#include "daemon/http/infer_ask.h"
#include "daemon/http/infer_wide.h"
#include "proto/base/json.h"

/* Approximate memory of jansson for each kind, with allocator overhead. */
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
