/* Small elements; how floats are rounded is compared in
 * tests/e2e/test_small_elements.py. */
#include <criterion/criterion.h>
#include <math.h>

#include "proto/small.h"

static const struct msd_dtype floats[] = {
	{MSD_DT_F8_E3M4, 8, 1},        {MSD_DT_F8_E4M3, 8, 1},
	{MSD_DT_F8_E4M3B11FNUZ, 8, 1}, {MSD_DT_F8_E4M3FN, 8, 1},
	{MSD_DT_F8_E4M3FNUZ, 8, 1},    {MSD_DT_F8_E5M2, 8, 1},
	{MSD_DT_F8_E5M2FNUZ, 8, 1}};
static const struct msd_dtype int4 = {MSD_DT_INT, 4, 1}, uint4 = {MSD_DT_UINT, 4, 1};

Test(small, each_number_is_itself_again)
{
	for (size_t k = 0; k < sizeof(floats) / sizeof(floats[0]); k++) {
		for (unsigned code = 0; code < 256; code++) {
			const uint8_t from = (uint8_t)code;
			uint8_t to = 0;
			const double v = msd_small_load(floats[k], &from, 0);

			msd_small_store(floats[k], &to, 0, v, false);
			cr_expect(to == from || isnan(v), "%zu: %u is %u", k, code, to);
		}
	}
}

Test(small, who_shares_a_byte_stays)
{
	uint8_t bytes[2] = {0, 0};

	msd_small_store(int4, bytes, 0, -3, true);
	msd_small_store(int4, bytes, 1, 7, true);
	msd_small_store(int4, bytes, 2, -8, true);
	msd_small_store(int4, bytes, 0, 2, true);
	cr_expect_eq(bytes[0], 0x72);
	cr_expect_eq(bytes[1], 0x08);
	cr_expect_eq(msd_small_load(int4, bytes, 2), -8);
	cr_expect_eq(msd_small_load(uint4, bytes, 2), 8);
	cr_expect_eq(msd_small_load(int4, bytes, 1), 7);
}

Test(small, others_are_none)
{
	for (size_t k = 0; k < sizeof(floats) / sizeof(floats[0]); k++)
		cr_expect(msd_small_is(floats[k]));
	cr_expect(msd_small_is(int4));
	cr_expect_not(msd_small_is((struct msd_dtype){MSD_DT_INT, 8, 1}));
	cr_expect_not(msd_small_is((struct msd_dtype){MSD_DT_UINT, 4, 2}));
	cr_expect_not(msd_small_is((struct msd_dtype){MSD_DT_BFLOAT, 16, 1}));
}
