#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fetch/transfer/network_options.h"

static msd_err check(const char *named, const char *registry, const char *to,
		     struct msd_diag *d)
{
	struct msd_network_options r;
	struct msd_uri a, b;

	cr_assert_eq(msd_network_options_init(
			     &r, (struct msd_span){0}, (struct msd_span){0},
			     (struct msd_span){0}, msd_span_of(named), NULL),
		     MSD_OK);
	cr_assert_eq(msd_uri_read(registry, true, &a, NULL), MSD_OK);
	cr_assert_eq(msd_uri_read(to, true, &b, NULL), MSD_OK);
	const msd_err err = msd_network_options_check_realm(&r, &a, &b, d);
	msd_uri_finish(&a);
	msd_uri_finish(&b);
	msd_network_options_finish(&r);
	return err;
}

#define BASE "https://registry.example/v2/m"

Test(reach, a_name_goes_to_the_registrys_own_server)
{
	cr_expect_eq(check("", BASE, "https://registry.example/token", NULL), MSD_OK);
	cr_expect_eq(check("", BASE, "https://Registry.example:443/t", NULL), MSD_OK);
}

Test(reach, a_name_goes_to_no_other_scheme_host_or_port)
{
	static const char *const others[] = {
		"https://evil.example/token", "https://registry.example:5000/token",
		"http://registry.example:443/token", "https://registry.example.evil/t",
		"https://aregistry.example/t"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		cr_expect_eq(check("", BASE, others[i], NULL), MSD_REFUSED, "%s",
			     others[i]);
		cr_expect_eq(check("auth.example", BASE, others[i], NULL), MSD_REFUSED,
			     "%s", others[i]);
	}
}

Test(reach, a_name_goes_to_the_servers_that_the_owner_names)
{
	cr_expect_eq(check("auth.example", BASE, "https://auth.example/t", NULL),
		     MSD_OK);
	cr_expect_eq(check("a.example:81, auth.example", BASE, "https://auth.example/t",
			   NULL),
		     MSD_OK);
	cr_expect_eq(check("auth.example,a.example:81", BASE, "https://a.example:81/t",
			   NULL),
		     MSD_OK);
	cr_expect_eq(check("a.example:81", BASE, "https://a.example/t", NULL),
		     MSD_REFUSED);
}

Test(reach, the_refusal_says_which_server_to_name)
{
	struct msd_diag d = {0};

	cr_assert_eq(check("", BASE, "https://auth.example/t?k=secret", &d),
		     MSD_REFUSED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "realm = \"auth.example:443\""));
	cr_expect_null(strstr(msd_diag_text(&d), "secret"));
	msd_diag_finish(&d);
}
