#include <stdlib.h>

#include "daemon/http/reader.h"
#include "daemon/http/scatter.h"
#include "daemon/http/target.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BODY 4096u

/* What came of some bytes, so that two ways of reading them can be compared. */
struct story {
	unsigned n_whole, status;
	uint64_t sum;
};

static void add(struct story *s, struct msd_span span)
{
	for (size_t i = 0; i < span.n; i++)
		s->sum = s->sum * 31 + span.p[i];
	s->sum = s->sum * 31 + span.n;
}

/* A body of an even number of bytes is looked at when its first half is there; the
 * other half goes to two places. */
struct halves {
	uint8_t room[MAX_BODY];
	struct iovec pieces[2];
	struct msd_scatter rest;
};

static void begin_body(struct msd_http_reader *r, struct halves *h)
{
	const size_t half = (size_t)(r->request.body_bytes % MAX_BODY) / 2;

	r->max_body = MAX_BODY;
	if (r->request.body_bytes % 2 != 0)
		return;
	h->pieces[0] = (struct iovec){h->room, half / 3};
	h->pieces[1] = (struct iovec){h->room + half / 3, half - half / 3};
	h->rest = (struct msd_scatter){h->pieces, 2};
	r->part_bytes = half;
	r->rest = &h->rest;
}

static void walk(struct story *s, const struct msd_http_request *q)
{
	struct msd_http_path path;

	MUST(q->body.n <= MAX_BODY);
	add(s, q->target);
	add(s, q->body);
	for (unsigned i = 0; i < MSD_HTTP_F_COUNT; i++)
		add(s, q->fields[i]);
	if (msd_http_path_read(q->target, &path)) {
		MUST(path.n <= MSD_HTTP_SEGMENTS);
		for (unsigned i = 0; i < path.n; i++)
			add(s, path.segments[i]);
	}
	s->n_whole++;
}

static struct story read_by(const uint8_t *data, size_t n, size_t step)
{
	static struct halves h;
	struct msd_http_reader r;
	struct story s = {0};

	msd_http_reader_init(&r);
	for (size_t at = 0; at < n && s.status == 0; at += step) {
		struct msd_span in = {data + at, n - at < step ? n - at : step};
		enum msd_http_event event = MSD_HTTP_HEAD;
		while (event != MSD_HTTP_MORE && event != MSD_HTTP_BAD) {
			event = msd_http_read(&r, &in);
			if (event == MSD_HTTP_HEAD)
				begin_body(&r, &h);
			if (event == MSD_HTTP_PART)
				add(&s, r.request.body);
			if (event == MSD_HTTP_WHOLE)
				walk(&s, &r.request);
			if (event == MSD_HTTP_WHOLE && r.request.has_part) {
				MUST(h.rest.n == 0);
				add(&s, (struct msd_span){h.room, r.part_bytes});
			}
		}
		MUST(event == MSD_HTTP_BAD || in.n == 0);
		MUST((event == MSD_HTTP_BAD) == (r.status != 0));
		MUST(msd_http_reader_bytes(&r) <= 2 * (MSD_HTTP_MAX_HEAD + MAX_BODY));
		s.status = r.status;
	}
	msd_http_reader_finish(&r);
	return s;
}

/* Accepted: requests and nothing wrong; the same in whatever pieces they come. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const struct story whole = read_by(data, n, n > 0 ? n : 1);
	const struct story single = read_by(data, n, 1);

	MUST(whole.n_whole == single.n_whole && whole.sum == single.sum);
	MUST(whole.status == single.status);
	return whole.n_whole > 0 && whole.status == 0;
}
