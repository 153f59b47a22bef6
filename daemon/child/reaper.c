#include "daemon/child/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Happy path: a child exits; the list of the daemon's children, read from /proc, has
 * no process with its mark; on_alone.
 *
 * Failures:
 *   - processes with its mark exist: they are killed, and their children enter
 *     the list. It is read until none is found, again at each SIGCHLD and periodically
 *   - they start more as fast as they are killed: the scan uses a part of the loop's
 *     time, and after GIVE_UP_MS of scans on_alone is called. The rest then has an
 *     unknown mark, and is killed when found
 *   - the kernel lists no children (CONFIG_PROC_CHILDREN): nothing is found
 */

#define MARKS_FROM (UINT64_C(1) << 62) /* microseconds: no real limit is as long */
#define ROUNDS 8                       /* passes of one scan */
#define GIVE_UP_MS 5000u
#define LOOK_MS 50u     /* a longer gap means that the loop was blocked */
#define REST_FACTOR 20u /* a scan may use this fraction of the loop's time */
#define END_ROUNDS 5000 /* 1 ms each; wait for dying processes */

/* Identified by its mark, which its descendants also have. */
struct msd_reaper_left {
	struct msd_reaper_left *next;
	struct msd_mark mark;
};

static bool is_left(const struct msd_reaper *r, struct msd_mark mark)
{
	const struct msd_reaper_left *l = r->left;

	while (l != NULL && !msd_mark_is(l->mark, mark))
		l = l->next;
	return l != NULL;
}

static pid_t number_of(const struct msd_ward *w)
{
	return w->start != NULL ? msd_start_born(w->start) : w->pid;
}

/* Includes a child that is being started: it has no mark yet, and its starter waits
 * for it. */
static const struct msd_ward *living(const struct msd_reaper *r, pid_t pid)
{
	for (const struct msd_ward *w = r->wards; w != NULL; w = w->next) {
		if (number_of(w) == pid && !w->is_dead)
			return w;
	}
	return NULL;
}

static struct msd_ward *owner_of(const struct msd_reaper *r, struct msd_mark mark)
{
	struct msd_ward *w = r->wards;

	while (w != NULL && !msd_mark_is(w->mark, mark))
		w = w->next;
	return w;
}

/* Check a child of the daemon that may be an orphan. True if it was killed. */
static bool meet(struct msd_reaper *r, pid_t pid)
{
	bool is_killed = false;
	struct msd_mark mark;

	if (living(r, pid) != NULL)
		return false;
	if (!msd_mark_of(pid, &mark)) { /* no free descriptor: scan again */
		r->has_strays = r->has_strays || errno == EMFILE || errno == ENFILE;
	} else if (!msd_mark_is(mark, r->unmarked) && !is_left(r, mark)) {
		struct msd_ward *owner = owner_of(r, mark);
		is_killed =
			(owner == NULL || owner->is_dead) && kill(pid, SIGKILL) == 0;
		if (owner != NULL) {
			owner->has_heirs = true;
		} else {
			r->has_strays = true;
		}
	}
	(void)waitpid(pid, NULL, WNOHANG); /* reap it if dead, with any mark */
	return is_killed;
}

/* True if some were killed. */
static bool scan_list(struct msd_reaper *r, int list_fd)
{
	char bytes[4096];
	bool is_any = false;
	off_t at = 0;
	pid_t pid = 0;
	ssize_t n;

	for (; (n = pread(list_fd, bytes, sizeof(bytes), at)) > 0; at += n) {
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] >= '0' && bytes[i] <= '9') {
				pid = 10 * pid + (bytes[i] - '0');
				continue;
			}
			is_any = (pid != 0 && meet(r, pid)) || is_any;
			pid = 0;
		}
	}
	return is_any;
}

static bool scan(struct msd_reaper *r)
{
	const bool is_any = scan_list(r, r->list_fds[0]);

	return scan_list(r, r->list_fds[1]) || is_any;
}

/* Call on_alone where it is due; not while a stray process is dying, which may belong
 * to any child. The callback may end other children, so start again each time. */
static bool tell(struct msd_reaper *r)
{
	struct msd_ward *w = r->wards;
	bool is_any_left = false;

	while (w != NULL) {
		const bool is_late = r->looked_ms - w->died_ms > r->give_up_ms;
		if (w->is_waiting && (is_late || (!w->has_heirs && !r->has_strays))) {
			w->is_waiting = false;
			w->on_alone(w);
			w = r->wards;
			is_any_left = false;
			continue;
		}
		is_any_left = is_any_left || w->is_waiting;
		w = w->next;
	}
	return is_any_left;
}

static void on_again(uv_timer_t *timer);

/* Read twice: a process that ends during the read may hide its neighbour. */
static bool scan_surely(struct msd_reaper *r)
{
	const bool is_any = scan(r);

	return scan(r) || is_any;
}

/* CPU time of this thread: time on the processor used by other threads is not the
 * loop's. */
static uint64_t used_ns(void)
{
	struct timespec t = {0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void look(struct msd_reaper *r)
{
	const uint64_t began = used_ns(), passed = uv_now(r->loop) - r->last_ms;
	bool is_any = true;
	bool is_any_left = true;

	r->looked_ms += passed < LOOK_MS ? passed : LOOK_MS;
	r->last_ms += passed;
	for (int i = 0; i < ROUNDS && is_any; i++) {
		for (struct msd_ward *w = r->wards; w != NULL; w = w->next)
			w->has_heirs = false;
		r->has_strays = false;
		is_any = scan_surely(r);
		is_any_left = tell(r);
	}
	const uint64_t rest = 1 + (used_ns() - began) * REST_FACTOR / 1000000;
	r->next_ms = uv_now(r->loop) + rest;
	if (is_any || is_any_left)
		(void)uv_timer_start(&r->again, on_again, rest, 0);
}

static void on_again(uv_timer_t *timer)
{
	look(timer->data);
}

static void look_soon(struct msd_reaper *r)
{
	const uint64_t now = uv_now(r->loop);

	if (now >= r->next_ms) {
		look(r);
	} else if (!uv_is_active((uv_handle_t *)&r->again)) {
		(void)uv_timer_start(&r->again, on_again, r->next_ms - now, 0);
	}
}

/* The callback may end other children, so start again each time. */
static void wait_for_all(struct msd_reaper *r)
{
	struct msd_ward *w = r->wards;
	int status;

	while (w != NULL) {
		if (w->is_dead || w->start != NULL || w->on_ended == NULL ||
		    waitpid(w->pid, &status, WNOHANG) != w->pid) {
			w = w->next;
			continue;
		}
		w->on_ended(w, status);
		w = r->wards;
	}
}

static void on_sigchld(uv_signal_t *handle, int number)
{
	(void)number;
	wait_for_all(handle->data);
	look_soon(handle->data);
}

/* Keep the loop running only while an exit is expected. */
static void keep_loop(struct msd_reaper *r)
{
	const struct msd_ward *w = r->wards;

	while (w != NULL && (w->is_dead || w->on_ended == NULL))
		w = w->next;
	if (w != NULL) {
		uv_ref((uv_handle_t *)&r->sigchld);
	} else {
		uv_unref((uv_handle_t *)&r->sigchld);
	}
}

/* Opened at the start, because later no descriptor may be free. */
static int open_list(pid_t thread)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)thread);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void msd_reaper_init(struct msd_reaper *r, uv_loop_t *loop)
{
	*r = (struct msd_reaper){.loop = loop, .give_up_ms = GIVE_UP_MS};
	if (!msd_mark_of(0, &r->unmarked))
		r->unmarked = (struct msd_mark){RLIM_INFINITY, RLIM_INFINITY};
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* since Linux 3.4 */
	(void)uv_timer_init(loop, &r->again);
	(void)uv_signal_init(loop, &r->sigchld);
	r->again.data = r->sigchld.data = r;
	(void)uv_signal_start(&r->sigchld, on_sigchld, SIGCHLD);
	uv_unref((uv_handle_t *)&r->sigchld);
	msd_starter_open(&r->starter, loop);
	r->list_fds[0] = open_list(getpid());
	r->list_fds[1] = open_list(r->starter.thread_id);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Below the daemon's own limits, which a child cannot raise. One counts down from
 * there, the other counts up from half of it. */
struct msd_mark msd_reaper_new_mark(struct msd_reaper *r)
{
	const uint64_t top = smaller(r->unmarked.falls, MARKS_FROM);
	const uint64_t half = smaller(r->unmarked.rises, MARKS_FROM) / 2;
	const uint64_t n = ++r->n_marked;

	return (struct msd_mark){top - n, smaller(half + n, r->unmarked.rises)};
}

static void add(struct msd_reaper *r, struct msd_ward *w, struct msd_mark mark)
{
	*w = (struct msd_ward){.mark = mark,
			       .next = r->wards,
			       .on_ended = w->on_ended,
			       .on_alone = w->on_alone};
	r->wards = w;
	keep_loop(r);
}

void msd_reaper_watch(struct msd_reaper *r, struct msd_ward *w, pid_t pid,
		      struct msd_mark mark)
{
	add(r, w, mark);
	w->pid = pid;
}

void msd_reaper_await(struct msd_reaper *r, struct msd_ward *w, struct msd_start *start,
		      struct msd_mark mark)
{
	add(r, w, mark);
	w->start = start;
}

/* Its exit may have been signalled during the start. */
void msd_reaper_on_begun(struct msd_reaper *r, struct msd_ward *w, pid_t pid)
{
	w->pid = pid;
	w->start = NULL;
	wait_for_all(r);
	look_soon(r);
}

void msd_reaper_bury(struct msd_reaper *r, struct msd_ward *w)
{
	w->is_dead = w->is_waiting = true;
	w->has_heirs = true; /* until the next scan */
	w->died_ms = r->looked_ms;
	keep_loop(r);
	look_soon(r);
}

static void give_up_start(struct msd_reaper *r, struct msd_ward *w)
{
	if (w->start != NULL)
		msd_starter_give_up(&r->starter, w->start);
	w->start = NULL;
}

void msd_reaper_forget(struct msd_reaper *r, struct msd_ward *w)
{
	struct msd_ward **at = &r->wards;

	give_up_start(r, w);
	while (*at != NULL && *at != w)
		at = &(*at)->next;
	if (*at != NULL)
		*at = w->next;
	keep_loop(r);
}

msd_err msd_reaper_leave(struct msd_reaper *r, struct msd_ward *w)
{
	const struct msd_ward *at = r->wards;

	while (at != NULL && at != w)
		at = at->next;
	if (at == NULL)
		return MSD_OK; /* from an earlier daemon: not a child of this one */
	struct msd_reaper_left *l = calloc(1, sizeof(*l));
	if (l == NULL)
		return MSD_NOMEM;
	*l = (struct msd_reaper_left){.next = r->left, .mark = w->mark};
	r->left = l;
	msd_reaper_forget(r, w);
	return MSD_OK;
}

/* A child that was killed before it took its mark is not a stray, and is waited for,
 * too. */
static bool is_any_dying(const struct msd_reaper *r)
{
	bool is_any = false;

	for (const struct msd_ward *w = r->wards; w != NULL; w = w->next) {
		is_any = (w->pid > 0 && waitpid(w->pid, NULL, WNOHANG) == 0) || is_any;
	}
	return is_any;
}

void msd_reaper_close(struct msd_reaper *r)
{
	bool is_any = true;
	const struct timespec moment = {.tv_nsec = 1000000};

	for (struct msd_ward *w = r->wards; w != NULL; w = w->next) {
		give_up_start(r, w);
		if (!w->is_dead && w->pid > 0)
			(void)kill(w->pid, SIGKILL);
		w->is_dead = true;
	}
	msd_starter_close(&r->starter); /* no more starts */
	for (int i = 0; i < END_ROUNDS && is_any; i++) {
		is_any = is_any_dying(r);
		is_any = scan_surely(r) || is_any; /* its children appear then */
		if (is_any)
			(void)nanosleep(&moment, NULL);
	}
	while (r->left != NULL) {
		struct msd_reaper_left *l = r->left;
		r->left = l->next;
		free(l);
	}
	for (unsigned i = 0; i < 2; i++) {
		if (r->list_fds[i] >= 0)
			(void)close(r->list_fds[i]);
	}
	uv_close((uv_handle_t *)&r->again, NULL);
	uv_close((uv_handle_t *)&r->sigchld, NULL);
}
