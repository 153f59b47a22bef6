#include "client/transport/sigpipe.h"

#include <errno.h>
#include <stddef.h>

static sigset_t pipe_alone(void)
{
	sigset_t s;

	(void)sigemptyset(&s);
	(void)sigaddset(&s, SIGPIPE);
	return s;
}

void msd_sigpipe_begin(struct msd_sigpipe *ret)
{
	const sigset_t pipe = pipe_alone();

	(void)sigpending(&ret->waiting);
	(void)pthread_sigmask(SIG_BLOCK, &pipe, &ret->before);
}

void msd_sigpipe_end(const struct msd_sigpipe *q)
{
	const struct timespec now = {0};
	const sigset_t pipe = pipe_alone();
	const int error = errno;

	if (error == EPIPE && sigismember(&q->waiting, SIGPIPE) == 0)
		(void)sigtimedwait(&pipe, NULL, &now);
	(void)pthread_sigmask(SIG_SETMASK, &q->before, NULL);
	errno = error;
}
