#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/edge/access/principal.h"

static msd_err ask(enum msd_address_kind kind, bool load_tcp, enum msd_method method)
{
	const struct msd_principal p = msd_principal_of(kind, load_tcp);

	return msd_principal_check(&p, method, NULL);
}

Test(principal, on_a_unix_socket_may_all_that_a_client_may)
{
	for (int i = 0; i < MSD_M_COUNT; i++) {
		const struct msd_method_row *row = msd_method_row((enum msd_method)i);
		cr_expect_eq(ask(MSD_ADDRESS_UNIX, false, (enum msd_method)i),
			     row->where == 'L' ? MSD_REFUSED : MSD_OK, "%s", row->name);
	}
}

Test(principal, over_tcp_may_not_load_unless_the_operator_said_so)
{
	static const enum msd_method loading[] = {
		MSD_M_MODULE_UPLOAD, MSD_M_MODULE_LOAD, MSD_M_MODULE_UNLOAD,
		MSD_M_MODULE_READ, MSD_M_SERVER_RELOAD};

	for (unsigned i = 0; i < 5; i++) {
		cr_expect_eq(ask(MSD_ADDRESS_TCP, false, loading[i]), MSD_REFUSED);
		cr_expect_eq(ask(MSD_ADDRESS_TCP, true, loading[i]), MSD_OK);
	}
	cr_expect_eq(ask(MSD_ADDRESS_TCP, false, MSD_M_CALL), MSD_OK);
	cr_expect_eq(ask(MSD_ADDRESS_TCP, false, MSD_M_MODULE_LIST), MSD_OK);
	cr_expect_eq(ask(MSD_ADDRESS_TCP, true, MSD_M_WORKER_OPEN), MSD_REFUSED);
}

Test(principal, that_is_refused_is_told_what_would_allow_it)
{
	const struct msd_principal p = msd_principal_of(MSD_ADDRESS_TCP, false);
	struct msd_diag d = {0};

	cr_expect_eq(msd_principal_check(&p, MSD_M_MODULE_LOAD, &d), MSD_REFUSED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "--allow-load-tcp"));
	cr_expect_eq(msd_principal_check(&p, MSD_M_WORKER_OPEN, &d), MSD_REFUSED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "worker.open"));
	msd_diag_finish(&d);
}

Test(principal, may_ask_for_what_is_no_method)
{
	cr_expect_eq(ask(MSD_ADDRESS_TCP, false, MSD_M_COUNT), MSD_OK,
		     "that there is none of the name is not the principal's to say");
}
