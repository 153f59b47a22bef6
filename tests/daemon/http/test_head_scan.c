#include <criterion/criterion.h>
#include <string.h>

#include "daemon/http/head_scan.h"

/* What is wrong with @text, scanned byte by byte; NULL: nothing. @ret_n: bytes taken.
 */
static const char *scan(const char *text, size_t *ret_n, bool *ret_ended)
{
	struct msd_head_scan h = {0};

	*ret_ended = false;
	*ret_n = 0;
	while (text[*ret_n] != '\0' && !*ret_ended) {
		const struct msd_span one = {(const uint8_t *)text + *ret_n, 1};
		*ret_n += msd_head_scan(&h, one, ret_ended);
	}
	return h.why;
}

static void expect_refused(const char *text)
{
	bool has_ended;
	size_t n;

	cr_expect_not_null(scan(text, &n, &has_ended), "%s", text);
	cr_expect(has_ended, "%s", text);
}

Test(head_scan, ends_behind_the_empty_line)
{
	static const char head[] = "GET / HTTP/1.1\r\nHost: x\r\nA:\r\n\r\n";
	struct msd_head_scan h = {0};
	char text[100];
	bool has_ended;

	(void)strcat(strcpy(text, head), "GET /next");
	const struct msd_span s = msd_span_of(text);
	cr_expect_eq(msd_head_scan(&h, s, &has_ended), strlen(head));
	cr_expect(has_ended);
	cr_expect_null(h.why);
}

Test(head_scan, goes_on_from_piece_to_piece)
{
	size_t n;
	bool has_ended;

	cr_expect_null(scan("GET / HTTP/1.1\r\nHost: x\r\n\r\nmore", &n, &has_ended));
	cr_expect(has_ended);
	cr_expect_eq(n, strlen("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
}

Test(head_scan, every_prefix_waits_for_more)
{
	static const char head[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	char text[sizeof(head)];
	bool has_ended;
	size_t took;

	for (size_t n = 0; n < sizeof(head) - 1; n++) {
		memcpy(text, head, n);
		text[n] = '\0';
		cr_expect_null(scan(text, &took, &has_ended), "%zu", n);
		cr_expect_not(has_ended, "%zu", n);
	}
}

Test(head_scan, refuses_lines_that_end_otherwise)
{
	expect_refused("GET / HTTP/1.1\nHost: x\r\n\r\n");
	expect_refused("GET / HTTP/1.1\r\nHost: x\n\r\n");
	expect_refused("GET / HTTP/1.1\r\nHost: x\r\n\n");
	expect_refused("GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n");
}

Test(head_scan, refuses_what_is_no_field)
{
	expect_refused("GET / HTTP/1.1\r\nHost : x\r\n\r\n");
	expect_refused("GET / HTTP/1.1\r\nHost\t: x\r\n\r\n");
	expect_refused("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n");
	expect_refused("GET / HTTP/1.1\r\n: x\r\n\r\n");
	expect_refused("GET / HTTP/1.1\r\nHo(st: x\r\n\r\n");
	expect_refused("GET / HTTP/1.1\r\nHost\r\n\r\n");
	expect_refused("GET / HTTP/1.1\r\nHost: \x01\r\n\r\n");
	expect_refused("GET / HTTP/1.1\r\nHost: \x7f\r\n\r\n");
}

Test(head_scan, refuses_what_is_no_request_line)
{
	expect_refused("\r\nGET / HTTP/1.1\r\n\r\n");
	expect_refused(" GET / HTTP/1.1\r\n\r\n");
	expect_refused("GET  / HTTP/1.1\r\n\r\n");
	expect_refused("GET / HTTP/1.1 \r\n\r\n");
	expect_refused("GET\t/ HTTP/1.1\r\n\r\n");
	expect_refused("\x81\xa6");
}
