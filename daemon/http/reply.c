#include "daemon/http/reply.h"

#include "proto/base/text.h"

#define LINE(text) "HTTP/1.1 " text "\r\nContent-Type: "
#define ROW(status, text)                                                              \
	{                                                                              \
		status, sizeof(LINE(text)) - 1, LINE(text)                             \
	}

/* The status line of a response, with the fields that always follow it. */
static struct msd_span status_line(unsigned status)
{
	static const struct {
		unsigned status;
		unsigned n;
		const char *text;
	} rows[] = {
		ROW(200, "200 OK"),
		ROW(400, "400 Bad Request"),
		ROW(401, "401 Unauthorized"),
		ROW(403, "403 Forbidden"),
		ROW(404, "404 Not Found"),
		ROW(405, "405 Method Not Allowed"),
		ROW(411, "411 Length Required"),
		ROW(413, "413 Content Too Large"),
		ROW(415, "415 Unsupported Media Type"),
		ROW(417, "417 Expectation Failed"),
		ROW(429, "429 Too Many Requests"),
		ROW(431, "431 Request Header Fields Too Large"),
		ROW(501, "501 Not Implemented"),
		ROW(502, "502 Bad Gateway"),
		ROW(503, "503 Service Unavailable"),
		ROW(504, "504 Gateway Timeout"),
		ROW(505, "505 HTTP Version Not Supported"),
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].status == status) {
			return (struct msd_span){(const uint8_t *)rows[i].text,
						 rows[i].n};
		}
	}
	return msd_span_of(LINE("500 Internal Server Error"));
}

static void write_head(struct msd_buf *out, const struct msd_http_reply *r)
{
	const struct msd_span line = status_line(r->status);

	msd_buf_put(out, line.p, line.n);
	msd_text_put(out, r->type);
	msd_text_put(out, "\r\nContent-Length: ");
	msd_text_decimal(out, r->body.n + r->behind_bytes);
	if (r->has_tensors) {
		msd_text_put(out, "\r\nInference-Header-Content-Length: ");
		msd_text_decimal(out, r->body.n + r->json_bytes);
	}
	if (r->policy != NULL) {
		msd_text_put(out, "\r\nContent-Security-Policy: ");
		msd_text_put(out, r->policy);
		msd_text_put(out, "\r\nX-Content-Type-Options: nosniff\r\n"
				  "Referrer-Policy: no-referrer");
	}
	if (r->allow != NULL) {
		msd_text_put(out, "\r\nAllow: ");
		msd_text_put(out, r->allow);
	}
	if (r->retry_after_s > 0) {
		msd_text_put(out, "\r\nRetry-After: ");
		msd_text_decimal(out, r->retry_after_s);
	}
	if (r->wants_token)
		msd_text_put(out, "\r\nWWW-Authenticate: Bearer");
	if (r->closes) {
		msd_text_put(out, "\r\nConnection: close");
	} else if (r->is_old) {
		msd_text_put(out, "\r\nConnection: keep-alive");
	}
	msd_text_put(out, "\r\n\r\n");
}

void msd_http_reply_write(struct msd_buf *out, const struct msd_http_reply *r)
{
	write_head(out, r);
	if (!r->is_head)
		msd_buf_put(out, r->body.p, r->body.n);
}

void msd_http_reply_continue(struct msd_buf *out)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

	msd_text_put(out, text);
}
