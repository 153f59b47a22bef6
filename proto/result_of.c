#include "proto/result_of.h"

#include "proto/token.h"
#include "proto/value.h"

void msd_pack_result_of(struct msd_buf *out, const struct msd_result_of *r)
{
	uint8_t data[8 + 4 * MSD_MAX_RESULT_PATH];

	if (r->n_path > MSD_MAX_RESULT_PATH) {
		out->bad = true;
		return;
	}
	msd_put_le64(data, r->id);
	for (uint32_t i = 0; i < r->n_path; i++)
		msd_put_le32(data + 8 + 4 * i, r->path[i]);
	msd_pack_ext(out, MSD_EXT_RESULT_OF, data, 8 + 4 * (size_t)r->n_path);
}

static void read(const struct msd_token *t, struct msd_result_of *ret)
{
	*ret = (struct msd_result_of){.id = msd_le64(t->data),
				      .n_path = (t->n - 8) / 4};
	for (uint32_t i = 0; i < ret->n_path; i++)
		ret->path[i] = msd_le32(t->data + 8 + 4 * i);
}

/* Reads heads one after the other, at any nesting depth. */
bool msd_result_of_next(struct msd_cur *c, struct msd_span *ret_before,
			struct msd_result_of *ret)
{
	struct msd_token t;
	size_t n;

	*ret_before = (struct msd_span){.p = c->p};
	while ((n = msd_token_read(c->p, c->left, &t)) > 0) {
		(void)msd_cur_read(c, n);
		if (t.kind == MSD_TOK_EXT && t.ext == MSD_EXT_RESULT_OF) {
			read(&t, ret);
			return true;
		}
		ret_before->n += n;
	}
	return false;
}

msd_err msd_result_of_pick(const struct msd_result_of *r, struct msd_span result,
			   struct msd_span *ret, struct msd_diag *d)
{
	struct msd_span at = result;

	for (uint32_t i = 0; i < r->n_path; i++) {
		struct msd_cur items;
		uint32_t n = 0;
		bool is_there = msd_array_open(at, &items, &n) && r->path[i] < n;

		for (uint32_t k = 0; is_there && k <= r->path[i]; k++)
			is_there = msd_object_parse(&items, &at);
		if (!is_there) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "the result of request %llu has no element "
					    "%u at step %u",
					    (unsigned long long)r->id, r->path[i],
					    i + 1);
		}
	}
	*ret = at;
	return MSD_OK;
}
