/*
 * Happy path: the head is collected while msd_head_scan() looks for its end. Then
 * llhttp parses it in one call, so each field is contiguous. The body follows: as
 * many bytes as the head says, or chunks, which llhttp decodes. llhttp is initialized
 * for each request and stops at its end. A head equal to the previous one is not
 * parsed again.
 *
 * Failures: an ambiguous request is refused, by the scan, by llhttp in strict mode,
 * or here. Nothing is read after it.
 */
#include "daemon/http/reader.h"

#include <string.h>

#include "daemon/http/reader_parts.h"
#include "daemon/http/scatter.h"

#define KEEP_HEAD_BYTES 1024u /* bytes of the buffer kept between requests */

static int put_body(struct msd_http_reader *r, const void *p, size_t n)
{
	msd_buf_put(&r->body, p, n);
	return r->body.bad ? msd_http_reader_fail(r, 503, "out of memory for the body")
			   : 0;
}

/* Data of a chunk. */
static int on_body(llhttp_t *parser, const char *at, size_t n)
{
	struct msd_http_reader *r = msd_http_reader_of(parser);

	if (n > r->max_body - r->body.n) {
		return msd_http_reader_fail(r, 413, "the body is over its limit");
	}
	return put_body(r, at, n);
}

static int on_whole(llhttp_t *parser)
{
	msd_http_reader_of(parser)->is_whole = true;
	return HPE_PAUSED; /* the next request follows */
}

static const llhttp_settings_t settings = {
	.on_url = msd_http_on_url,
	.on_header_field = msd_http_on_field,
	.on_header_value = msd_http_on_value,
	.on_headers_complete = msd_http_on_head,
	.on_body = on_body,
	.on_message_complete = on_whole,
};

static unsigned status_of(llhttp_errno_t e)
{
	return e == HPE_INVALID_VERSION ? 505 : e == HPE_INVALID_METHOD ? 501 : 400;
}

/* Pass @n bytes at @p to llhttp; *@ret is the number that it took. False if the
 * request is invalid. */
static bool parse(struct msd_http_reader *r, const uint8_t *p, size_t n, size_t *ret)
{
	const llhttp_errno_t e = llhttp_execute(&r->parser, (const char *)p, n);

	*ret = n;
	if (e == HPE_OK)
		return true;
	if (e == HPE_PAUSED && r->is_whole) {
		*ret = (size_t)(llhttp_get_error_pos(&r->parser) - (const char *)p);
		return true;
	}
	(void)msd_http_reader_fail(r, status_of(e),
				   llhttp_get_error_reason(&r->parser));
	return false;
}

static enum msd_http_event broken(struct msd_http_reader *r)
{
	r->state = MSD_READER_BROKEN;
	return MSD_HTTP_BAD;
}

/* A request is over: free its body; keep its head to compare it with the next one. */
static void clear(struct msd_http_reader *r)
{
	if (r->head.cap > KEEP_HEAD_BYTES)
		msd_buf_finish(&r->head);
	msd_buf_finish(&r->body);
	r->request.body = (struct msd_span){0};
	r->request.has_part = false;
	r->max_body = 0;
	r->part_bytes = 0;
	r->n_body = 0;
	r->is_whole = false;
	r->state = MSD_READER_BETWEEN;
}

/* Start the next request. */
static void begin(struct msd_http_reader *r)
{
	r->head.n = 0;
	r->request = (struct msd_http_request){0};
	r->scan = (struct msd_head_scan){0};
	r->n_raw = 0;
	r->n_fields = 0;
	r->state = MSD_READER_IN_HEAD;
	llhttp_init(&r->parser, HTTP_REQUEST, &settings);
	r->parser.data = r;
}

/* The whole head of the last request has arrived again, so the result is the same.
 * Not for chunks: there llhttp must have parsed the head. */
static bool has_come_again(const struct msd_http_reader *r, struct msd_span in)
{
	return r->head.n > 0 && in.n >= r->head.n && !r->request.is_chunked &&
	       memcmp(in.p, r->head.p, r->head.n) == 0;
}

static enum msd_http_event take_again(struct msd_http_reader *r, struct msd_span *in)
{
	in->p += r->head.n;
	in->n -= r->head.n;
	r->request.is_again = true;
	r->state = MSD_READER_AT_BODY;
	return MSD_HTTP_HEAD;
}

static enum msd_http_event read_head(struct msd_http_reader *r, struct msd_span *in)
{
	bool has_ended;
	const size_t n = msd_head_scan(&r->scan, *in, &has_ended);
	size_t taken;

	if (r->scan.why != NULL) {
		(void)msd_http_reader_fail(r, 400, r->scan.why);
		return broken(r);
	}
	if (n > MSD_HTTP_MAX_HEAD - r->head.n) {
		(void)msd_http_reader_fail(r, 431, "the head is larger than 16 KiB");
		return broken(r);
	}
	msd_buf_put(&r->head, in->p, n);
	in->p += n;
	in->n -= n;
	if (r->head.bad) {
		(void)msd_http_reader_fail(r, 503, "out of memory for the head");
		return broken(r);
	}
	if (!has_ended)
		return MSD_HTTP_MORE;
	if (!parse(r, r->head.p, r->head.n, &taken))
		return broken(r);
	if (r->parser.method ==
	    HTTP_PRI) { /* llhttp waits for the rest of the HTTP/2 preface */
		(void)msd_http_reader_fail(r, 505, "HTTP/2 is not supported");
		return broken(r);
	}
	r->state = MSD_READER_AT_BODY;
	return MSD_HTTP_HEAD;
}

/* llhttp accepts a bare LF at the end of the last chunk; this check does not. */
static bool ends_by_crlf(const struct msd_http_reader *r, const uint8_t *p, size_t n)
{
	return !r->request.is_chunked || (n > 1 ? p[n - 2] : r->last) == '\r';
}

static enum msd_http_event read_chunks(struct msd_http_reader *r, struct msd_span *in)
{
	size_t taken;

	if (in->n == 0)
		return MSD_HTTP_MORE;
	const bool is_fine = parse(r, in->p, in->n, &taken);
	if (is_fine && r->is_whole && !ends_by_crlf(r, in->p, taken))
		(void)msd_http_reader_fail(r, 400, "the last chunk ends without CR");
	if (taken > 0)
		r->last = in->p[taken - 1];
	in->p += taken;
	in->n -= taken;
	r->n_raw += taken;
	if (is_fine && r->n_raw - r->body.n > MSD_HTTP_MAX_FRAMING) {
		(void)msd_http_reader_fail(r, 400,
					   "too much overhead around the chunks");
	}
	if (!is_fine || r->status != 0)
		return broken(r);
	return MSD_HTTP_MORE;
}

static bool wants_part(const struct msd_http_reader *r)
{
	return !r->request.has_part && r->part_bytes > 0 &&
	       r->part_bytes < r->request.body_bytes;
}

/* Read a body with a length, which is within the limit: first the requested part,
 * otherwise all, or the rest after the part. */
static enum msd_http_event read_bytes(struct msd_http_reader *r, struct msd_span *in)
{
	const bool is_part = wants_part(r);
	const uint64_t end = is_part ? r->part_bytes : r->request.body_bytes;
	const uint64_t left = end - r->n_body;
	const size_t n = in->n < left ? in->n : (size_t)left;

	if (r->request.has_part) {
		msd_scatter_put(r->rest, (struct msd_span){in->p, n});
	} else if (r->n_body == 0 && n == left && n <= MSD_HTTP_LENT_BODY) {
		r->request.body = (struct msd_span){in->p, n};
	} else if (put_body(r, in->p, n) != 0) {
		return broken(r);
	} else {
		r->request.body = (struct msd_span){r->body.p, r->body.n};
	}
	in->p += n;
	in->n -= n;
	r->n_body += n;
	r->is_whole = n == left && !is_part;
	if (n < left || !is_part)
		return MSD_HTTP_MORE;
	r->request.has_part = true;
	return MSD_HTTP_PART;
}

static enum msd_http_event end(struct msd_http_reader *r)
{
	r->state = MSD_READER_OVER;
	if (r->request.is_chunked)
		r->request.body = (struct msd_span){r->body.p, r->body.n};
	if (r->request.has_part)
		r->request.body = (struct msd_span){0};
	return MSD_HTTP_WHOLE;
}

void msd_http_reader_init(struct msd_http_reader *r)
{
	*r = (struct msd_http_reader){0};
	begin(r);
}

void msd_http_reader_finish(struct msd_http_reader *r)
{
	msd_buf_finish(&r->head);
	msd_buf_finish(&r->body);
}

enum msd_http_event msd_http_read(struct msd_http_reader *r, struct msd_span *in)
{
	enum msd_http_event event = MSD_HTTP_MORE;

	if (r->state == MSD_READER_BROKEN)
		return MSD_HTTP_BAD;
	if (r->state == MSD_READER_OVER)
		clear(r);
	if (r->state == MSD_READER_BETWEEN && in->n > 0) {
		if (has_come_again(r, *in))
			return take_again(r, in);
		begin(r);
	}
	if (r->state <= MSD_READER_IN_HEAD)
		return in->n > 0 ? read_head(r, in) : MSD_HTTP_MORE;
	if (r->state == MSD_READER_AT_BODY && r->request.body_bytes > r->max_body) {
		(void)msd_http_reader_fail(r, 413, "the body is over its limit");
		return broken(r);
	}
	r->state = MSD_READER_IN_BODY;
	if (!r->is_whole)
		event = r->request.is_chunked ? read_chunks(r, in) : read_bytes(r, in);
	return event == MSD_HTTP_MORE && r->is_whole ? end(r) : event;
}

const struct msd_scatter *msd_http_reader_rest(const struct msd_http_reader *r)
{
	return r->request.has_part && r->state == MSD_READER_IN_BODY ? r->rest : NULL;
}

void msd_http_reader_came(struct msd_http_reader *r, size_t n)
{
	msd_scatter_came(r->rest, n);
	r->n_body += n;
	r->is_whole = r->n_body == r->request.body_bytes;
}

void msd_http_reader_drop_body(struct msd_http_reader *r)
{
	msd_buf_finish(&r->body);
	r->request.body = (struct msd_span){0};
}

bool msd_http_reader_is_owed(const struct msd_http_reader *r)
{
	return r->state == MSD_READER_AT_BODY || r->state == MSD_READER_IN_BODY ||
	       (r->state == MSD_READER_IN_HEAD && r->head.n > 0);
}

size_t msd_http_reader_bytes(const struct msd_http_reader *r)
{
	return r->head.cap + r->body.cap;
}
