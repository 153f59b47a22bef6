#include <criterion/criterion.h>
#include <string.h>

#include "store/manifest/vector.h"

#define TEST(tensor)                                                                   \
	"[{\"function\": \"main\", \"inputs\": [" tensor                               \
	"], \"outputs\": [], \"rtol\": 0.5}]"

static msd_err read_text(const char *text, struct msd_vectors *ret)
{
	struct msd_diag d = {0};
	json_t *json = json_loads(text, 0, NULL);
	const msd_err err = msd_vectors_read(json, ret, &d);

	json_decref(json);
	msd_diag_finish(&d);
	return err;
}

Test(vector, numbers_become_the_bytes_of_their_dtype)
{
	static const float wanted[2] = {0.5f, -2.0f};
	struct msd_vectors v;

	cr_assert_eq(read_text(TEST("{\"dtype\": \"float32\", \"shape\": [1, 2], "
				    "\"data\": [0.5, -2]}"),
			       &v),
		     MSD_OK);
	cr_assert_eq(v.n, 1);
	cr_assert_str_eq(v.at[0].function, "main");
	cr_assert_float_eq(v.at[0].rtol, 0.5, 0);
	cr_assert_eq(v.at[0].inputs[0].bytes, sizeof(wanted));
	cr_assert_eq(memcmp(v.at[0].inputs[0].data, wanted, sizeof(wanted)), 0);
	msd_vectors_finish(&v);
}

Test(vector, whole_numbers_keep_their_width_and_sign)
{
	struct msd_vectors v;

	cr_assert_eq(read_text(TEST("{\"dtype\": \"int16\", \"shape\": [2], \"data\": "
				    "[-32768, 32767]}"),
			       &v),
		     MSD_OK);
	cr_assert_eq(memcmp(v.at[0].inputs[0].data, "\x00\x80\xff\x7f", 4), 0);
	msd_vectors_finish(&v);
}

Test(vector, bytes_of_any_dtype_come_as_base64)
{
	struct msd_vectors v;

	cr_assert_eq(read_text(TEST("{\"dtype\": \"bfloat16\", \"shape\": [], "
				    "\"base64\": \"gD8=\"}"),
			       &v),
		     MSD_OK);
	cr_assert_eq(memcmp(v.at[0].inputs[0].data, "\x80\x3f", 2), 0);
	msd_vectors_finish(&v);
}

Test(vector, no_tests_are_none)
{
	struct msd_vectors v;

	cr_assert_eq(msd_vectors_read(NULL, &v, NULL), MSD_OK);
	cr_assert_eq(v.n, 0);
	cr_assert_eq(read_text("[]", &v), MSD_OK);
	msd_vectors_finish(&v);
}

Test(vector, tensors_that_are_none_are_refused)
{
	static const char *const bad[] = {
		"{}",
		"[1]",
		"[{\"function\": \"\"}]",
		"[{\"function\": \"f\", \"inputs\": []}]",
		"[{\"function\": \"f\", \"inputs\": [], \"outputs\": [], \"atol\": "
		"-1}]",
		TEST("{\"dtype\": \"float33\", \"shape\": [], \"data\": [1]}"),
		TEST("{\"dtype\": \"handle\", \"shape\": [], \"base64\": \"\"}"),
		TEST("{\"dtype\": \"float32\", \"shape\": [2], \"data\": [1]}"),
		TEST("{\"dtype\": \"float32\", \"shape\": [-1], \"data\": []}"),
		TEST("{\"dtype\": \"float32\", \"shape\": [1.5], \"data\": [1]}"),
		TEST("{\"dtype\": \"float32\", \"shape\": [1], \"data\": [1e39]}"),
		TEST("{\"dtype\": \"float32\", \"shape\": [1], \"data\": [true]}"),
		TEST("{\"dtype\": \"int8\", \"shape\": [1], \"data\": [128]}"),
		TEST("{\"dtype\": \"uint8\", \"shape\": [1], \"data\": [-1]}"),
		TEST("{\"dtype\": \"int8\", \"shape\": [1], \"data\": [1.0]}"),
		TEST("{\"dtype\": \"bool\", \"shape\": [1], \"data\": [1]}"),
		TEST("{\"dtype\": \"float32\", \"shape\": [1]}"),
		TEST("{\"dtype\": \"float16\", \"shape\": [1], \"data\": [1]}"),
		TEST("{\"dtype\": \"float16\", \"shape\": [1], \"base64\": \"AA==\"}"),
		TEST("{\"dtype\": \"int8\", \"shape\": [1], \"data\": [1], "
		     "\"base64\": \"AA==\"}"),
	};
	struct msd_vectors v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(read_text(bad[i], &v), MSD_BAD_ARTIFACT, "%s", bad[i]);
		msd_vectors_finish(&v);
	}
}

Test(vector, a_shape_that_nothing_fills_takes_no_memory)
{
	struct msd_vectors v;

	cr_assert_eq(read_text(TEST("{\"dtype\": \"int8\", \"shape\": [4294967296], "
				    "\"data\": []}"),
			       &v),
		     MSD_TOO_LARGE);
	msd_vectors_finish(&v);
}
