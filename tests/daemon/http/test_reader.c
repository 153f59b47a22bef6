#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/reader.h"

#define HOST "Host: x\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define MAX_BODY 1000u

/* What became of some bytes: "h" a head, "(abc)" a whole request and its body, "!400"
 * the end. */
static char story[400];
static struct msd_http_reader reader;

static void tell(const char *text, size_t n)
{
	cr_assert_lt(strlen(story) + n, sizeof(story));
	if (n > 0)
		(void)strncat(story, text, n);
}

/* Everything in @in, which lies on the heap at its exact size. */
static void read_piece(const char *p, size_t n)
{
	char *copy = malloc(n > 0 ? n : 1);
	enum msd_http_event event = MSD_HTTP_HEAD;

	memcpy(copy, p, n);
	struct msd_span in = {(const uint8_t *)copy, n};
	while (event == MSD_HTTP_HEAD || event == MSD_HTTP_WHOLE) {
		event = msd_http_read(&reader, &in);
		if (event == MSD_HTTP_HEAD) {
			reader.max_body = MAX_BODY;
			tell("h", 1);
		} else if (event == MSD_HTTP_WHOLE) {
			tell("(", 1);
			tell((const char *)reader.request.body.p,
			     reader.request.body.n);
			tell(")", 1);
		}
	}
	free(copy);
}

/* What is said of @text, which comes in pieces of @step bytes. */
static const char *read_by(const char *text, size_t step)
{
	const size_t n = strlen(text);

	story[0] = '\0';
	msd_http_reader_init(&reader);
	for (size_t at = 0; at < n && reader.status == 0; at += step)
		read_piece(text + at, n - at < step ? n - at : step);
	if (reader.status != 0) {
		char status[16];
		(void)snprintf(status, sizeof(status), "!%u", reader.status);
		tell(status, strlen(status));
	}
	msd_http_reader_finish(&reader);
	return story;
}

/* ... in whatever pieces it comes. */
static void expect_story(const char *text, const char *expected)
{
	for (size_t step = 1; step <= 8; step++) {
		cr_expect_str_eq(read_by(text, step), expected, "by %zu: %s", step,
				 text);
	}
	cr_expect_str_eq(read_by(text, strlen(text)), expected, "at once: %s", text);
}

Test(reader, takes_requests_one_after_the_other)
{
	expect_story("GET /a HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.1\r\n" HOST "\r\n",
		     "h()h()");
	expect_story(POST "Content-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n" HOST "\r\n",
		     "h(abc)h()");
	expect_story(CHUNKED
		     "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\nGET / HTTP/1.1\r\n" HOST
		     "\r\n",
		     "h(abcde)h()");
}

Test(reader, a_head_that_comes_again_says_the_same)
{
	static const char same[] = POST "Content-Length: 3\r\n\r\n";
	char text[4 * sizeof(same) + 40];

	(void)snprintf(text, sizeof(text), "%sabc%sdef%sghi", same, same, same);
	expect_story(text, "h(abc)h(def)h(ghi)");
	(void)snprintf(text, sizeof(text), "%sabc%.*s4\r\n\r\ndefg%sghi", same,
		       (int)(sizeof(same) - 6), same, same);
	expect_story(text, "h(abc)h(defg)h(ghi)");
	(void)snprintf(text, sizeof(text), "%sabc%sde", same, same);
	expect_story(text, "h(abc)h");
}

Test(reader, says_that_a_head_has_come_again)
{
	static const char text[] = "GET /a HTTP/1.1\r\n" HOST "\r\n"
				   "GET /a HTTP/1.1\r\n" HOST "\r\n"
				   "GET /b HTTP/1.1\r\n" HOST "\r\n";
	static const bool is_again[] = {false, true, false};
	struct msd_span in = msd_span_of(text);

	msd_http_reader_init(&reader);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_HEAD);
		cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_WHOLE);
		cr_expect_eq(reader.request.is_again, is_again[i], "%u", i);
		cr_expect(msd_span_is(reader.request.target, i < 2 ? "/a" : "/b"));
		cr_expect(msd_span_is(reader.request.fields[MSD_HTTP_F_HOST], "x"));
	}
	msd_http_reader_finish(&reader);
}

Test(reader, every_prefix_waits_or_has_a_beginning_of_the_story)
{
	static const char text[] = CHUNKED "3\r\nabc\r\n0\r\n\r\n";
	char part[sizeof(text)];

	for (size_t n = 1; n < sizeof(text); n++) {
		memcpy(part, text, n);
		part[n] = '\0';
		const char *got = read_by(part, n);
		cr_expect(strncmp(got, "h(abc)", strlen(got)) == 0, "%zu: %s", n, got);
	}
}

Test(reader, says_what_it_read)
{
	static const char text[] = "HEAD /a%20b?c HTTP/1.1\r\nHOST: "
				   "x\r\nauthorization:  Bearer t \r\n\r\n";
	struct msd_span in = msd_span_of(text);

	msd_http_reader_init(&reader);
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_HEAD);
	cr_expect_eq(reader.request.method, MSD_HTTP_HEAD_ONLY);
	cr_expect(msd_span_is(reader.request.target, "/a%20b?c"));
	cr_expect(msd_span_is(reader.request.fields[MSD_HTTP_F_AUTHORIZATION],
			      "Bearer t"));
	cr_expect(reader.request.keeps_alive);
	cr_expect_eq(msd_http_read(&reader, &in), MSD_HTTP_WHOLE);
	cr_expect_not(msd_http_reader_is_owed(&reader));
	msd_http_reader_finish(&reader);
}

Test(reader, two_lengths_are_refused)
{
	expect_story(POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "!400");
	expect_story(POST "Content-Length: 3, 3\r\n\r\nabc", "!400");
	expect_story(POST
		     "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		     "!400");
	expect_story(POST
		     "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
		     "!400");
}

Test(reader, lengths_that_are_none_are_refused)
{
	expect_story(POST "Content-Length: +3\r\n\r\nabc", "!400");
	expect_story(POST "Content-Length: 0x3\r\n\r\nabc", "!400");
	expect_story(POST "Content-Length: \r\n\r\nabc", "!400");
	expect_story(POST "Content-Length: 18446744073709551619\r\n\r\nabc", "!400");
	expect_story(CHUNKED "10000000000000003\r\nabc", "h!400");
	expect_story(CHUNKED "0x3\r\nabc", "h!400");
	expect_story(CHUNKED " 3\r\nabc", "h!400");
}

Test(reader, other_framings_are_refused)
{
	expect_story(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "!501");
	expect_story(POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		     "!400");
	expect_story(POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "!501");
	expect_story(POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "!400");
	expect_story("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		     "!400");
	expect_story(POST "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
		     "!415");
}

Test(reader, chunks_that_end_otherwise_are_refused)
{
	expect_story(CHUNKED "3\nabc\r\n0\r\n\r\n", "h!400");
	expect_story(CHUNKED "3\r\nabc\n0\r\n\r\n", "h!400");
	expect_story(CHUNKED "3\r\nabcX\r\n0\r\n\r\n", "h!400");
	expect_story(CHUNKED "3\r\nabc\r\n0\r\n\n", "h!400");
	expect_story(CHUNKED "3\r\nabc\r\n0\r\nA: b\r\n\r\n", "h!400");
}

Test(reader, other_protocols_are_refused)
{
	expect_story("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "!505");
	expect_story("GET / HTTP/2.0\r\n" HOST "\r\n", "!505");
	expect_story("CONNECT x:1 HTTP/1.1\r\n" HOST "\r\n", "!501");
	expect_story("BREW / HTTP/1.1\r\n" HOST "\r\n", "!501");
	expect_story("GET / HTTP/1.1\r\n\r\n", "!400");
	expect_story("GET / HTTP/1.1\r\n" HOST HOST "\r\n", "!400");
	expect_story("GET / HTTP/1.1\r\n" HOST "Expect: more\r\n\r\n", "!417");
}

Test(reader, an_upgrade_is_passed_over)
{
	expect_story("GET / HTTP/1.1\r\n" HOST
		     "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n"
		     "GET / HTTP/1.1\r\n" HOST "\r\n",
		     "h()h()");
}

Test(reader, a_body_over_its_limit_is_refused_on_the_head)
{
	cr_expect_str_eq(read_by(POST "Content-Length: 1001\r\n\r\n", 8), "h!413");
}

Test(reader, chunks_over_the_limit_are_refused_before_they_are_kept)
{
	struct msd_span in;
	char text[3000] = CHUNKED "5DC\r\n";

	memset(text + strlen(text), 'x', 1500);
	in = msd_span_of(text);
	msd_http_reader_init(&reader);
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_HEAD);
	reader.max_body = MAX_BODY;
	cr_expect_eq(msd_http_read(&reader, &in), MSD_HTTP_BAD);
	cr_expect_eq(reader.status, 413);
	cr_expect_leq(msd_http_reader_bytes(&reader), 4096);
	msd_http_reader_finish(&reader);
}

/* Feed @unit again and again behind @begin, until it is refused; returns the bytes. */
static size_t feed_on(const char *begin, const char *unit, size_t max)
{
	size_t n = 0;

	story[0] = '\0';
	msd_http_reader_init(&reader);
	read_piece(begin, strlen(begin));
	while (reader.status == 0 && n < max) {
		read_piece(unit, strlen(unit));
		n += strlen(unit);
	}
	msd_http_reader_finish(&reader);
	return n;
}

Test(reader, a_head_without_an_end_is_refused)
{
	cr_expect_leq(feed_on("GET / HTTP/1.1\r\nA: ", "xxxxxxxx", 1 << 20),
		      MSD_HTTP_MAX_HEAD);
	cr_expect_eq(reader.status, 431);
	cr_expect_leq(feed_on("GET / HTTP/1.1\r\n", "A: b\r\n", 1 << 20),
		      MSD_HTTP_MAX_HEAD);
	cr_expect_eq(reader.status, 431);
}

Test(reader, more_fields_than_there_may_be_are_refused)
{
	char text[1000] = "GET / HTTP/1.1\r\n" HOST;

	for (unsigned i = 0; i < MSD_HTTP_MAX_FIELDS; i++)
		(void)strcat(text, "A: b\r\n");
	(void)strcat(text, "\r\n");
	cr_expect_str_eq(read_by(text, 1000), "!431");
}

Test(reader, chunks_of_nothing_but_framing_are_refused)
{
	cr_expect_leq(feed_on(CHUNKED "1;", "xxxxxxxxxxxxxxxx", 1 << 22),
		      MSD_HTTP_MAX_FRAMING + 64);
	cr_expect_eq(reader.status, 400);
}
