#include "daemon/child/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/child/start.h"

/*
 * Happy path: a start enters the queue with copies of everything that it needs. The
 * thread handles the first one. Its reply removes the start from the queue, the next
 * one is sent, and the owner is notified.
 *
 * Failures:
 *   - the child has stored an errno: it has ended, and is waited for here
 *   - it has no program in time: it is killed, and then the thread replies
 *   - no reply a second later either (a disk that does not answer at all): all queued
 *     starts fail, and new ones, until the reply arrives
 */

#define KILLED_MS 1000u  /* for a killed process to end */
#define BIRTH_MS 1u      /* interval of checks for a process to kill */
#define CLOSE_ROUNDS 100 /* of 10 ms each: the same time at the daemon's end */
#define CLOSE_ROUND_NS 10000000

/* The process was not waited for yet, so its id cannot be reused. */
static void kill_born(const struct msd_start *start)
{
	const pid_t born = msd_start_born(start);

	if (born > 0)
		(void)kill(born, SIGKILL);
}

static void tell(struct msd_start *start, pid_t pid, int error)
{
	const msd_start_fn on_begun = start->on_begun;

	start->on_begun = NULL;
	if (on_begun != NULL)
		on_begun(start->user, pid, error);
}

static void on_late(uv_timer_t *timer);

static int send_first(struct msd_starter *s)
{
	const int error = msd_spawn_thread_ask(s->to_thread, &s->first->birth);

	if (error == 0)
		(void)uv_timer_start(&s->late, on_late, s->patience_ms, 0);
	return error;
}

static struct msd_start *take_first(struct msd_starter *s)
{
	struct msd_start *start = s->first;

	s->first = start->next;
	if (s->first == NULL)
		s->last = &s->first;
	return start;
}

/* Remove it from the queue first: the callback may begin other starts. */
static void end_first(struct msd_starter *s, int error)
{
	struct msd_start *start = take_first(s);

	tell(start, -1, error);
	msd_start_free(start);
}

/* The queued starts fail in order; the first stays, because the thread works on it. */
static void be_stuck(struct msd_starter *s)
{
	struct msd_start *first = s->first;

	s->is_stuck = true;
	tell(first, -1, ETIMEDOUT);
	while (first->next != NULL) {
		struct msd_start *start = first->next;
		first->next = start->next;
		if (first->next == NULL)
			s->last = &first->next;
		tell(start, -1, EBUSY);
		msd_start_free(start);
	}
}

static void on_soon(uv_timer_t *timer);

/* The thread may not have made the process yet: then check again. */
static void kill_first(struct msd_starter *s)
{
	if (s->first == NULL || !s->first->is_cancelled)
		return;
	kill_born(s->first);
	if (msd_start_born(s->first) == 0)
		(void)uv_timer_start(&s->soon, on_soon, BIRTH_MS, 0);
}

/* The callback may begin, cancel and drop other starts, so start again each time. */
static void tell_cancelled(struct msd_starter *s)
{
	struct msd_start **at = s->first != NULL ? &s->first->next : &s->first;

	while (*at != NULL) {
		struct msd_start *start = *at;
		if (!start->is_cancelled) {
			at = &start->next;
			continue;
		}
		*at = start->next;
		if (*at == NULL)
			s->last = at;
		tell(start, -1, ECANCELED);
		msd_start_free(start);
		at = s->first != NULL ? &s->first->next : &s->first;
	}
}

static void on_soon(uv_timer_t *timer)
{
	struct msd_starter *s = timer->data;

	tell_cancelled(s);
	kill_first(s);
}

void msd_starter_cancel(struct msd_starter *s, struct msd_start *start)
{
	start->is_cancelled = true;
	(void)uv_timer_start(&s->soon, on_soon, 0, 0);
}

static void on_late(uv_timer_t *timer)
{
	struct msd_starter *s = timer->data;

	kill_born(s->first);
	if (s->first->is_late) {
		be_stuck(s);
		return;
	}
	s->first->is_late = true;
	(void)uv_timer_start(&s->late, on_late, KILLED_MS, 0);
}

static bool hear(int fd, char *ret)
{
	ssize_t n;

	do {
		n = recv(fd, ret, 1, 0);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

/* Clean up after the first start, which has its reply. True if no process is left. */
static bool has_failed(const struct msd_start *start)
{
	const struct msd_spawn_thread *b = &start->birth;

	if (b->error == 0 && !start->is_late && start->on_begun != NULL)
		return false;
	/* The process id is not reused yet: the reaper may see it, too. */
	if (b->pid > 0 && waitpid(b->pid, NULL, WNOHANG) == 0) {
		(void)kill(b->pid, SIGKILL);
		(void)waitpid(b->pid, NULL, 0);
	}
	return true;
}

static void send_next(struct msd_starter *s)
{
	while (s->first != NULL) {
		const bool is_wanted =
			s->first->on_begun != NULL && !s->first->is_cancelled;
		const int error = is_wanted ? send_first(s) : ECANCELED;
		if (error == 0)
			return;
		end_first(s, error);
	}
}

static void on_heard(uv_poll_t *poll, int status, int events)
{
	struct msd_starter *s = poll->data;
	char answer;

	(void)status;
	(void)events;
	if (s->first == NULL || !hear(s->to_thread, &answer))
		return;
	struct msd_start *start = take_first(s);
	const bool failed = has_failed(start);
	const int error = start->is_late ? ETIMEDOUT : start->birth.error;

	(void)uv_timer_stop(&s->late);
	s->is_stuck = false;
	send_next(s); /* the thread works while the owner's callback runs */
	tell(start, failed ? -1 : start->birth.pid, error);
	msd_start_free(start);
}

int msd_starter_begin(struct msd_starter *s, const struct msd_spawn_thread_how *how,
		      msd_start_fn on_begun, void *user, struct msd_start **ret)
{
	struct msd_start *start;
	int error;

	if (s->to_thread < 0)
		return s->error;
	if (s->is_stuck)
		return EBUSY;
	start = calloc(1, sizeof(*start));
	if (start == NULL)
		return ENOMEM;
	start->birth.pid = -1;
	start->on_begun = on_begun;
	start->user = user;
	error = msd_start_copy(start, how);
	if (error != 0) {
		msd_start_free(start);
		return error;
	}
	*s->last = start;
	s->last = &start->next;
	error = s->first == start ? send_first(s) : 0;
	if (error != 0) {
		msd_start_free(take_first(s));
		return error;
	}
	*ret = start;
	return 0;
}

void msd_starter_give_up(struct msd_starter *s, struct msd_start *start)
{
	start->on_begun = NULL;
	msd_starter_cancel(s, start);
}

/* Start the thread with all signals blocked: the loop handles them, and a child only
 * after its exec. */
static int start_thread(struct msd_starter *s, struct msd_spawn_thread_room *room)
{
	sigset_t all, before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error =
		pthread_create(&s->thread, NULL, msd_spawn_thread_serve, room);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static void close_ends(struct msd_starter *s)
{
	if (s->to_thread >= 0)
		(void)close(s->to_thread);
	if (s->thread_end >= 0)
		(void)close(s->thread_end);
	s->to_thread = s->thread_end = -1;
}

/* Use numbers above standard error, even if those are closed. */
static int open_ends(struct msd_starter *s)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return errno;
	s->to_thread = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
	s->thread_end = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
	const int error = s->to_thread < 0 || s->thread_end < 0 ? errno : 0;
	(void)close(ends[0]);
	(void)close(ends[1]);
	return error;
}

static int have_thread(struct msd_starter *s)
{
	char is_ready = 0;
	int error = open_ends(s);
	struct msd_spawn_thread_room room = {.channel = s->thread_end};

	if (error == 0)
		error = start_thread(s, &room);
	if (error != 0)
		return error;
	if (!hear(s->to_thread, &is_ready) || !is_ready) {
		(void)pthread_join(s->thread, NULL);
		return ENOMEM;
	}
	s->thread_id = room.thread_id;
	if (!room.shares_table) { /* the thread has a copy */
		(void)close(s->thread_end);
		s->thread_end = -1;
	}
	return 0;
}

static void join_thread(struct msd_starter *s)
{
	(void)shutdown(s->to_thread, SHUT_RDWR);
	(void)pthread_join(s->thread, NULL);
	s->thread_id = 0;
}

void msd_starter_open(struct msd_starter *s, uv_loop_t *loop)
{
	*s = (struct msd_starter){.to_thread = -1,
				  .thread_end = -1,
				  .patience_ms = MSD_STARTER_PATIENCE_MS};
	s->last = &s->first;
	s->error = have_thread(s);
	if (s->error == 0) {
		s->error = -uv_poll_init(loop, &s->heard, s->to_thread);
		if (s->error != 0)
			join_thread(s);
	}
	if (s->error != 0) {
		close_ends(s);
		return;
	}
	(void)uv_timer_init(loop, &s->late);
	(void)uv_timer_init(loop, &s->soon);
	s->heard.data = s->late.data = s->soon.data = s;
	(void)uv_poll_start(&s->heard, UV_READABLE, on_heard);
	uv_unref((uv_handle_t *)&s->heard);
	uv_unref((uv_handle_t *)&s->late);
	uv_unref((uv_handle_t *)&s->soon);
}

/* False if it waits for a child that cannot be killed. */
static bool end_thread(struct msd_starter *s)
{
	for (int i = 0; i < CLOSE_ROUNDS; i++) {
		struct timespec until;

		if (s->first != NULL)
			kill_born(s->first);
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += CLOSE_ROUND_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_timedjoin_np(s->thread, NULL, &until) == 0)
			return true;
	}
	(void)pthread_detach(s->thread);
	return false;
}

void msd_starter_close(struct msd_starter *s)
{
	if (s->to_thread < 0)
		return;
	(void)shutdown(s->to_thread, SHUT_RDWR);
	const bool is_ended = end_thread(s);
	if (s->first != NULL) {
		struct msd_start *first = take_first(s);
		first->on_begun = NULL;
		if (is_ended) { /* otherwise the thread uses it */
			(void)has_failed(first);
			msd_start_free(first);
		}
	}
	while (s->first != NULL)
		msd_start_free(take_first(s));
	uv_close((uv_handle_t *)&s->heard, NULL);
	uv_close((uv_handle_t *)&s->late, NULL);
	uv_close((uv_handle_t *)&s->soon, NULL);
	close_ends(s);
}
