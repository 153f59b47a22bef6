#include "proto/base/inherited.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define OWNER 0700

/* open() returns the lowest free number, and all below @fd are open. */
bool msd_inherited_open_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return false;
	}
	return true;
}

static void reset_signals(void)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &plain, NULL); /* fails for KILL and STOP */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Stop timers before the signals are reset: a pending ignored or blocked signal would
 * end the process. */
static void stop_timers(void)
{
	const struct itimerval never = {.it_value = {0}};

	(void)setitimer(ITIMER_REAL, &never, NULL);
	(void)setitimer(ITIMER_VIRTUAL, &never, NULL);
	(void)setitimer(ITIMER_PROF, &never, NULL);
}

void msd_inherited_reset(void)
{
	stop_timers();
	reset_signals();
	(void)umask(umask(OWNER) & ~(mode_t)OWNER);
}

msd_err msd_inherited_raise_file_size(uint64_t least, struct msd_diag *d)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_FSIZE, &r) != 0)
		return MSD_OK;
	if (r.rlim_cur != r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		(void)setrlimit(RLIMIT_FSIZE, &r);
	}
	if (r.rlim_max >= least)
		return MSD_OK;
	return msd_diag_set(d, MSD_REFUSED,
			    "RLIMIT_FSIZE is %llu bytes, and it counts the memory that "
			    "modserd shares with its workers; expected %llu or more: "
			    "raise it (ulimit -Hf, or LimitFSIZE= of a systemd unit)",
			    (unsigned long long)r.rlim_max, (unsigned long long)least);
}
