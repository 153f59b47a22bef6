/*
 * Requests that came before: the input is bodies, each behind a byte that says how much
 * payload follows it and two with its length. What is known has the parts that a scan
 * finds. Accepted when the last one was known.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/wire/recognise.h"
#include "tests/fuzz/fuzz.h"

static bool is_same(struct msd_span a, struct msd_span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static bool come(struct msd_memory *m, struct msd_span bytes, uint64_t payload)
{
	struct msd_body scanned;
	const msd_err err = msd_body_read(bytes, NULL, &scanned, NULL);
	const struct msd_known *known = msd_memory_find(m, bytes, payload);

	if (known == NULL) {
		if (err == MSD_OK)
			(void)msd_memory_add(m, bytes, payload, &scanned);
		return false;
	}
	const struct msd_body *b = &known->body;
	MUST(err == MSD_OK && scanned.kind == MSD_REQUEST && b->kind == MSD_REQUEST);
	MUST(msd_memory_id(bytes.p) == scanned.id);
	MUST(known->payload_bytes == payload);
	MUST(is_same(b->method, scanned.method) && is_same(b->params, scanned.params));
	MUST(is_same(b->options, scanned.options));
	MUST(b->n_tensors == scanned.n_tensors && b->n_handles == scanned.n_handles);
	return true;
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_memory m = {0};
	struct msd_cur input = msd_cur_of((struct msd_span){data, n});
	bool is_known = false;

	while (input.left > 0 && !input.bad) {
		const uint8_t payload = msd_cur_u8(&input);
		const size_t wanted = msd_cur_u16(&input);
		const size_t bytes = wanted < input.left ? wanted : input.left;
		is_known =
			come(&m, (struct msd_span){msd_cur_take(&input, bytes), bytes},
			     payload);
	}
	msd_memory_finish(&m);
	return is_known;
}
