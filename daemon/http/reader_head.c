/* llhttp callbacks for the head: store the fields, and refuse ambiguous ones. */
#include <string.h>
#include <strings.h>

#include "daemon/http/reader_parts.h"
#include "daemon/http/target.h"

int msd_http_reader_fail(struct msd_http_reader *r, unsigned status, const char *why)
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

int msd_http_on_url(llhttp_t *parser, const char *at, size_t n)
{
	msd_http_reader_of(parser)->request.target =
		(struct msd_span){(const uint8_t *)at, n};
	return 0;
}

int msd_http_on_field(llhttp_t *parser, const char *at, size_t n)
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
	struct msd_http_reader *r = msd_http_reader_of(parser);
	const struct msd_span name = {(const uint8_t *)at, n};
	unsigned i = 0;

	if (r->state != MSD_READER_IN_HEAD) {
		return msd_http_reader_fail(
			r, 400, "fields after the last chunk are not supported");
	}
	if (++r->n_fields > MSD_HTTP_MAX_FIELDS)
		return msd_http_reader_fail(r, 431, "more than 100 fields");
	while (i < MSD_HTTP_F_COUNT && !is_word(name, names[i]))
		i++;
	r->field = (enum msd_http_field)i;
	return 0;
}

int msd_http_on_value(llhttp_t *parser, const char *at, size_t n)
{
	struct msd_http_reader *r = msd_http_reader_of(parser);

	while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t'))
		n--;
	if (r->field == MSD_HTTP_F_COUNT)
		return 0;
	struct msd_span *ret = &r->request.fields[r->field];
	/* Accept may be repeated; two values of any other field may contradict each
	 * other. */
	if (ret->p != NULL && r->field != MSD_HTTP_F_ACCEPT) {
		return msd_http_reader_fail(r, 400,
					    "a field that may occur once occurs twice");
	}
	*ret = (struct msd_span){(const uint8_t *)at, n};
	return 0;
}

static int check_fields(struct msd_http_reader *r)
{
	const struct msd_span *f = r->request.fields;
	const struct msd_span coding = f[MSD_HTTP_F_TRANSFER_ENCODING];
	const struct msd_span expects = f[MSD_HTTP_F_EXPECT];

	if (!r->request.is_old && f[MSD_HTTP_F_HOST].p == NULL)
		return msd_http_reader_fail(r, 400, "no Host field");
	if (coding.p != NULL && r->request.is_old)
		return msd_http_reader_fail(r, 400, "chunks in HTTP/1.0");
	if (coding.p != NULL && !is_word(coding, "chunked")) {
		return msd_http_reader_fail(r, 501,
					    "the transfer coding is not chunked");
	}
	if (f[MSD_HTTP_F_CONTENT_ENCODING].p != NULL &&
	    !is_word(f[MSD_HTTP_F_CONTENT_ENCODING], "identity"))
		return msd_http_reader_fail(r, 415, "bodies are not decompressed");
	if (expects.p != NULL && !is_word(expects, "100-continue")) {
		return msd_http_reader_fail(r, 417,
					    "Expect: only 100-continue is supported");
	}
	return 0;
}

static enum msd_http_method method_of(uint8_t method)
{
	return method == HTTP_GET    ? MSD_HTTP_GET
	       : method == HTTP_HEAD ? MSD_HTTP_HEAD_ONLY
	       : method == HTTP_POST ? MSD_HTTP_POST
				     : MSD_HTTP_OTHER;
}

/* An absolute URI contains its own host. */
static int take_target(struct msd_http_reader *r)
{
	struct msd_http_request *q = &r->request;

	if (msd_http_target_cut(&q->target, &q->fields[MSD_HTTP_F_HOST]))
		return 0;
	return msd_http_reader_fail(r, 400,
				    "the host is invalid, or the target has a user");
}

int msd_http_on_head(llhttp_t *parser)
{
	struct msd_http_reader *r = msd_http_reader_of(parser);
	struct msd_http_request *q = &r->request;

	if (parser->http_major != 1 || parser->http_minor > 1)
		return msd_http_reader_fail(r, 505, "expected HTTP/1.1");
	if (parser->method == HTTP_CONNECT)
		return msd_http_reader_fail(r, 501, "this server is not a proxy");
	parser->upgrade = 0; /* no upgrade: continue with HTTP/1.1 */
	q->method = method_of(parser->method);
	q->is_old = parser->http_minor == 0;
	q->is_chunked = (parser->flags & F_CHUNKED) != 0;
	q->body_bytes = q->is_chunked ? 0 : parser->content_length;
	q->keeps_alive = llhttp_should_keep_alive(parser) != 0;
	q->wants_continue = q->fields[MSD_HTTP_F_EXPECT].p != NULL && !q->is_old;
	return check_fields(r) != 0 ? -1 : take_target(r);
}
