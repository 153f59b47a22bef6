#include <errno.h>
#include <signal.h>
#include <string.h>

#include "daemon/child/child.h"
#include "proto/base/errno_text.h"

/* Describes for people how a child ended. */

#define LAST_LINES 2

/* The last lines often contain the cause: output of the module and of the crash
 * handler. */
static void describe_words(const struct msd_child *c, struct msd_buf *out)
{
	size_t end = c->n_words;
	int lines = 0;

	while (end > 0 && (c->words[end - 1] == '\n' || c->words[end - 1] == '\r'))
		end--;
	size_t start = end;
	while (start > 0 && (c->words[start - 1] != '\n' || ++lines < LAST_LINES))
		start--;
	if (end > start) {
		msd_buf_printf(out, "; last words: %.*s", (int)(end - start),
			       c->words + start);
	}
}

/* Advice for the operator. */
static const char *advice(const struct msd_child *c)
{
	if (c->start_error == EACCES && c->has_user) {
		return ": let all users run it, and pass its folders (chmod o+x), for "
		       "worker-user";
	}
	if (c->start_error == ETIMEDOUT)
		return ": its program cannot be read: look at the disk that it is on";
	if (c->start_error == EBUSY) {
		return ": an earlier start could not be ended, for its program cannot "
		       "be read: look at the disk that it is on";
	}
	if (c->start_error == EAGAIN) {
		return ": no more processes and threads may be started: end some of "
		       "its "
		       "user's, or raise the limit (" MSD_RAISE_PROCESSES ")";
	}
	return "";
}

static void describe_start(const struct msd_child *c, struct msd_buf *out)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	msd_buf_printf(out, "starting %s: %s%s", c->program,
		       msd_errno_text(c->start_error, text), advice(c));
}

bool msd_child_was_killed(const struct msd_child *c)
{
	return c->kill_reason[0] != '\0' &&
	       (c->term_signal == SIGKILL || c->pidfd >= 0 || c->start_error != 0);
}

void msd_child_describe_end(const struct msd_child *c, struct msd_buf *out)
{
	if (c->is_left) {
		msd_buf_printf(out, "left to the next daemon");
	} else if (msd_child_was_killed(c)) {
		msd_buf_printf(out, "killed: %s", c->kill_reason);
	} else if (c->start_error != 0) {
		describe_start(c, out);
	} else if (c->pidfd >= 0) {
		msd_buf_printf(out,
			       "it has ended, and an earlier daemon had started it: "
			       "how is not known");
	} else if (c->term_signal != 0) {
		msd_buf_printf(out, "signal %s",
			       sigabbrev_np(c->term_signal) != NULL
				       ? sigabbrev_np(c->term_signal)
				       : "unknown");
	} else {
		msd_buf_printf(out, "exit status %d", (int)c->exit_status);
	}
	describe_words(c, out);
}
