#include "client/cli/deadline_option.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#include "client/cli/verbs/report.h"
#include "proto/base/clock.h"

static struct msd_buf
	last_words; /* prepared, because a signal handler cannot format it */

struct msd_due msd_due_begin(uint32_t in_ms)
{
	return (struct msd_due){.in_ms = in_ms, .since_ms = msd_now_ms()};
}

uint32_t msd_due_left_ms(const struct msd_due *due)
{
	const uint64_t elapsed_ms = msd_now_ms() - due->since_ms;

	if (due->in_ms == 0)
		return 0;
	return elapsed_ms < due->in_ms ? due->in_ms - (uint32_t)elapsed_ms : 1;
}

static void on_alarm(int number)
{
	(void)number;
	if (write(STDERR_FILENO, last_words.p, last_words.n) < 0)
		_exit(MSD_EXIT_DEADLINE); /* a failed write cannot be reported */
	_exit(MSD_EXIT_DEADLINE);
}

static void set_timer(uint32_t ms)
{
	const struct itimerval in = {
		.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};

	(void)setitimer(ITIMER_REAL, &in, NULL);
}

bool msd_due_guard(const struct msd_due *due, const char *what)
{
	const struct sigaction alarm = {.sa_handler = on_alarm};
	char message[512];
	const modser_error e = {MODSER_DEADLINE, msd_err_name(MSD_DEADLINE), message,
				"give more time with --deadline"};

	if (due->in_ms == 0)
		return true;
	(void)snprintf(message, sizeof(message),
		       "%.400s by the deadline; nothing was sent to a daemon", what);
	msd_report_put(&last_words, &e);
	if (last_words.bad)
		return false;
	(void)sigaction(SIGALRM, &alarm, NULL);
	set_timer(msd_due_left_ms(due));
	return true;
}

void msd_due_unguard(void)
{
	set_timer(0);
	msd_buf_finish(&last_words);
}
