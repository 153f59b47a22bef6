#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/daemon/conn_rig.h"

Test(conn, closes_on_a_wrong_magic_a_big_body_and_a_big_payload)
{
	static const struct {
		size_t at;
		uint8_t value;
		msd_err err;
	} harm[] = {{0, 'G', MSD_PROTOCOL},
		    {3, 9, MSD_PROTOCOL},
		    {6, 0xff, MSD_TOO_LARGE},
		    {12, 0xff, MSD_TOO_LARGE},
		    {16, 0xc1, MSD_PROTOCOL}};

	for (unsigned i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
		struct rig r;
		uint8_t bytes[512];
		rig_open(&r, false);
		size_t n = ping(bytes, 1, 0);
		bytes[harm[i].at] = harm[i].value;
		cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
		turn(&r);
		cr_expect_eq(r.n_closed, 1, "harm %u", i);
		cr_expect_eq(r.closed_with, harm[i].err, "harm %u: %s", i, r.why);
		cr_expect_eq(r.n_frames, 0);
		rig_close(&r);
	}
}

Test(conn, says_why_it_ends_a_connection)
{
	struct rig r;
	uint8_t bytes[512];
	char got[512] = {0};

	rig_open(&r, false);
	memset(bytes, 'G',
	       sizeof(bytes)); /* more than the header: some is never read */
	cr_assert_eq(write(r.peer, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
	turn(&r);
	cr_assert_gt(read(r.peer, got, sizeof(got)), MSD_FRAME_HEADER_BYTES);
	cr_expect_not_null(memmem(got, sizeof(got), "session.close", 13));
	cr_expect_not_null(memmem(got, sizeof(got), "not with ed 6d 64", 17));
	cr_expect_eq(read(r.peer, got, sizeof(got)), 0, "then the end, not a reset");
	rig_close(&r);
}

Test(conn, tells_a_clean_end_from_one_inside_a_frame)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	close(r.peer);
	r.peer = -1;
	turn(&r);
	cr_expect_eq(r.closed_with, MSD_OK);
	rig_close(&r);
	rig_open(&r, false);
	size_t n = ping(bytes, 1, 0);
	cr_assert_eq(write(r.peer, bytes, n - 1), (ssize_t)n - 1);
	turn(&r);
	close(r.peer);
	r.peer = -1;
	turn(&r);
	cr_expect_eq(r.closed_with, MSD_IO);
	rig_close(&r);
}
