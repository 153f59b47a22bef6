#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/body.h"
#include "proto/value.h"
#include "tests/client/peer.h"

/* A daemon that answers the first request of each connection, whatever that is. */
struct host {
	char address[64];
	int fd;
	bool is_leaving;
	pthread_t thread;
};

static char folder[] = "/tmp/msd-open-XXXXXX";

static void make_folder(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
	cr_assert_eq(rmdir(folder), 0);
}

TestSuite(open, .init = make_folder, .fini = remove_folder);

static const char *path_of(const struct host *h)
{
	return h->address + strlen("unix:");
}

static void listen_at(struct host *h, const char *name)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	(void)snprintf(h->address, sizeof(h->address), "unix:%s/%s", folder, name);
	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", path_of(h));
	h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(
		bind(h->fd, (const struct sockaddr *)(const void *)&un, sizeof(un)), 0);
	cr_assert_eq(listen(h->fd, 8), 0);
}

static void *answer_each(void *ctx)
{
	const struct host *h = ctx;
	int fd;

	while ((fd = accept(h->fd, NULL, NULL)) >= 0) {
		struct peer p = {NULL, fd};
		struct msd_buf body = {0}, frame = {0};

		msd_body_begin_response(&body, 1, h->is_leaving);
		msd_pack_nil(&body);
		msd_pack_nil(&body);
		if (h->is_leaving) {
			msd_pack_map(&body, 1);
			msd_pack_cstr(&body, "leaving");
			msd_pack_bool(&body, true);
		}
		peer_frame(&frame, &body, NULL, 0);
		peer_write(&p, frame.p, frame.n);
		msd_buf_finish(&body);
		msd_buf_finish(&frame);
	}
	return NULL;
}

static void start(struct host *h, const char *name, bool is_leaving)
{
	listen_at(h, name);
	h->is_leaving = is_leaving;
	cr_assert_eq(pthread_create(&h->thread, NULL, answer_each, h), 0);
}

static void stop(struct host *h)
{
	(void)shutdown(h->fd, SHUT_RDWR);
	if (h->thread != 0)
		(void)pthread_join(h->thread, NULL);
	(void)close(h->fd);
	(void)unlink(path_of(h));
}

/* Opening @list without a bound connects to @h. */
static void expect_at(const struct host *h, const char *list)
{
	struct sockaddr_un un = {0};
	socklen_t n = sizeof(un);
	modser_client *c = NULL;

	cr_assert_eq(modser_open(list, 0, &c, NULL), MODSER_OK, "%s", list);
	cr_assert_eq(getpeername(modser_fd(c), (struct sockaddr *)(void *)&un, &n), 0);
	cr_expect_str_eq(un.sun_path, path_of(h), "%s", list);
	modser_close(c);
}

Test(open, takes_the_first_of_a_list_that_answers)
{
	struct host h = {0};
	char list[160];

	start(&h, "there", false);
	(void)snprintf(list, sizeof(list), "unix:/nobody,%s,unix:/nobody", h.address);
	expect_at(&h, list);
	stop(&h);
}

Test(open, prefers_one_that_is_not_about_to_end)
{
	struct host leaving = {0}, stays = {0};
	char list[160];

	start(&leaving, "leaving", true);
	start(&stays, "stays", false);
	(void)snprintf(list, sizeof(list), "%s,%s", leaving.address, stays.address);
	expect_at(&stays, list);
	(void)snprintf(list, sizeof(list), "%s,%s", leaving.address, leaving.address);
	expect_at(&leaving, list);
	stop(&leaving);
	stop(&stays);
}

Test(open, passes_over_one_that_is_silent)
{
	struct host silent = {0}, h = {0};
	char list[160];

	listen_at(&silent, "silent");
	start(&h, "there", false);
	(void)snprintf(list, sizeof(list), "%s,%s", silent.address, h.address);
	expect_at(&h, list);
	stop(&silent);
	stop(&h);
}

Test(open, keeps_its_bound_over_all_that_are_silent)
{
	struct host silent = {0};
	modser_result *why = NULL;
	modser_client *c = NULL;
	char list[160];

	listen_at(&silent, "silent");
	(void)snprintf(list, sizeof(list), "%s,%s", silent.address, silent.address);
	cr_assert_eq(modser_open(list, 50, &c, &why), MODSER_DEADLINE);
	cr_expect_not_null(strstr(modser_result_error(why)->message, "deadline; unix:"),
			   "%s", modser_result_error(why)->message);
	modser_result_free(why);
	stop(&silent);
}

Test(open, says_what_is_wrong_with_each_when_none_answers)
{
	modser_result *why = NULL;
	modser_client *c = NULL;

	cr_assert_eq(modser_open("unix:/nobody,unix:/other", 0, &c, &why), MODSER_IO);
	const char *said = modser_result_error(why)->message;
	cr_expect_not_null(strstr(said, "unix:/nobody"), "%s", said);
	cr_expect_not_null(strstr(said, "; connect to unix:/other"), "%s", said);
	modser_result_free(why);
}

Test(open, asks_nobody_when_an_address_of_the_list_is_wrong)
{
	modser_client *c = NULL;
	char many[512] = "unix:/a";

	cr_expect_eq(modser_open("unix:/nobody,tcp://h", 0, &c, NULL),
		     MODSER_BAD_REQUEST);
	for (int i = 0; i < 16; i++)
		(void)strcat(many, ",unix:/a");
	cr_expect_eq(modser_open(many, 0, &c, NULL), MODSER_BAD_REQUEST);
}
