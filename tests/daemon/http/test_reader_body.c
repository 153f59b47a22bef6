/* Where the body of a request comes to lie: where it came, in memory of the reader's
 * own, or its part here and the rest elsewhere. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "daemon/http/reader.h"
#include "daemon/http/scatter.h"

#define HOST "Host: x\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST
#define MAX_BODY 1000u

static struct msd_http_reader reader;

Test(reader_body, gives_back_what_a_request_held)
{
	static const char head[] = POST "Content-Length: 900\r\n\r\n";
	char body[900];

	memset(body, 'x', sizeof(body));
	struct msd_span in = msd_span_of(head);
	msd_http_reader_init(&reader);
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_HEAD);
	reader.max_body = MAX_BODY;
	in = (struct msd_span){(const uint8_t *)body, 1};
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_MORE);
	in = (struct msd_span){(const uint8_t *)body + 1, sizeof(body) - 1};
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_WHOLE);
	cr_expect_geq(msd_http_reader_bytes(&reader), 900);
	cr_expect_eq(msd_http_read(&reader, &in), MSD_HTTP_MORE);
	cr_expect_leq(msd_http_reader_bytes(&reader), 1024);
	msd_http_reader_finish(&reader);
}

/* Read a request whose body of @n bytes is all there; returns where the body came. */
static const uint8_t *read_body(char *text, size_t n)
{
	const int head = sprintf(text, POST "Content-Length: %zu\r\n\r\n", n);

	memset(text + head, 'x', n);
	struct msd_span in = {(const uint8_t *)text, (size_t)head + n};
	msd_http_reader_init(&reader);
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_HEAD);
	reader.max_body = 2 * MSD_HTTP_LENT_BODY;
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_WHOLE);
	cr_assert_eq(reader.request.body.n, n);
	return (const uint8_t *)text + head;
}

Test(reader_body, leaves_a_short_body_where_it_came)
{
	static char text[MSD_HTTP_LENT_BODY + 200];

	cr_expect_eq(read_body(text, MSD_HTTP_LENT_BODY), reader.request.body.p);
	msd_http_reader_finish(&reader);
}

Test(reader_body, takes_a_longer_body_over)
{
	static char text[MSD_HTTP_LENT_BODY + 200];
	const uint8_t *there = read_body(text, MSD_HTTP_LENT_BODY + 1);

	cr_expect_neq(reader.request.body.p, there);
	msd_http_reader_finish(&reader);
}

/* A request of ten bytes whose first four are a part, read by pieces of @step; what
 * follows the part goes to @room. */
static void read_in_parts(size_t step, char room[8], struct msd_span *ret_part)
{
	static const char text[] = POST "Content-Length: 10\r\n\r\n0123456789";
	struct iovec pieces[] = {{room, 2}, {room + 2, 4}};
	struct msd_scatter rest = {pieces, 2};
	enum msd_http_event event = MSD_HTTP_MORE;

	msd_http_reader_init(&reader);
	for (size_t at = 0; event != MSD_HTTP_WHOLE; at += step) {
		const size_t left = sizeof(text) - 1 - at;
		struct msd_span in = {(const uint8_t *)text + at,
				      left < step ? left : step};
		cr_assert_lt(at, sizeof(text));
		do {
			event = msd_http_read(&reader, &in);
			reader.max_body = MAX_BODY;
			reader.part_bytes = 4;
			reader.rest = &rest;
			if (event == MSD_HTTP_PART)
				*ret_part = reader.request.body;
		} while (event == MSD_HTTP_HEAD || event == MSD_HTTP_PART);
	}
	cr_expect_eq(rest.n, 0);
}

Test(reader_body, what_follows_a_part_goes_elsewhere)
{
	for (size_t step = 1; step < 80; step++) {
		char room[8] = "";
		struct msd_span part = {0};
		read_in_parts(step, room, &part);
		cr_expect_eq(part.n, 4, "by %zu", step);
		cr_expect_str_eq(room, "456789", "by %zu", step);
		cr_expect(reader.request.has_part && reader.request.body.n == 0);
		msd_http_reader_finish(&reader);
	}
}

Test(reader_body, what_follows_a_part_may_be_read_to_its_place_by_others)
{
	char text[] = POST "Content-Length: 6\r\n\r\nab";
	char room[4];
	struct iovec piece = {room, sizeof(room)};
	struct msd_scatter rest = {&piece, 1};
	struct msd_span in = msd_span_of(text);

	msd_http_reader_init(&reader);
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_HEAD);
	cr_expect_null(msd_http_reader_rest(&reader));
	reader.max_body = MAX_BODY;
	reader.part_bytes = 2;
	reader.rest = &rest;
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_PART);
	cr_assert_eq(msd_http_reader_rest(&reader), &rest);
	msd_http_reader_came(&reader, 3);
	cr_expect_eq(msd_http_read(&reader, &in), MSD_HTTP_MORE);
	msd_http_reader_came(&reader, 1);
	cr_expect_eq(msd_http_read(&reader, &in), MSD_HTTP_WHOLE);
	msd_http_reader_finish(&reader);
}

Test(reader_body, what_has_no_place_is_dropped)
{
	char text[] =
		POST "Content-Length: 6\r\n\r\nabcdefGET / HTTP/1.1\r\n" HOST "\r\n";
	struct msd_scatter none = {0};
	struct msd_span in = msd_span_of(text);

	msd_http_reader_init(&reader);
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_HEAD);
	reader.max_body = MAX_BODY;
	reader.part_bytes = 2;
	reader.rest = &none;
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_PART);
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_WHOLE);
	cr_assert_eq(msd_http_read(&reader, &in), MSD_HTTP_HEAD);
	cr_expect_not(reader.request.has_part);
	msd_http_reader_finish(&reader);
}
