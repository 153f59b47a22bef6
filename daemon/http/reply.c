#include "daemon/http/reply.h"

#include "proto/text.h"

/* A status line begins each answer: it is put, not formatted. */
static const char *status_line(unsigned status)
{
	static const struct {
		unsigned status;
		const char *text;
	} rows[] = {{200, "200 OK"},
		    {400, "400 Bad Request"},
		    {401, "401 Unauthorized"},
		    {403, "403 Forbidden"},
		    {404, "404 Not Found"},
		    {405, "405 Method Not Allowed"},
		    {411, "411 Length Required"},
		    {413, "413 Content Too Large"},
		    {415, "415 Unsupported Media Type"},
		    {417, "417 Expectation Failed"},
		    {429, "429 Too Many Requests"},
		    {431, "431 Request Header Fields Too Large"},
		    {501, "501 Not Implemented"},
		    {503, "503 Service Unavailable"},
		    {504, "504 Gateway Timeout"},
		    {505, "505 HTTP Version Not Supported"}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].status == status)
			return rows[i].text;
	}
	return "500 Internal Server Error";
}

static void put_number(struct msd_buf *out, const char *name, uint64_t value)
{
	msd_text_put(out, name);
	msd_text_decimal(out, value);
}

void msd_http_reply_write(struct msd_buf *out, const struct msd_http_reply *r)
{
	msd_text_put(out, "HTTP/1.1 ");
	msd_text_put(out, status_line(r->status));
	msd_text_put(out, "\r\nContent-Type: ");
	msd_text_put(out, r->type);
	put_number(out, "\r\nContent-Length: ", r->body.n + r->behind_bytes);
	if (r->has_tensors) {
		put_number(out, "\r\nInference-Header-Content-Length: ",
			   r->body.n + r->json_bytes);
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
	if (r->retry_after_s > 0)
		put_number(out, "\r\nRetry-After: ", r->retry_after_s);
	if (r->wants_token)
		msd_text_put(out, "\r\nWWW-Authenticate: Bearer");
	if (r->closes) {
		msd_text_put(out, "\r\nConnection: close");
	} else if (r->is_old) {
		msd_text_put(out, "\r\nConnection: keep-alive");
	}
	msd_text_put(out, "\r\n\r\n");
	if (!r->is_head)
		msd_buf_put(out, r->body.p, r->body.n);
}

void msd_http_reply_continue(struct msd_buf *out)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

	msd_text_put(out, text);
}
