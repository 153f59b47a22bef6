#include <criterion/criterion.h>

#include "runtime/value/dltensor.h"

Test(dltensor, bool_of_one_bit_takes_a_byte)
{
	int64_t shape[] = {9};
	const struct msd_dltensor t = {
		.ndim = 1, .dtype = {MSD_DT_UINT, 1, 1}, .shape = shape};

	cr_assert_eq(msd_dltensor_bytes(&t), 9);
}

Test(dltensor, stride_of_one_element_does_not_matter)
{
	int64_t shape[] = {2, 1, 3};
	int64_t strides[] = {3, 77, 1};
	const struct msd_dltensor t = {.ndim = 3, .shape = shape, .strides = strides};

	cr_assert(msd_dltensor_is_compact(&t));
	strides[0] = 4;
	cr_assert_not(msd_dltensor_is_compact(&t));
}
