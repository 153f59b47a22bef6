#include "daemon/supervisor/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "proto/base/errno_text.h"

static sigset_t heard(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	(void)sigaddset(&set, SIGUSR1);
	return set;
}

void msd_signals_hold(void)
{
	const sigset_t set = heard();

	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct msd_signals *s = poll->data;
	struct signalfd_siginfo info;

	(void)status;
	(void)events;
	if (read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		s->on_signal(s, (int)info.ssi_signo);
}

msd_err msd_signals_open(struct msd_signals *s, uv_loop_t *loop,
			 void (*on_signal)(struct msd_signals *s, int number),
			 struct msd_diag *d)
{
	const sigset_t set = heard();
	char text[MSD_ERRNO_TEXT_BYTES];

	msd_signals_hold();
	s->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->fd < 0) {
		return msd_diag_set(d, MSD_IO, "signals: %s",
				    msd_errno_text(errno, text));
	}
	s->on_signal = on_signal;
	(void)uv_poll_init(loop, &s->poll, s->fd);
	s->poll.data = s;
	(void)uv_poll_start(&s->poll, UV_READABLE, on_readable);
	return MSD_OK;
}

void msd_signals_close(struct msd_signals *s)
{
	uv_close((uv_handle_t *)&s->poll, NULL);
	(void)close(s->fd);
}
