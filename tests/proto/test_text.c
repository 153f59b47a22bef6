#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/text.h"

Test(text, decimals_have_all_their_digits_and_no_more)
{
	struct msd_buf b = {0};

	msd_text_decimal(&b, 0);
	msd_text_put(&b, " ");
	msd_text_decimal(&b, 10);
	msd_text_put(&b, " ");
	msd_text_decimal(&b, UINT64_MAX);
	msd_buf_put(&b, "", 1);
	cr_expect_str_eq((const char *)b.p, "0 10 18446744073709551615");
	msd_buf_finish(&b);
}

static void expect_as_printf(float v)
{
	struct msd_buf b = {0};
	char text[64];

	(void)snprintf(text, sizeof(text), "%.9g", (double)v);
	msd_text_float(&b, v);
	cr_assert(b.n == strlen(text) && memcmp(b.p, text, b.n) == 0, "%s: %.*s", text,
		  (int)b.n, (const char *)b.p);
	msd_buf_finish(&b);
}

Test(text, floats_are_those_of_printf)
{
	static const float some[] = {
		0,         -0.0f,         1,        -1,         0.5f,
		1.25f,     1000.5f,       1e-4f,    1e-3f,      1e-2f,
		0.1f,      0.3f,          1e8f,     1e9f,       999999936.0f,
		1e-45f,    3.4028235e38f, 16777216, 8388607.5f, (float)INFINITY,
		(float)NAN};
	uint32_t bits = 0x12345678;

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		expect_as_printf(some[i]);
		expect_as_printf(nextafterf(some[i], 0));
		expect_as_printf(nextafterf(some[i], 1e38f));
		expect_as_printf(nextafterf(some[i], -1));
	}
	for (unsigned i = 0; i < 200000; i++) {
		float v;
		bits = bits * 1664525u + 1013904223u;
		/* Every second one is of the usual size. */
		const uint32_t usual = (bits & 0x807fffffu) | (113u + bits % 45u) << 23;
		memcpy(&v, i % 2 == 0 ? &bits : &usual, sizeof(v));
		expect_as_printf(v);
	}
}
