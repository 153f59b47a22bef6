/*
 * libmodser under ThreadSanitizer, as a plain program: two threads with a connection
 * each, one of them pipelining, against one thread per connection that answers.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/client/peer.h"

#define ROUNDS 200
#define DEPTH 64

static void check(int ok, const char *what)
{
	if (ok)
		return;
	(void)fprintf(stderr, "tsan_client: %s\n", what);
	abort();
}

/* Each eight times: clients know it again (client/reply_cache.h). */
static int64_t value_of(uint64_t id)
{
	return (int64_t)(id / 8);
}

/* Answers 2 * DEPTH requests of each round, in order, until the client is gone. */
static void *daemon_main(void *arg)
{
	const struct peer *p = arg;
	char more;

	for (uint64_t id = 1; recv(p->fd, &more, 1, MSG_PEEK) == 1; id++) {
		struct msd_buf body = {0}, payload = {0};

		peer_read(p, &body, &payload);
		peer_answer_timed(p, id, value_of(id), id);
		msd_buf_finish(&body);
		msd_buf_finish(&payload);
	}
	return NULL;
}

static void one_by_one(modser_client *client)
{
	for (int i = 0; i < ROUNDS; i++) {
		modser_result *r;

		check(modser_request(client, "ping", NULL, 0, NULL, &r) == MODSER_OK,
		      "ping");
		modser_result_free(r);
	}
}

static void pipelined(modser_client *client)
{
	uint64_t ids[DEPTH];

	for (int round = 0; round < ROUNDS / 10; round++) {
		for (int i = 0; i < DEPTH; i++) {
			check(modser_start(client, "ping", NULL, 0, NULL, &ids[i]) ==
				      MODSER_OK,
			      "start");
		}
		for (int i = DEPTH; i-- > 0;) {
			modser_result *r;

			check(modser_wait(client, ids[i], &r) == MODSER_OK, "wait");
			check(modser_result_value(r)->as.i == value_of(ids[i]),
			      "value");
			modser_result_free(r);
		}
	}
}

struct job {
	struct peer peer;
	void (*run)(modser_client *client);
};

static void *client_main(void *arg)
{
	struct job *job = arg;

	job->run(job->peer.client);
	modser_close(job->peer.client);
	job->peer.client = NULL;
	return NULL;
}

int main(void)
{
	struct job jobs[2] = {{peer_open(), one_by_one}, {peer_open(), pipelined}};
	pthread_t threads[4];

	for (int i = 0; i < 2; i++) {
		check(pthread_create(&threads[2 * i], NULL, daemon_main,
				     &jobs[i].peer) == 0,
		      "thread");
		check(pthread_create(&threads[2 * i + 1], NULL, client_main,
				     &jobs[i]) == 0,
		      "thread");
	}
	for (int i = 0; i < 4; i++)
		check(pthread_join(threads[i], NULL) == 0, "join");
	(void)close(jobs[0].peer.fd);
	(void)close(jobs[1].peer.fd);
	return 0;
}
