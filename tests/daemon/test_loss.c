#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "daemon/supervisor/module/workers/loss.h"

struct row {
	enum msd_loss loss;
	int signal;
	bool was_running;
	msd_err code;
	bool blames_input;
	const char *hint; /* a part of it; NULL: the code's own */
};

static const struct row rows[] = {
	{MSD_LOSS_DEATH, SIGFPE, true, MSD_WORKER_LOST, true, "check the input"},
	{MSD_LOSS_DEATH, SIGSEGV, true, MSD_WORKER_LOST, true, "check the input"},
	{MSD_LOSS_DEATH, SIGILL, true, MSD_WORKER_LOST, true, "check the input"},
	{MSD_LOSS_DEATH, SIGBUS, true, MSD_WORKER_LOST, true, "check the input"},
	{MSD_LOSS_DEATH, SIGABRT, true, MSD_WORKER_LOST, true, "check the input"},
	{MSD_LOSS_DEATH, SIGKILL, true, MSD_WORKER_LOST, false, NULL},
	{MSD_LOSS_DEATH, 0, true, MSD_WORKER_LOST, false, NULL},
	{MSD_LOSS_DEATH, SIGFPE, false, MSD_WORKER_LOST, false, NULL},
	{MSD_LOSS_DEVICE, 0, true, MSD_GPU_FAULT, false, NULL},
	{MSD_LOSS_OVERRUN, SIGKILL, false, MSD_WORKER_LOST, false, NULL},
	{MSD_LOSS_TOO_LONG, SIGKILL, true, MSD_DEADLINE, false, "--max-run"},
	{MSD_LOSS_TOO_LONG, SIGKILL, false, MSD_WORKER_LOST, false, NULL},
	{MSD_LOSS_IN_WAY, SIGKILL, true, MSD_CANCELLED, false, NULL},
	{MSD_LOSS_IN_WAY, SIGKILL, false, MSD_WORKER_LOST, false, NULL},
};

Test(loss, each_is_told_by_its_own_code_and_hint)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct msd_lost lost = {rows[i].loss, rows[i].signal, "how"};
		struct msd_diag d = {0};

		msd_loss_explain("m", &lost, rows[i].was_running, &d);
		cr_expect_eq(d.code, rows[i].code, "row %zu: %d", i, (int)d.code);
		cr_expect_eq(strstr(msd_diag_text(&d), "its input may have") != NULL,
			     rows[i].blames_input, "row %zu: %s", i, msd_diag_text(&d));
		cr_expect((d.hint == NULL) == (rows[i].hint == NULL), "row %zu", i);
		if (d.hint != NULL && rows[i].hint != NULL) {
			cr_expect(strstr(d.hint, rows[i].hint), "row %zu: %s", i,
				  d.hint);
		}
		msd_diag_finish(&d);
	}
}
