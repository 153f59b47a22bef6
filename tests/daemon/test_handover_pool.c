#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/supervisor/module/handover/handover_pool.h"
#include "tests/support/linger.h"
#include "tests/support/pass_fd.h"

/* A process that waits for its end, and what a manager would hand over of it. */
struct kept {
	pid_t pid;
	int pidfd; /* the test's own, to see it end */
	int door[2], output[2], lifeline[2];
	struct msd_digest key; /* all bytes the same */
	char name[MSD_HANDOVER_NAME_BYTES];
};

static void start(struct kept *k, uint8_t key)
{
	k->pid = fork();
	if (k->pid == 0) {
		(void)setpgid(0, 0);
		for (;;)
			(void)pause();
	}
	(void)setpgid(k->pid, k->pid);
	k->pidfd = (int)syscall(SYS_pidfd_open, k->pid, 0);
	cr_assert_geq(k->pidfd, 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, k->door), 0);
	cr_assert_eq(pipe(k->output), 0);
	cr_assert_eq(pipe(k->lifeline), 0);
	memset(k->key.b, key, sizeof(k->key.b));
	msd_handover_name_format(
		&(struct msd_handover_name){.pid = k->pid, .key = k->key}, k->name);
}

static bool put(struct msd_handover_shelf *s, const char *name, int fd)
{
	return msd_handover_shelf_put(s, msd_span_of(name), dup(fd));
}

static void put_all(struct msd_handover_shelf *s, const struct kept *k)
{
	cr_assert(put(s, k->name, k->lifeline[1]));
	cr_assert(put(s, k->name, k->pidfd));
	cr_assert(put(s, k->name, k->door[0]));
	cr_assert(put(s, k->name, k->output[0]));
}

static bool has_ended(const struct kept *k, int within_ms)
{
	struct pollfd end = {.fd = k->pidfd, .events = POLLIN};

	return poll(&end, 1, within_ms) == 1;
}

static void expect_killed(const struct kept *k)
{
	cr_expect(has_ended(k, 60000), "it is killed");
	(void)waitpid(k->pid, NULL, 0);
}

static void expect_lives(const struct kept *k)
{
	cr_expect_not(has_ended(k, 0), "it lives");
	(void)kill(k->pid, SIGKILL);
	(void)waitpid(k->pid, NULL, 0);
}

Test(warm_shelf, a_whole_worker_is_taken_by_its_key_and_once)
{
	struct msd_handover_shelf s;
	struct kept k;

	msd_handover_shelf_init(&s);
	start(&k, 7);
	put_all(&s, &k);
	msd_handover_shelf_judge(&s);
	cr_expect_null(msd_handover_shelf_pop(&s, &(struct msd_digest){0}));
	struct msd_handover *w = msd_handover_shelf_pop(&s, &k.key);
	cr_assert_not_null(w);
	cr_expect_eq(w->name.pid, k.pid);
	cr_expect_null(msd_handover_shelf_pop(&s, &k.key));
	msd_handover_free(w);
	expect_lives(&k);
}

Test(warm_shelf, two_of_one_key_are_two)
{
	struct msd_handover_shelf s;
	struct kept a, b;

	msd_handover_shelf_init(&s);
	start(&a, 7);
	start(&b, 7);
	put_all(&s, &a);
	put_all(&s, &b);
	msd_handover_shelf_judge(&s);
	struct msd_handover *first = msd_handover_shelf_pop(&s, &a.key);
	struct msd_handover *second = msd_handover_shelf_pop(&s, &a.key);
	cr_assert(first != NULL && second != NULL);
	cr_expect_neq(first->name.pid, second->name.pid);
	msd_handover_free(first);
	msd_handover_free(second);
	expect_lives(&a);
	expect_lives(&b);
}

Test(warm_shelf, what_nobody_takes_is_killed)
{
	struct msd_handover_shelf s;
	struct kept k;

	msd_handover_shelf_init(&s);
	start(&k, 7);
	put_all(&s, &k);
	msd_handover_shelf_judge(&s);
	msd_handover_shelf_clear(&s, "a test");
	cr_expect_eq(s.n, 0);
	expect_killed(&k);
}

/* Each of the four in turn has not come. */
Test(warm_shelf, a_worker_that_lacks_a_part_is_none)
{
	for (int lacks = 0; lacks < 4; lacks++) {
		struct msd_handover_shelf s;
		struct kept k;

		msd_handover_shelf_init(&s);
		start(&k, 7);
		const int parts[] = {k.door[0], k.output[0], k.lifeline[1], k.pidfd};
		for (int i = 0; i < 4; i++)
			cr_assert(i == lacks || put(&s, k.name, parts[i]));
		msd_handover_shelf_judge(&s);
		cr_expect_eq(s.n, 0, "without part %d", lacks);
		if (parts[lacks] == k.pidfd) {
			expect_lives(&k); /* its lifeline would end it */
		} else {
			expect_killed(&k);
		}
	}
}

Test(warm_shelf, two_entries_with_one_name_are_no_worker)
{
	struct msd_handover_shelf s;
	struct kept k;

	msd_handover_shelf_init(&s);
	start(&k, 7);
	put_all(&s, &k);
	cr_expect_not(put(&s, k.name, k.door[1]));
	msd_handover_shelf_judge(&s);
	cr_expect_eq(s.n, 0);
	expect_killed(&k);
}

Test(warm_shelf, a_foreign_descriptor_spoils_its_name_alone)
{
	struct msd_handover_shelf s;
	struct kept a, b;

	msd_handover_shelf_init(&s);
	start(&a, 7);
	start(&b, 8);
	put_all(&s, &a);
	put_all(&s, &b);
	cr_expect_not(put(&s, a.name, memfd_create("foreign", 0)));
	msd_handover_shelf_judge(&s);
	cr_expect_eq(s.n, 1);
	cr_expect_null(msd_handover_shelf_pop(&s, &a.key));
	struct msd_handover *w = msd_handover_shelf_pop(&s, &b.key);
	cr_assert_not_null(w);
	msd_handover_free(w);
	expect_killed(&a);
	expect_lives(&b);
}

Test(warm_shelf, a_name_that_is_none_keeps_nothing)
{
	struct msd_handover_shelf s;

	msd_handover_shelf_init(&s);
	cr_expect_not(put(&s, "modserd-worker.1.0.short", 0));
	cr_expect_eq(s.n, 0);
}

/* The process that the name says is not the one of the descriptor. */
Test(warm_shelf, the_process_of_another_is_neither_taken_nor_killed)
{
	struct msd_handover_shelf s;
	struct kept named, other;

	msd_handover_shelf_init(&s);
	start(&named, 7);
	start(&other, 8);
	cr_assert(put(&s, named.name, named.lifeline[1]));
	cr_assert(put(&s, named.name, other.pidfd));
	cr_assert(put(&s, named.name, named.door[0]));
	cr_assert(put(&s, named.name, named.output[0]));
	msd_handover_shelf_judge(&s);
	cr_expect_eq(s.n, 0);
	expect_lives(&named);
	expect_lives(&other);
}

Test(warm_shelf, a_worker_that_has_ended_is_none)
{
	struct msd_handover_shelf s;
	struct kept k;

	msd_handover_shelf_init(&s);
	start(&k, 7);
	put_all(&s, &k);
	(void)kill(k.pid, SIGKILL);
	(void)waitpid(k.pid, NULL, 0);
	msd_handover_shelf_judge(&s);
	cr_expect_eq(s.n, 0);
}

Test(warm_shelf, no_more_than_so_many_are_kept)
{
	struct msd_handover_shelf s;
	char name[MSD_HANDOVER_NAME_BYTES];
	int ends[2];

	msd_handover_shelf_init(&s);
	cr_assert_eq(pipe(ends), 0);
	for (int i = 1; i <= (int)MSD_HANDOVER_MOST + 1; i++) {
		msd_handover_name_format(&(struct msd_handover_name){.pid = i}, name);
		/* Refused as a descriptor, so that none are used up. */
		(void)msd_handover_shelf_put(&s, msd_span_of(name), -1);
	}
	cr_expect_eq(s.n, MSD_HANDOVER_MOST);
	msd_handover_shelf_judge(&s);
	cr_expect_eq(s.n, 0);
}

/* A loop that waited for the close would hang here. */
Test(warm_shelf, what_a_worker_has_passed_through_its_door_is_closed_aside,
     .timeout = 300)
{
	struct iovec piece = {(char[]){'x'}, 1};
	struct msd_handover_shelf s;
	struct kept k;
	int peer;

	msd_handover_shelf_init(&s);
	start(&k, 7);
	put_all(&s, &k);
	(void)close(k.door[0]);
	const int passed = lingering_socket(&peer);
	cr_assert_eq(pass_fd(k.door[1], &piece, 1, passed, 0), 1);
	(void)close(passed);
	msd_handover_shelf_clear(&s, "of a test");
	expect_killed(&k);
	(void)close(peer);
}
