#include <criterion/criterion.h>
#include <string.h>

#include "proto/frame.h"

static msd_err read_header(const uint8_t *in, struct msd_frame *ret, struct msd_diag *d)
{
	return msd_frame_read(in, MSD_MAX_BODY_BYTES, MSD_MAX_PAYLOAD_BYTES, ret, d);
}

/* The code for a header with one byte set. */
static msd_err with_byte(struct msd_frame f, size_t at, uint8_t value)
{
	uint8_t in[MSD_FRAME_HEADER_BYTES];
	struct msd_diag d = {0};

	msd_frame_write(f, in);
	in[at] = value;
	msd_err err = read_header(in, &f, &d);
	msd_diag_finish(&d);
	return err;
}

static msd_err sizes(uint32_t body, uint64_t payload)
{
	struct msd_frame f = {.body_bytes = body, .payload_bytes = payload};

	return with_byte(f, 0, (uint8_t)MSD_MAGIC[0]);
}

Test(frame, header_is_laid_out_as_documented)
{
	static const uint8_t expected[16] = {0xed, 'm', 'd', 1, 0x44, 0x33, 0x22, 0x11,
					     8,    7,   6,   5, 4,    3,    2,    1};
	uint8_t out[MSD_FRAME_HEADER_BYTES];

	msd_frame_write((struct msd_frame){0x11223344u, 0x0102030405060708u}, out);
	cr_assert_eq(memcmp(out, expected, sizeof(out)), 0);
}

Test(frame, header_round_trip)
{
	uint8_t in[MSD_FRAME_HEADER_BYTES];
	struct msd_diag d = {0};
	struct msd_frame f;

	msd_frame_write((struct msd_frame){100, 4096}, in);
	cr_assert_eq(read_header(in, &f, &d), MSD_OK);
	cr_assert_eq(f.body_bytes, 100);
	cr_assert_eq(f.payload_bytes, 4096);
}

Test(frame, refuses_each_wrong_magic_byte)
{
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(with_byte((struct msd_frame){1, 0}, i, 'G'), MSD_PROTOCOL);
}

Test(frame, refuses_another_version_and_names_both)
{
	uint8_t in[MSD_FRAME_HEADER_BYTES];
	struct msd_diag d = {0};
	struct msd_frame f;

	msd_frame_write((struct msd_frame){1, 0}, in);
	in[3] = 9;
	cr_assert_eq(read_header(in, &f, &d), MSD_PROTOCOL);
	cr_assert_str_eq(msd_diag_text(&d),
			 "frame: protocol version 9; this side speaks 1");
	msd_diag_finish(&d);
}

Test(frame, refuses_an_empty_body)
{
	cr_assert_eq(sizes(0, 0), MSD_PROTOCOL);
}

Test(frame, body_limit_is_exact)
{
	cr_assert_eq(sizes(MSD_MAX_BODY_BYTES, 0), MSD_OK);
	cr_assert_eq(sizes(MSD_MAX_BODY_BYTES + 1, 0), MSD_TOO_LARGE);
	cr_assert_eq(sizes(UINT32_MAX, 0), MSD_TOO_LARGE);
}

Test(frame, payload_limit_is_exact)
{
	cr_assert_eq(sizes(1, MSD_MAX_PAYLOAD_BYTES), MSD_OK);
	cr_assert_eq(sizes(1, MSD_MAX_PAYLOAD_BYTES + 1), MSD_TOO_LARGE);
	cr_assert_eq(sizes(1, UINT64_MAX), MSD_TOO_LARGE);
}

Test(frame, failure_leaves_the_result_alone)
{
	uint8_t in[MSD_FRAME_HEADER_BYTES] = {0};
	struct msd_frame f = {.body_bytes = 77};

	cr_assert_eq(read_header(in, &f, NULL), MSD_PROTOCOL);
	cr_assert_eq(f.body_bytes, 77);
}
