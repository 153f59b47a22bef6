#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/module/handover/handover_name.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool parses(const char *text)
{
	struct msd_handover_name name;

	return msd_handover_name_parse(msd_span_of(text), &name);
}

Test(warm_name, what_is_written_is_read)
{
	struct msd_handover_name name = {.pid = 4242, .group = 17}, again;
	char text[MSD_HANDOVER_NAME_BYTES];

	cr_assert(msd_digest_parse(msd_span_of(KEY), &name.key));
	msd_handover_name_format(&name, text);
	cr_expect_str_eq(text, "modserd-worker.4242.17." KEY);
	cr_assert(msd_handover_name_parse(msd_span_of(text), &again));
	cr_expect_eq(again.pid, 4242);
	cr_expect_eq(again.group, 17);
	cr_expect(msd_digest_equal(&again.key, &name.key));
}

Test(warm_name, the_longest_fits_and_is_one_that_the_manager_takes)
{
	const struct msd_handover_name name = {.pid = 2147483647, .group = UINT64_MAX};
	char text[MSD_HANDOVER_NAME_BYTES];

	msd_handover_name_format(&name, text);
	cr_expect(parses(text));
	cr_expect_lt(strlen(text), 255, "FDNAME= has no more");
	cr_expect_null(strchr(text, ':'), "names are told with ':' between them");
}

Test(warm_name, nothing_but_the_written_form_is_a_name)
{
	static const char *const wrong[] = {
		"",
		"modserd-worker.",
		"modserd-worker.1.0." KEY "0",
		"modserd-worker.0.0." KEY,
		"modserd-worker.-1.0." KEY,
		"modserd-worker.+1.0." KEY,
		"modserd-worker. 1.0." KEY,
		"modserd-worker.01.0." KEY,
		"modserd-worker.1.00." KEY,
		"modserd-worker.1.-1." KEY,
		"modserd-worker.1.0.sha256:" KEY,
		"modserd-worker.1.0",
		"modserd-worker.1." KEY,
		"modserd-worker.2147483648.0." KEY,
		"modserd-worker.1.99999999999999999999." KEY,
		"modserd-worker.1.0." KEY ".1",
		"worker.1.0." KEY,
	};

	cr_assert(parses("modserd-worker.1.0." KEY));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_not(parses(wrong[i]), "%s", wrong[i]);
}

Test(warm_name, no_prefix_of_a_name_is_one)
{
	static const char whole[] = "modserd-worker.4242.17." KEY;

	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		struct msd_handover_name name;
		const struct msd_span part = {(const uint8_t *)whole, n};
		cr_expect_not(msd_handover_name_parse(part, &name), "%zu bytes", n);
	}
}
