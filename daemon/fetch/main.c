/* modserd-fetch: gets models for modserd. CHANNEL.md says how they talk. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "daemon/fetch/desk.h"

#define CHANNEL_FD 3 /* where the supervisor put it */

static int fail(const char *why)
{
	(void)fprintf(stderr, "modserd-fetch: %s\n", why);
	return 2;
}

int main(int argc, char **argv)
{
	static struct msd_desk desk;
	struct msd_diag d = {0};
	uv_loop_t loop;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)printf("modserd-fetch %s\n", MSD_VERSION);
		return 0;
	}
	if (argc != 2 || strcmp(argv[1], "--channel") != 0)
		return fail("started by modserd, not by hand");
	/* The end of the channel ends it, too. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	const int rc = uv_loop_init(&loop);
	if (rc != 0)
		return fail(uv_strerror(rc));
	if (msd_desk_open(&desk, &loop, CHANNEL_FD, &d) != MSD_OK)
		return fail(msd_diag_text(&d));
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	return 0;
}
