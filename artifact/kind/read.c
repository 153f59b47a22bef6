/* Fields that many payload formats share. */
#include <inttypes.h>

#include "artifact/kind/private.h"
#include "artifact/params/tensor_blob.h"
#include "artifact/printable.h"

#define MAX_NAMES_SAID 64u /* limit for one list; the rest is counted */
/* The shortest saved tensor: a scalar of no bytes. */
#define TENSOR_MIN_BYTES 40u

msd_err msd_payload_truncated(struct msd_diag *d, const char *where)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated payload (%s)", where);
}

static bool wants(const struct msd_payload_info *info, const char *key)
{
	return info != NULL && key != NULL;
}

msd_err msd_payload_str(struct msd_cur *c, struct msd_payload_info *info,
			const char *key, struct msd_diag *d)
{
	struct msd_span s = msd_cur_str64(c);

	if (c->bad)
		return msd_payload_truncated(d, key != NULL ? key : "a string");
	if (wants(info, key) && !msd_payload_info_add_bytes(info, key, s))
		return msd_diag_no_memory(d);
	return MSD_OK;
}

msd_err msd_payload_bytes(struct msd_cur *c, struct msd_payload_info *info,
			  const char *key, struct msd_diag *d)
{
	struct msd_span s = msd_cur_str64(c);

	if (c->bad)
		return msd_payload_truncated(d, key != NULL ? key : "bytes");
	if (wants(info, key) && !msd_payload_info_add(info, key, "%zu bytes", s.n))
		return msd_diag_no_memory(d);
	return MSD_OK;
}

msd_err msd_payload_names(struct msd_cur *c, struct msd_payload_info *info,
			  const char *key, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, sizeof(uint64_t));
	struct msd_buf text = {0};
	msd_err err = MSD_OK;

	for (size_t i = 0; i < n && !c->bad; i++) {
		struct msd_span name = msd_cur_str64(c);

		if (!wants(info, key) || i >= MAX_NAMES_SAID)
			continue;
		msd_buf_put(&text, ", ", i > 0 ? 2 : 0);
		msd_printable_put(&text, name);
	}
	if (c->bad) {
		err = msd_payload_truncated(d, key != NULL ? key : "names");
	} else if (n > MAX_NAMES_SAID) {
		msd_buf_printf(&text, " and %zu more", n - MAX_NAMES_SAID);
	}
	if (err == MSD_OK && wants(info, key) && n > 0 &&
	    (text.bad ||
	     !msd_payload_info_add_bytes(info, key, (struct msd_span){text.p, text.n})))
		err = msd_diag_no_memory(d);
	msd_buf_finish(&text);
	return err;
}

msd_err msd_payload_tensors(struct msd_cur *c, uint64_t n,
			    struct msd_payload_info *info, const char *key,
			    struct msd_diag *d)
{
	uint64_t bytes = 0;

	if (n > c->left / TENSOR_MIN_BYTES)
		return msd_payload_truncated(d, key);
	for (uint64_t i = 0; i < n; i++) {
		struct msd_tensor_blob t;
		msd_err err = msd_tensor_blob_read(c, &t, d);

		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "%s %" PRIu64, key, i);
		bytes += t.data.n;
	}
	if (info != NULL &&
	    !msd_payload_info_add(info, key, "%" PRIu64 " (%" PRIu64 " bytes)", n,
				  bytes))
		return msd_diag_no_memory(d);
	return MSD_OK;
}

msd_err msd_payload_texts(struct msd_cur *c, struct msd_payload_info *info,
			  const char *key, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, 2 * sizeof(uint64_t));

	for (size_t i = 0; i < n && !c->bad; i++) {
		(void)msd_cur_str64(c);
		(void)msd_cur_str64(c);
	}
	if (c->bad)
		return msd_payload_truncated(d, key);
	if (wants(info, key) && !msd_payload_info_add(info, key, "%zu", n))
		return msd_diag_no_memory(d);
	return MSD_OK;
}
