/*
 * Happy path: the head is gathered while msd_head_scan() looks for its end, then given
 * to llhttp at once, so that each field lies in one piece; then its body: so many bytes
 * as it says, or chunks, which llhttp takes apart. llhttp is begun anew for each
 * request and stops where one ends. A head of the same bytes as the one before says the
 * same, and is not read again.
 *
 * Failures: what could be read in two ways is refused, by the scan, by llhttp in its
 * strict mode, and here; nothing is read behind it.
 */
#include "daemon/http/reader.h"

#include <string.h>
#include <strings.h>

#include "daemon/http/target.h"

#define KEEP_HEAD_BYTES 1024u /* of the buffer, from one request to the next */

enum { BETWEEN, IN_HEAD, AT_BODY, IN_BODY, OVER, BROKEN };

static struct msd_http_reader *reader_of(llhttp_t *parser)
{
	return parser->data;
}

static int fail(struct msd_http_reader *r, unsigned status, const char *why)
{
	if (r->status == 0) {
		r->status = status;
		r->why = why;
	}
	return -1;
}

static bool is_word(struct msd_span s, const char *word)
{
	return s.n == strlen(word) && strncasecmp((const char *)s.p, word, s.n) == 0;
}

static int on_url(llhttp_t *parser, const char *at, size_t n)
{
	reader_of(parser)->request.target = (struct msd_span){(const uint8_t *)at, n};
	return 0;
}

static int on_field(llhttp_t *parser, const char *at, size_t n)
{
	static const char *const names[MSD_HTTP_F_COUNT] = {
		[MSD_HTTP_F_HOST] = "host",
		[MSD_HTTP_F_ORIGIN] = "origin",
		[MSD_HTTP_F_AUTHORIZATION] = "authorization",
		[MSD_HTTP_F_EXPECT] = "expect",
		[MSD_HTTP_F_TRANSFER_ENCODING] = "transfer-encoding",
		[MSD_HTTP_F_CONTENT_ENCODING] = "content-encoding",
		[MSD_HTTP_F_ACCEPT] = "accept",
		[MSD_HTTP_F_INFERENCE_HEADER] = "inference-header-content-length",
	};
	struct msd_http_reader *r = reader_of(parser);
	const struct msd_span name = {(const uint8_t *)at, n};
	unsigned i = 0;

	if (r->state != IN_HEAD)
		return fail(r, 400, "fields behind the last chunk are not taken");
	if (++r->n_fields > MSD_HTTP_MAX_FIELDS)
		return fail(r, 431, "more than 100 fields");
	while (i < MSD_HTTP_F_COUNT && !is_word(name, names[i]))
		i++;
	r->field = (enum msd_http_field)i;
	return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t n)
{
	struct msd_http_reader *r = reader_of(parser);

	while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t'))
		n--;
	if (r->field == MSD_HTTP_F_COUNT)
		return 0;
	struct msd_span *ret = &r->request.fields[r->field];
	/* Of an Accept any is right; of all others two may contradict each other. */
	if (ret->p != NULL && r->field != MSD_HTTP_F_ACCEPT)
		return fail(r, 400, "a field that may be there once is there twice");
	*ret = (struct msd_span){(const uint8_t *)at, n};
	return 0;
}

static int check_fields(struct msd_http_reader *r)
{
	const struct msd_span *f = r->request.fields;
	const struct msd_span coding = f[MSD_HTTP_F_TRANSFER_ENCODING];
	const struct msd_span expects = f[MSD_HTTP_F_EXPECT];

	if (!r->request.is_old && f[MSD_HTTP_F_HOST].p == NULL)
		return fail(r, 400, "no Host field");
	if (coding.p != NULL && r->request.is_old)
		return fail(r, 400, "chunks in HTTP/1.0");
	if (coding.p != NULL && !is_word(coding, "chunked"))
		return fail(r, 501, "the transfer coding is not chunked");
	if (f[MSD_HTTP_F_CONTENT_ENCODING].p != NULL &&
	    !is_word(f[MSD_HTTP_F_CONTENT_ENCODING], "identity"))
		return fail(r, 415, "bodies are not decompressed");
	if (expects.p != NULL && !is_word(expects, "100-continue"))
		return fail(r, 417, "nothing but 100-continue can be expected");
	return 0;
}

static enum msd_http_method method_of(uint8_t method)
{
	return method == HTTP_GET    ? MSD_HTTP_GET
	       : method == HTTP_HEAD ? MSD_HTTP_HEAD_ONLY
	       : method == HTTP_POST ? MSD_HTTP_POST
				     : MSD_HTTP_OTHER;
}

/* A whole URI has a host of its own. */
static int take_target(struct msd_http_reader *r)
{
	struct msd_http_request *q = &r->request;

	if (msd_http_target_cut(&q->target, &q->fields[MSD_HTTP_F_HOST]))
		return 0;
	return fail(r, 400, "the host is none, or the target has a user");
}

static int on_head(llhttp_t *parser)
{
	struct msd_http_reader *r = reader_of(parser);
	struct msd_http_request *q = &r->request;

	if (parser->http_major != 1 || parser->http_minor > 1)
		return fail(r, 505, "HTTP/1.1 is spoken here");
	if (parser->method == HTTP_CONNECT)
		return fail(r, 501, "this is no proxy");
	parser->upgrade = 0; /* nothing else is spoken: it goes on as it began */
	q->method = method_of(parser->method);
	q->is_old = parser->http_minor == 0;
	q->is_chunked = (parser->flags & F_CHUNKED) != 0;
	q->body_bytes = q->is_chunked ? 0 : parser->content_length;
	q->keeps_alive = llhttp_should_keep_alive(parser) != 0;
	q->wants_continue = q->fields[MSD_HTTP_F_EXPECT].p != NULL && !q->is_old;
	return check_fields(r) != 0 ? -1 : take_target(r);
}

static int put_body(struct msd_http_reader *r, const void *p, size_t n)
{
	msd_buf_put(&r->body, p, n);
	return r->body.bad ? fail(r, 503, "out of memory for the body") : 0;
}

/* Within a chunk. */
static int on_body(llhttp_t *parser, const char *at, size_t n)
{
	struct msd_http_reader *r = reader_of(parser);

	if (n > r->max_body - r->body.n)
		return fail(r, 413, "the body is larger than it may be");
	return put_body(r, at, n);
}

static int on_whole(llhttp_t *parser)
{
	reader_of(parser)->is_whole = true;
	return HPE_PAUSED; /* what follows is another request */
}

static const llhttp_settings_t settings = {
	.on_url = on_url,
	.on_header_field = on_field,
	.on_header_value = on_value,
	.on_headers_complete = on_head,
	.on_body = on_body,
	.on_message_complete = on_whole,
};

static unsigned status_of(llhttp_errno_t e)
{
	return e == HPE_INVALID_VERSION ? 505 : e == HPE_INVALID_METHOD ? 501 : 400;
}

/* Give llhttp @n bytes at @p; returns those it took. False: the request is broken. */
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
	(void)fail(r, status_of(e), llhttp_get_error_reason(&r->parser));
	return false;
}

static enum msd_http_event broken(struct msd_http_reader *r)
{
	r->state = BROKEN;
	return MSD_HTTP_BAD;
}

/* A request is over: its body is given back, its head stays in case it comes again. */
static void clear(struct msd_http_reader *r)
{
	if (r->head.cap > KEEP_HEAD_BYTES)
		msd_buf_finish(&r->head);
	msd_buf_finish(&r->body);
	r->request.body = (struct msd_span){0};
	r->max_body = 0;
	r->is_whole = false;
	r->state = BETWEEN;
}

/* The next one begins. */
static void begin(struct msd_http_reader *r)
{
	r->head.n = 0;
	r->request = (struct msd_http_request){0};
	r->scan = (struct msd_head_scan){0};
	r->n_raw = 0;
	r->n_fields = 0;
	r->state = IN_HEAD;
	llhttp_init(&r->parser, HTTP_REQUEST, &settings);
	r->parser.data = r;
}

/* The head of the last request has come again, whole: where it ends and what it says
 * depends on nothing but its bytes. Chunks need an llhttp that has read it. */
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
	r->state = AT_BODY;
	return MSD_HTTP_HEAD;
}

static enum msd_http_event read_head(struct msd_http_reader *r, struct msd_span *in)
{
	bool has_ended;
	const size_t n = msd_head_scan(&r->scan, *in, &has_ended);
	size_t taken;

	if (r->scan.why != NULL) {
		(void)fail(r, 400, r->scan.why);
		return broken(r);
	}
	if (n > MSD_HTTP_MAX_HEAD - r->head.n) {
		(void)fail(r, 431, "the head is larger than 16 KiB");
		return broken(r);
	}
	msd_buf_put(&r->head, in->p, n);
	in->p += n;
	in->n -= n;
	if (r->head.bad) {
		(void)fail(r, 503, "out of memory for the head");
		return broken(r);
	}
	if (!has_ended)
		return MSD_HTTP_MORE;
	if (!parse(r, r->head.p, r->head.n, &taken))
		return broken(r);
	if (r->parser.method ==
	    HTTP_PRI) { /* llhttp waits for the rest of its preface */
		(void)fail(r, 505, "HTTP/2 is not spoken here");
		return broken(r);
	}
	r->state = AT_BODY;
	return MSD_HTTP_HEAD;
}

/* llhttp takes a bare LF as the end of the last chunk. */
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
		(void)fail(r, 400, "the last chunk ends without CR");
	if (taken > 0)
		r->last = in->p[taken - 1];
	in->p += taken;
	in->n -= taken;
	r->n_raw += taken;
	if (is_fine && r->n_raw - r->body.n > MSD_HTTP_MAX_FRAMING)
		(void)fail(r, 400, "too much around the bytes of the chunks");
	if (!is_fine || r->status != 0)
		return broken(r);
	return MSD_HTTP_MORE;
}

/* So many bytes as the head says, which is no more than there may be. */
static enum msd_http_event read_bytes(struct msd_http_reader *r, struct msd_span *in)
{
	const uint64_t left = r->request.body_bytes - r->body.n;
	const size_t n = in->n < left ? in->n : (size_t)left;
	const bool is_lent = r->body.n == 0 && n == left && n <= MSD_HTTP_LENT_BODY;

	if (is_lent) {
		r->request.body = (struct msd_span){in->p, n};
	} else if (put_body(r, in->p, n) != 0) {
		return broken(r);
	}
	in->p += n;
	in->n -= n;
	r->is_whole = n == left;
	return MSD_HTTP_MORE;
}

static enum msd_http_event end(struct msd_http_reader *r)
{
	r->state = OVER;
	if (r->body.n > 0)
		r->request.body = (struct msd_span){r->body.p, r->body.n};
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

	if (r->state == BROKEN)
		return MSD_HTTP_BAD;
	if (r->state == OVER)
		clear(r);
	if (r->state == BETWEEN && in->n > 0) {
		if (has_come_again(r, *in))
			return take_again(r, in);
		begin(r);
	}
	if (r->state <= IN_HEAD)
		return in->n > 0 ? read_head(r, in) : MSD_HTTP_MORE;
	if (r->state == AT_BODY && r->request.body_bytes > r->max_body) {
		(void)fail(r, 413, "the body is larger than it may be");
		return broken(r);
	}
	r->state = IN_BODY;
	if (!r->is_whole)
		event = r->request.is_chunked ? read_chunks(r, in) : read_bytes(r, in);
	return event == MSD_HTTP_MORE && r->is_whole ? end(r) : event;
}

bool msd_http_reader_keep_body(struct msd_http_reader *r)
{
	if (r->body.n == 0) {
		msd_buf_put(&r->body, r->request.body.p, r->request.body.n);
		r->request.body = (struct msd_span){r->body.p, r->body.n};
	}
	return !r->body.bad;
}

void msd_http_reader_drop_body(struct msd_http_reader *r)
{
	msd_buf_finish(&r->body);
	r->request.body = (struct msd_span){0};
}

bool msd_http_reader_is_owed(const struct msd_http_reader *r)
{
	return r->state == AT_BODY || r->state == IN_BODY ||
	       (r->state == IN_HEAD && r->head.n > 0);
}

size_t msd_http_reader_bytes(const struct msd_http_reader *r)
{
	return r->head.cap + r->body.cap;
}
