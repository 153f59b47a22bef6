/*
 * Bodies that came before: the input is bodies, each behind a byte that says how much
 * payload follows it and two with its length. They come to a client's connection, and
 * to both ends of a worker's channel, where tensors may lie elsewhere each time. What
 * is known has the parts that a scan finds. Accepted when the last one was known to
 * any.
 */
#include <stdio.h>
#include <string.h>

#include "proto/recognise.h"
#include "tests/fuzz/fuzz.h"

static bool is_same(struct msd_span a, struct msd_span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static bool come(struct msd_memory *m, struct msd_span bytes, uint64_t payload)
{
	struct msd_body scanned, b;
	const struct msd_known *known = msd_memory_find(m, bytes, payload);
	const msd_err err = known == NULL ? msd_memory_scan(m, bytes, &scanned, NULL)
					  : msd_body_read(bytes, NULL, &scanned, NULL);

	if (known == NULL) {
		if (err == MSD_OK)
			(void)msd_memory_add(m, bytes, payload, &scanned);
		return false;
	}
	msd_memory_parts(known, bytes.p, &b);
	MUST(err == MSD_OK && scanned.kind == m->kind && b.kind == m->kind);
	MUST(b.id == scanned.id && msd_memory_id(bytes.p) == scanned.id);
	MUST(known->payload_bytes == payload);
	MUST(is_same(b.method, scanned.method) && is_same(b.params, scanned.params));
	MUST(is_same(b.options, scanned.options) && is_same(b.error, scanned.error));
	MUST(is_same(b.result, scanned.result) && is_same(b.meta, scanned.meta));
	MUST(b.n_tensors == scanned.n_tensors && b.n_handles == scanned.n_handles);
	return true;
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_memory memories[] = {
		{.kind = MSD_REQUEST},
		{.kind = MSD_REQUEST, .has_places = true},
		{.kind = MSD_RESPONSE, .has_places = true},
	};
	struct msd_cur input = msd_cur_of((struct msd_span){data, n});
	bool is_known = false;

	while (input.left > 0 && !input.bad) {
		const uint8_t payload = msd_cur_u8(&input);
		const size_t wanted = msd_cur_u16(&input);
		const size_t bytes = wanted < input.left ? wanted : input.left;
		const struct msd_span body = {msd_cur_read(&input, bytes), bytes};
		is_known = false;
		for (size_t i = 0; i < sizeof(memories) / sizeof(*memories); i++)
			is_known |= come(&memories[i], body, payload);
	}
	for (size_t i = 0; i < sizeof(memories) / sizeof(*memories); i++)
		msd_memory_finish(&memories[i]);
	return is_known;
}
