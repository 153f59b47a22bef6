/*
 * What a daemon says to a client: the input is bodies, each behind a byte that says how
 * much payload follows it and two with its length. Each comes to a connection that
 * knows again what it has heard, and to one that does not: both get the same parts, and
 * the same value. Accepted when the last one was told, and not decoded.
 */
#include "client/decode.h"
#include "client/meta.h"
#include "client/reply_cache.h"
#include "client/result.h"
#include "tests/client/same.h"
#include "tests/fuzz/fuzz.h"

static modser_result *begin(void)
{
	modser_result *r = msd_result_create(1);

	MUST(r != NULL);
	return r;
}

/* As an answer that was scanned is read. */
static msd_err decode(const struct msd_body *b, modser_result *r)
{
	struct msd_decoded decoded = {0};

	msd_meta_read(b->meta, r);
	const msd_err err = msd_decode(b->result, r, &decoded, NULL);
	free(decoded.tensors);
	return err;
}

/* The answer @bytes, of which @known is the one that it is again. */
static bool told(struct msd_reply_cache *h, struct msd_span bytes, uint64_t payload,
		 const struct msd_body *b, const struct msd_known *known)
{
	modser_result *r = begin(), *plain = begin();
	const bool is_told = msd_reply_cache_tell(known, bytes, r);
	const msd_err err = is_told ? MSD_OK : decode(b, r);

	MUST(err == decode(b, plain));
	MUST(err != MSD_OK || same_result(r, plain));
	MUST(err != MSD_OK || (r->is_varied == plain->is_varied &&
			       r->has_objects == plain->has_objects));
	if (err == MSD_OK && known == NULL)
		msd_reply_cache_keep(h, bytes, payload, b, r);
	modser_result_free(r);
	modser_result_free(plain);
	return is_told;
}

static bool come(struct msd_reply_cache *h, struct msd_span bytes, uint64_t payload)
{
	struct msd_body b, scanned;
	struct msd_body_error e;
	const struct msd_known *known;
	const msd_err err = msd_reply_cache_read(h, bytes, payload, &b, &known, NULL);

	MUST(err == msd_body_read(bytes, NULL, &scanned, NULL));
	if (err != MSD_OK)
		return false;
	MUST(b.kind == scanned.kind && b.id == scanned.id);
	MUST(msd_span_same(b.error, scanned.error));
	MUST(msd_span_same(b.result, scanned.result));
	MUST(msd_span_same(b.meta, scanned.meta));
	MUST(b.n_tensors == scanned.n_tensors && b.n_handles == scanned.n_handles);
	if (b.kind != MSD_RESPONSE || msd_body_error_read(b.error, &e))
		return false;
	return told(h, bytes, payload, &scanned, known);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_cur input = msd_cur_of((struct msd_span){data, n});
	struct msd_reply_cache h;
	bool is_told = false;

	msd_reply_cache_init(&h);
	while (input.left > 0 && !input.bad) {
		const uint8_t payload = msd_cur_u8(&input);
		const size_t wanted = msd_cur_u16(&input);
		const size_t bytes = wanted < input.left ? wanted : input.left;
		const struct msd_span body = {msd_cur_read(&input, bytes), bytes};

		is_told = come(&h, body, payload);
	}
	msd_reply_cache_finish(&h);
	return is_told;
}
