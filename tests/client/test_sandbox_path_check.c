#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "client/cli/doctor/sandbox_path_check.h"

/* Whether modules may read @path by a daemon with @profile on a kernel with version
 * @landlock, whose modules may read /usr and, by a link, this process' files. */
static bool has(const char *profile, int64_t landlock, const char *path)
{
	const modser_value places[] = {modser_str("/usr"),
				       modser_str("/no/such/folder"),
				       modser_str("/proc/self")};
	const modser_value reads = {.kind = MODSER_TUPLE,
				    .as.tuple = {.item = places, .n = 3}};
	const modser_value pairs[] = {modser_str("landlock"), modser_int(landlock),
				      modser_str("profile"),  modser_str(profile),
				      modser_str("reads"),    reads};
	const modser_value sandbox[] = {
		modser_str("sandbox"),
		{.kind = MODSER_MAP, .as.tuple = {.item = pairs, .n = 3}}};
	const modser_value info = {.kind = MODSER_MAP,
				   .as.tuple = {.item = sandbox, .n = 1}};

	return msd_sandbox_path_check_has(&info, path);
}

Test(reach, what_lies_below_a_folder_that_is_named_is_read)
{
	cr_expect(has("auto", 1, "/usr/lib/libextra.so"));
	cr_expect(has("cpu", 7, "/usr"));
}

Test(reach, all_else_is_not)
{
	cr_expect_not(has("auto", 1, "/srv/lib/libextra.so"));
	cr_expect_not(has("cpu", 1, "/usrlib/libextra.so"));
	cr_expect_not(has("cpu", 1, "/no/such/folder/libextra.so"));
}

Test(reach, folder_that_is_a_link_is_what_it_links_to)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)getpid());
	cr_expect(has("auto", 1, path));
}

Test(reach, nothing_is_closed_without_a_sandbox)
{
	cr_expect(has("trusted", 1, "/srv/lib/libextra.so"));
	cr_expect(has("auto", 0, "/srv/lib/libextra.so"));
}

Test(reach, older_daemon_that_does_not_say_closes_nothing)
{
	const modser_value nothing = {.kind = MODSER_MAP};

	cr_expect(msd_sandbox_path_check_has(&nothing, "/srv/lib/libextra.so"));
}
