#include <criterion/criterion.h>

#include "daemon/http/reply.h"

static void expect_written(const struct msd_http_reply *r, const char *text)
{
	struct msd_buf out = {0};

	msd_http_reply_write(&out, r);
	cr_assert_not(out.bad);
	cr_expect(msd_span_is((struct msd_span){out.p, out.n}, text), "%.*s",
		  (int)out.n, (const char *)out.p);
	msd_buf_finish(&out);
}

static const struct msd_span body = {(const uint8_t *)"live\n", 5};

Test(reply, has_its_length_and_its_body)
{
	expect_written(
		&(struct msd_http_reply){.status = 200, .type = "a/b", .body = body},
		"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n"
		"\r\nlive\n");
}

Test(reply, to_head_has_the_length_alone)
{
	expect_written(
		&(struct msd_http_reply){
			.status = 200, .type = "a/b", .body = body, .is_head = true},
		"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n"
		"\r\n");
}

Test(reply, says_what_is_to_be_done)
{
	expect_written(
		&(struct msd_http_reply){.status = 503,
					 .type = "a/b",
					 .retry_after_s = 1,
					 .closes = true},
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: a/b\r\n"
		"Content-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n");
	expect_written(&(struct msd_http_reply){.status = 401,
						.type = "a/b",
						.wants_token = true},
		       "HTTP/1.1 401 Unauthorized\r\nContent-Type: a/b\r\n"
		       "Content-Length: 0\r\nWWW-Authenticate: Bearer\r\n\r\n");
	expect_written(&(struct msd_http_reply){.status = 405,
						.type = "a/b",
						.allow = "GET, HEAD",
						.is_old = true},
		       "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: a/b\r\n"
		       "Content-Length: 0\r\nAllow: GET, HEAD\r\n"
		       "Connection: keep-alive\r\n\r\n");
}
