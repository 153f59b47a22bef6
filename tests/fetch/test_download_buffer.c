#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/fetch/transfer/download_buffer.h"

static struct msd_download_buffer landing;
static struct msd_diag d;

static void open_landing(void)
{
	cr_assert_eq(msd_download_buffer_open(&landing, 8, &d), MSD_OK);
}

static void close_landing(void)
{
	msd_download_buffer_close(&landing);
	msd_diag_finish(&d);
}

TestSuite(landing, .init = open_landing, .fini = close_landing);

static void expect_sealed(const char *text)
{
	struct msd_digest is, wanted;
	char bytes[9] = "";

	msd_digest_of(msd_span_of(text), &wanted);
	cr_assert_eq(msd_download_buffer_seal(&landing, &is, &d), MSD_OK);
	cr_assert(msd_digest_equal(&is, &wanted));
	cr_assert_eq(pread(landing.fd, bytes, 8, 0), (ssize_t)strlen(text));
	cr_assert_str_eq(bytes, text);
}

Test(landing, hashes_what_came_in_pieces)
{
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("abc"), &d),
		     MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("de"), &d),
		     MSD_OK);
	expect_sealed("abcde");
}

Test(landing, forgets_what_came_before_a_restart)
{
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("abcdef"), &d),
		     MSD_OK);
	cr_assert_eq(msd_download_buffer_restart(&landing, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("xy"), &d),
		     MSD_OK);
	expect_sealed("xy");
}

Test(landing, cannot_be_changed_once_it_is_sealed)
{
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("abc"), &d),
		     MSD_OK);
	expect_sealed("abc");
	cr_assert_eq(pwrite(landing.fd, "x", 1, 0), -1);
	cr_assert_eq(ftruncate(landing.fd, 0), -1);
}

Test(landing, takes_no_byte_over_its_bound)
{
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("12345678"), &d),
		     MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("9"), &d),
		     MSD_TOO_LARGE);
	cr_assert_eq(landing.bytes, 8);
}

Test(landing, refuses_what_is_announced_over_its_bound)
{
	cr_assert_eq(msd_download_buffer_expect(&landing, 8, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_expect(&landing, 9, &d), MSD_TOO_LARGE);
}

Test(landing, a_part_has_its_own_hash_and_restarts_alone)
{
	struct msd_digest is, wanted;

	cr_assert_eq(msd_download_buffer_next(&landing, 3, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("abc"), &d),
		     MSD_OK);
	cr_assert_eq(msd_download_buffer_next(&landing, 0, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("xx"), &d),
		     MSD_OK);
	cr_assert_eq(msd_download_buffer_restart(&landing, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("de"), &d),
		     MSD_OK);
	msd_download_buffer_digest(&landing, &is);
	msd_digest_of(msd_span_of("de"), &wanted);
	cr_assert(msd_digest_equal(&is, &wanted));
	expect_sealed("abcde");
}

Test(landing, a_part_of_another_size_is_not_what_was_said)
{
	cr_assert_eq(msd_download_buffer_next(&landing, 3, &d), MSD_OK);
	cr_assert_eq(msd_download_buffer_expect(&landing, 2, &d), MSD_NOT_VERIFIED);
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("abcd"), &d),
		     MSD_NOT_VERIFIED);
	cr_assert_eq(msd_download_buffer_next(&landing, 9, &d), MSD_TOO_LARGE);
}

static struct msd_download_buffer_room room;

static void expect_full(struct msd_download_buffer *l, const char *text)
{
	cr_assert_eq(msd_download_buffer_append(l, msd_span_of(text), &d),
		     MSD_NO_SPACE);
	cr_assert_not_null(strstr(msd_diag_text(&d), "max-upload-memory"));
	msd_diag_finish(&d);
	d = (struct msd_diag){0};
}

Test(landing, shares_its_memory_with_others)
{
	struct msd_download_buffer other;

	room = (struct msd_download_buffer_room){.max_bytes = 10};
	landing.room = &room;
	cr_assert_eq(msd_download_buffer_open(&other, 8, &d), MSD_OK);
	other.room = &room;
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("abcdef"), &d),
		     MSD_OK);
	expect_full(&other, "12345");
	cr_assert_eq(msd_download_buffer_append(&other, msd_span_of("1234"), &d),
		     MSD_OK);
	msd_download_buffer_close(&other);
	cr_assert_eq(room.bytes, 6);
	msd_download_buffer_close(&other);
	cr_assert_eq(room.bytes, 6, "once");
}

Test(landing, gives_memory_back_at_a_restart_and_with_its_descriptor)
{
	room = (struct msd_download_buffer_room){.max_bytes = 6};
	landing.room = &room;
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("abcdef"), &d),
		     MSD_OK);
	expect_full(&landing, "g");
	cr_assert_eq(msd_download_buffer_restart(&landing, &d), MSD_OK);
	cr_assert_eq(room.bytes, 0);
	cr_assert_eq(msd_download_buffer_append(&landing, msd_span_of("xy"), &d),
		     MSD_OK);
	cr_assert_eq(room.bytes, 2);
	cr_assert_eq(close(msd_download_buffer_adopt_fd(&landing)), 0);
	cr_assert_eq(room.bytes, 0);
}
