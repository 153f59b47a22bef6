#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/address.h"
#include "proto/address_list.h"

static msd_err parse(const char *text, struct msd_address *ret)
{
	return msd_address_parse(text, ret, NULL);
}

Test(address, reads_and_writes_both_forms)
{
	static const char *const good[] = {
		"unix:/tmp/m.sock",      "unix:m.sock",       "tcp://127.0.0.1:9190",
		"tcp://[::1]:9190",      "tcp://localhost:0", "tcp://[fe80::1]:65535",
		"tcp://edge-7.example:1"};
	struct msd_address a;
	char text[MSD_ADDRESS_TEXT_MAX];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_assert_eq(parse(good[i], &a), MSD_OK, "%s", good[i]);
		cr_assert_str_eq(msd_address_format(&a, text), good[i]);
	}
}

Test(address, a_comma_parts_a_list_only_where_another_form_follows)
{
	struct msd_address_list list;

	cr_assert_eq(
		msd_address_list_parse("unix:/a,b,tcp://h:1,tls://h:2", &list, NULL),
		MSD_OK);
	cr_assert_eq(list.n, 3);
	cr_expect_str_eq(list.at[0].path, "/a,b");
	cr_expect_eq(list.at[1].kind, MSD_ADDRESS_TCP);
	cr_expect_eq(list.at[2].port, 2);
	cr_expect(msd_address_list_has("unix:/a,b,tcp://h:1", "tcp://"));
	cr_expect_not(msd_address_list_has("unix:/a,b/tcp://h:1", "tcp://"));
}

Test(address, refuses_what_is_neither_form)
{
	static const char *const bad[] = {"",
					  "unix:",
					  "unix",
					  "/tmp/m.sock",
					  "tcp:127.0.0.1:1",
					  "tcp://",
					  "tcp://h",
					  "tcp://:1",
					  "tcp://h:",
					  "tcp://h:65536",
					  "tcp://h:-1",
					  "tcp://h:1x",
					  "tcp://::1:9190",
					  "tcp://[::1]",
					  "tcp://[]:1",
					  "tcp://[::1:2",
					  "http://h:1"};
	struct msd_address a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(parse(bad[i], &a), MSD_BAD_REQUEST, "%s", bad[i]);
}

Test(address, says_what_was_meant_by_what_others_take)
{
	static const char *const pairs[][2] = {
		{"/tmp/m.sock", "perhaps unix:/tmp/m.sock"},
		{"./m.sock", "perhaps unix:./m.sock"},
		{"localhost:9190", "perhaps tcp://localhost:9190; expected"},
		{"http://h:1", "modser does not use HTTP"},
		{"ftp://h:1", "unknown form"},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct msd_diag d = {0};
		struct msd_address a;

		cr_assert_eq(msd_address_parse(pairs[i][0], &a, &d), MSD_BAD_REQUEST);
		cr_expect_not_null(strstr(msd_diag_text(&d), pairs[i][1]), "%s",
				   msd_diag_text(&d));
		msd_diag_finish(&d);
	}
}

Test(address, refuses_a_path_that_no_socket_can_have)
{
	char text[5 + MSD_ADDRESS_PATH_MAX + 2] = "unix:";
	struct msd_address a;

	memset(text + 5, 'a', MSD_ADDRESS_PATH_MAX);
	cr_assert_eq(parse(text, &a), MSD_OK);
	text[5 + MSD_ADDRESS_PATH_MAX] = 'a';
	cr_assert_eq(parse(text, &a), MSD_BAD_REQUEST);
}

Test(address, refuses_a_directory_open_to_others)
{
	char dir[] = "/tmp/msd-address-XXXXXX";
	struct msd_address a = {.kind = MSD_ADDRESS_UNIX};

	cr_assert_not_null(mkdtemp(dir));
	(void)snprintf(a.path, sizeof(a.path), "%s/modserd.sock", dir);
	a.own_dir_bytes = (uint32_t)strlen(dir);
	cr_expect_eq(msd_address_check_dir(&a, NULL), MSD_OK);
	cr_expect_eq(chmod(dir, 0750), 0);
	cr_expect_eq(msd_address_check_dir(&a, NULL), MSD_REFUSED);
	cr_expect_eq(rmdir(dir), 0);
	cr_expect_eq(msd_address_check_dir(&a, NULL), MSD_OK, "absent: to be made");
}
