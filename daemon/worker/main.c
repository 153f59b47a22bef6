/* modserd-worker: runs one module for modserd. CHANNEL.md says how they talk. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "daemon/mark.h"
#include "daemon/worker/crash.h"
#include "daemon/worker/devices.h"
#include "daemon/worker/gauges.h"
#include "daemon/worker/process.h"
#include "daemon/worker/queue.h"

static int fail(const struct msd_diag *d)
{
	(void)fprintf(stderr, "modserd-worker: %s\n", msd_diag_text(d));
	return 2;
}

static bool has_group(int argc, char **argv)
{
	return argc == 4 && strcmp(argv[3], "--group") == 0;
}

/* `--name NAME` is for those who read process lists; worker.open says what counts. */
static bool args_ok(int argc, char **argv)
{
	return (argc == 3 || has_group(argc, argv)) && strcmp(argv[1], "--name") == 0;
}

int main(int argc, char **argv)
{
	static struct msd_worker worker;
	struct msd_diag d = {0};
	uv_loop_t loop;
	int channel_fd;
	int artifact_fd;

	msd_mark_take();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)printf("modserd-worker %s\n", MSD_VERSION);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--device-gauges") == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		return msd_gauges_print();
	}
	if (argc == 2 && strcmp(argv[1], "--devices") == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		return msd_devices_print();
	}
	if (!args_ok(argc, argv)) {
		(void)fprintf(stderr,
			      "modserd-worker: started by modserd, not by hand\n");
		return 2;
	}
	if (msd_process_prepare(has_group(argc, argv), &channel_fd, &artifact_fd, &d) !=
	    MSD_OK)
		return fail(&d);
	msd_crash_install();
	int rc = uv_loop_init(&loop);
	if (rc != 0) {
		(void)fprintf(stderr, "modserd-worker: %s\n", uv_strerror(rc));
		return 2;
	}
	if (msd_worker_start(&worker, &loop, channel_fd, artifact_fd, &d) != MSD_OK)
		return fail(&d);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	msd_worker_exit(0);
}
