#include "client/reply_cache.h"

#include "client/cached_reply.h"
#include "client/result.h"

void msd_reply_cache_init(struct msd_reply_cache *h)
{
	*h = (struct msd_reply_cache){.answers = {.kind = MSD_RESPONSE}};
}

void msd_reply_cache_finish(struct msd_reply_cache *h)
{
	msd_memory_finish(&h->answers);
}

msd_err msd_reply_cache_read(struct msd_reply_cache *h, struct msd_span bytes,
			     uint64_t payload_bytes, struct msd_body *ret,
			     const struct msd_known **ret_known, struct msd_diag *d)
{
	*ret_known = msd_memory_find(&h->answers, bytes, payload_bytes);
	if (*ret_known == NULL)
		return msd_body_read(bytes, NULL, ret, d);
	msd_memory_parts(*ret_known, bytes.p, ret);
	return MSD_OK;
}

bool msd_reply_cache_tell(const struct msd_known *known, struct msd_span bytes,
			  modser_result *r)
{
	if (known == NULL || known->plan == NULL)
		return false;
	msd_cached_reply_copy(known->plan, r);
	/* As in msd_meta_read(), which ignores a larger number. */
	const uint64_t time = msd_memory_time(bytes);
	r->exec_ns = time <= INT64_MAX ? time : 0;
	return true;
}

void msd_reply_cache_keep(struct msd_reply_cache *h, struct msd_span bytes,
			  uint64_t payload_bytes, const struct msd_body *body,
			  const modser_result *r)
{
	struct msd_known *known =
		msd_memory_add(&h->answers, bytes, payload_bytes, body);
	if (known == NULL || r->error.code != MODSER_OK || payload_bytes > 0 ||
	    body->n_tensors > 0 || body->n_handles > 0 || body->n_objects > 0)
		return;
	size_t n = 0;
	struct msd_cached_reply *answer = msd_cached_reply_create(r, &n);
	if (answer != NULL)
		msd_memory_give(&h->answers, known, answer, n);
}
