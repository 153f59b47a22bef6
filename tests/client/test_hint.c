#include <criterion/criterion.h>
#include <string.h>

#include "client/modser.h"
#include "tests/client/peer.h"

Test(hint, hands_over_an_error_with_name_text_and_hint)
{
	struct peer p = peer_open();
	modser_result *r;

	peer_refuse(&p, 1, MSD_NOT_FOUND, "no module \"x\"");
	cr_assert_eq(modser_call(p.client, "x:f", NULL, 0, NULL, &r), MODSER_NOT_FOUND);
	const modser_error *e = modser_result_error(r);
	cr_expect_str_eq(e->name, "NOT_FOUND");
	cr_expect_str_eq(e->message, "no module \"x\"");
	cr_expect_neq(strlen(e->hint), 0);
	cr_expect_null(modser_result_value(r));
	modser_result_free(r);
	peer_close(&p);
}

Test(hint, advises_by_what_was_asked_for)
{
	const modser_value name = modser_str("m");
	struct peer p = peer_open();
	modser_result *r;

	peer_refuse(&p, 1, MSD_NOT_FOUND, "file:///nowhere");
	cr_assert_eq(modser_request(p.client, "module.pull", &name, 1, NULL, &r),
		     MODSER_NOT_FOUND);
	cr_expect_not_null(strstr(modser_result_error(r)->hint, "URI"));
	cr_expect_null(strstr(modser_result_error(r)->hint, "modser ls"));
	modser_result_free(r);
	peer_close(&p);
}

/* What is to be done when @method is refused as @code has the word @of. */
static void expect_advice(const char *method, msd_err code, const char *of)
{
	const modser_value name = modser_str("m");
	struct peer p = peer_open();
	modser_result *r;

	peer_refuse(&p, 1, code, "so it is");
	cr_assert_eq((msd_err)modser_request(p.client, method, &name, 1, NULL, &r),
		     code);
	const char *hint = modser_result_error(r)->hint;
	cr_expect_not_null(strstr(hint, of), "%s: %s", method, hint);
	cr_expect_null(strstr(hint, "FILE"), "%s: %s", method, hint);
	cr_expect_null(strstr(hint, "URI"), "%s: %s", method, hint);
	modser_result_free(r);
	peer_close(&p);
}

Test(hint, advises_what_helps_a_store)
{
	expect_advice("module.pull", MSD_BUSY, "--store DIR");
	expect_advice("module.rollback", MSD_BAD_ARTIFACT, "modser store verify");
}
