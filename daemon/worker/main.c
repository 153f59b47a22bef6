/* modserd-worker: runs one module for modserd. CHANNEL.md describes their protocol. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "daemon/confine/crash.h"
#include "daemon/confine/process.h"
#include "daemon/mark.h"
#include "daemon/worker/devices.h"
#include "daemon/worker/gauges.h"
#include "daemon/worker/process.h"
#include "daemon/worker/queue.h"
#include "proto/base/inherited.h"

static int fail(const struct msd_diag *d)
{
	(void)fprintf(stderr, "modserd-worker: %s\n", msd_diag_text(d));
	return 2;
}

static bool take_word(int argc, char **argv, int *at, const char *word)
{
	if (*at >= argc || strcmp(argv[*at], word) != 0)
		return false;
	(*at)++;
	return true;
}

/* `--name NAME` is only for process lists; worker.open sets the actual name. The
 * other options say which descriptors are passed. */
static bool read_args(int argc, char **argv, struct msd_process_given *ret)
{
	int at = 3;

	if (argc < 3 || strcmp(argv[1], "--name") != 0)
		return false;
	ret->is_kept = take_word(argc, argv, &at, "--keep");
	ret->has_group = take_word(argc, argv, &at, "--group");
	return at == argc;
}

int main(int argc, char **argv)
{
	static struct msd_worker worker;
	struct msd_diag d = {0};
	uv_loop_t loop;
	struct msd_process_given given;

	if (!msd_inherited_open_standard())
		return 2;
	msd_mark_set();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)printf("modserd-worker %s\n", MSD_VERSION);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--device-gauges") == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		return msd_gauges_print();
	}
	if (argc >= 2 && strcmp(argv[1], "--devices") == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		return msd_devices_print(argv + 2, (size_t)(argc - 2));
	}
	if (!read_args(argc, argv, &given)) {
		(void)fprintf(stderr,
			      "modserd-worker: only modserd can start this program\n");
		return 2;
	}
	if (msd_process_prepare(&given, &d) != MSD_OK)
		return fail(&d);
	msd_crash_install("modserd-worker");
	int rc = uv_loop_init(&loop);
	if (rc != 0) {
		(void)fprintf(stderr, "modserd-worker: %s\n", uv_strerror(rc));
		return 2;
	}
	if (msd_worker_start(&worker, &loop, &given, &d) != MSD_OK)
		return fail(&d);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	msd_confine_exit(0);
}
