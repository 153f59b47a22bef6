#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/fetch/daemon_client.h"
#include "daemon/fetch/transfer/network_options.h"
#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"

#define MAX_BODY 4096u

/* A daemon that says one thing to whatever it is asked, and has nothing more to say
 * behind it unless it is told to stay. */
struct fake {
	struct msd_buf says;
	bool stays;
	int listener;
	uint16_t port;
	pthread_t thread;
};

static void *serve(void *p)
{
	struct fake *f = p;
	const int fd = accept(f->listener, NULL, NULL);
	uint8_t heard[4096];

	if (fd < 0)
		return NULL;
	if (read(fd, heard, sizeof(heard)) > 0)
		(void)!send(fd, f->says.p, f->says.n, MSG_NOSIGNAL);
	if (!f->stays)
		(void)shutdown(fd, SHUT_WR);
	while (read(fd, heard, sizeof(heard)) > 0)
		continue;
	(void)close(fd);
	return NULL;
}

static void fake_begin(struct fake *f)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);

	f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(f->listener, (struct sockaddr *)&a, n), 0);
	cr_assert_eq(listen(f->listener, 1), 0);
	cr_assert_eq(getsockname(f->listener, (struct sockaddr *)&a, &n), 0);
	f->port = ntohs(a.sin_port);
	cr_assert_eq(pthread_create(&f->thread, NULL, serve, f), 0);
}

static void fake_end(struct fake *f)
{
	(void)shutdown(f->listener, SHUT_RDWR);
	(void)pthread_join(f->thread, NULL);
	(void)close(f->listener);
	msd_buf_finish(&f->says);
}

/* What a fake that says @body in a frame of @n_body bytes makes of a question. */
static msd_err ask(struct fake *f, uint64_t stall_ms, int64_t *ret, struct msd_diag *d)
{
	const atomic_bool is_unwanted = false;
	struct msd_network_options reach = {0};
	struct msd_uri uri;
	struct msd_span told;
	char text[64];
	const uint8_t params[] = {0x90};
	struct msd_daemon_client l = {.to = &uri,
				      .reach = &reach,
				      .is_unwanted = &is_unwanted,
				      .stall_ms = stall_ms,
				      .max_body_bytes = MAX_BODY};

	fake_begin(f);
	(void)snprintf(text, sizeof(text), "modser://127.0.0.1:%u/m", f->port);
	cr_assert_eq(msd_uri_read(text, false, &uri, d), MSD_OK);
	uri.is_free = true;
	msd_err err = msd_daemon_client_open(&l, d);
	if (err == MSD_OK) {
		err = msd_daemon_client_ask(&l, "ping", (struct msd_span){params, 1},
					    &told, d);
	}
	if (err == MSD_OK) {
		struct msd_cur c = msd_cur_of(told);
		struct msd_wire_value v;

		cr_assert_eq(msd_value_read(&c, &v, NULL), MSD_OK);
		*ret = v.as.i;
	}
	msd_daemon_client_close(&l);
	fake_end(f);
	msd_uri_finish(&uri);
	return err;
}

static void say(struct fake *f, const struct msd_buf *body, uint32_t n_body)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES];

	msd_frame_write((struct msd_frame){.body_bytes = n_body}, head);
	msd_buf_put(&f->says, head, sizeof(head));
	msd_buf_put(&f->says, body->p, body->n);
}

static void expect_err(struct fake *f, uint64_t stall_ms, msd_err err, const char *why)
{
	struct msd_diag d = {0};
	int64_t value = 0;

	cr_assert_eq(ask(f, stall_ms, &value, &d), err, "%s", msd_diag_text(&d));
	cr_assert_not_null(strstr(msd_diag_text(&d), why), "%s", msd_diag_text(&d));
	cr_assert_not_null(strstr(msd_diag_text(&d), "modser://127.0.0.1:"));
	msd_diag_finish(&d);
}

static void answer(struct msd_buf *b, uint64_t id, int64_t value)
{
	msd_body_begin_response(b, id, false);
	msd_pack_nil(b);
	msd_pack_int(b, value);
}

Test(line, brings_the_answer_to_a_question)
{
	struct fake f = {.stays = true};
	struct msd_buf body = {0};
	struct msd_diag d = {0};
	int64_t value = 0;

	answer(&body, 1, 42);
	say(&f, &body, (uint32_t)body.n);
	cr_assert_eq(ask(&f, 60000, &value, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_assert_eq(value, 42);
	msd_buf_finish(&body);
}

Test(line, refuses_the_answer_to_another_question)
{
	struct fake f = {.stays = true};
	struct msd_buf body = {0};

	answer(&body, 2, 42);
	say(&f, &body, (uint32_t)body.n);
	expect_err(&f, 60000, MSD_PROTOCOL, "does not match");
	msd_buf_finish(&body);
}

Test(line, refuses_over_limit_before_buffering)
{
	struct fake f = {.stays = true};
	struct msd_buf body = {0};

	say(&f, &body, MAX_BODY + 1);
	expect_err(&f, 60000, MSD_PROTOCOL, "4096");
}

Test(line, refuses_who_speaks_something_else)
{
	struct fake f = {.stays = true};

	msd_buf_put(&f.says, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
	expect_err(&f, 60000, MSD_PROTOCOL, "modser");
}

Test(line, that_is_cut_may_be_better_in_a_while)
{
	struct fake f = {0};
	struct msd_buf body = {0};

	answer(&body, 1, 42);
	say(&f, &body, (uint32_t)body.n + 1);
	expect_err(&f, 60000, MSD_IO, "ended the connection");
	msd_buf_finish(&body);
}

Test(line, on_which_nothing_comes_stalls)
{
	struct fake f = {.stays = true};

	expect_err(&f, 1, MSD_IO, "");
}

Test(line, passes_on_what_its_asker_can_mend_and_nothing_else)
{
	static const struct {
		msd_err said, is;
	} rows[] = {{MSD_NOT_FOUND, MSD_NOT_FOUND},
		    {MSD_REFUSED, MSD_REFUSED},
		    {MSD_UNKNOWN_METHOD, MSD_UNSUPPORTED},
		    {MSD_BUSY, MSD_IO},
		    {MSD_NOT_VERIFIED, MSD_IO}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fake f = {.stays = true};
		struct msd_buf body = {0};

		msd_body_begin_response(&body, 1, false);
		msd_pack_error(&body, rows[i].said, "its words");
		msd_pack_nil(&body);
		say(&f, &body, (uint32_t)body.n);
		expect_err(&f, 60000, rows[i].is, "its words");
		msd_buf_finish(&body);
	}
}
