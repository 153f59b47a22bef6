#include "daemon/http/reply.h"

#include <string.h>

static const char *reason(unsigned status)
{
	static const struct {
		unsigned status;
		const char *text;
	} rows[] = {{200, "OK"},
		    {400, "Bad Request"},
		    {401, "Unauthorized"},
		    {403, "Forbidden"},
		    {404, "Not Found"},
		    {405, "Method Not Allowed"},
		    {411, "Length Required"},
		    {413, "Content Too Large"},
		    {415, "Unsupported Media Type"},
		    {417, "Expectation Failed"},
		    {429, "Too Many Requests"},
		    {431, "Request Header Fields Too Large"},
		    {500, "Internal Server Error"},
		    {501, "Not Implemented"},
		    {503, "Service Unavailable"},
		    {504, "Gateway Timeout"},
		    {505, "HTTP Version Not Supported"}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].status == status)
			return rows[i].text;
	}
	return "Unknown";
}

void msd_http_reply_write(struct msd_buf *out, const struct msd_http_reply *r)
{
	msd_buf_printf(out,
		       "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %llu",
		       r->status, reason(r->status), r->type,
		       (unsigned long long)r->body.n + r->behind_bytes);
	if (r->has_tensors) {
		msd_buf_printf(out, "\r\nInference-Header-Content-Length: %llu",
			       (unsigned long long)r->body.n + r->json_bytes);
	}
	if (r->policy != NULL) {
		msd_buf_printf(out,
			       "\r\nContent-Security-Policy: %s\r\n"
			       "X-Content-Type-Options: nosniff\r\n"
			       "Referrer-Policy: no-referrer",
			       r->policy);
	}
	if (r->allow != NULL)
		msd_buf_printf(out, "\r\nAllow: %s", r->allow);
	if (r->retry_after_s > 0)
		msd_buf_printf(out, "\r\nRetry-After: %u", r->retry_after_s);
	if (r->wants_token)
		msd_buf_printf(out, "\r\nWWW-Authenticate: Bearer");
	if (r->closes) {
		msd_buf_printf(out, "\r\nConnection: close");
	} else if (r->is_old) {
		msd_buf_printf(out, "\r\nConnection: keep-alive");
	}
	msd_buf_put(out, "\r\n\r\n", 4);
	if (!r->is_head)
		msd_buf_put(out, r->body.p, r->body.n);
}

void msd_http_reply_continue(struct msd_buf *out)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

	msd_buf_put(out, text, strlen(text));
}
