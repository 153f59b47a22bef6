#include "tests/fuzz/worker_world.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/worker/process.h"
#include "daemon/worker/queue.h"
#include "proto/frame.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/pass_fd.h"

#define TURNS 4

struct msd_worker world_worker;
static uv_loop_t loop;

void world_send_bytes(int to, const uint8_t *p, size_t n, int fd)
{
	struct iovec iov = {(void *)(uintptr_t)p, n};

	(void)pass_fd(to, &iov, 1, fd, MSG_DONTWAIT);
}

void world_send(int to, const struct world_frame *f)
{
	struct msd_buf b = {0};
	uint8_t head[MSD_FRAME_HEADER_BYTES];

	msd_frame_write((struct msd_frame){.body_bytes = (uint32_t)f->body.n,
					   .payload_bytes = f->payload_bytes},
			head);
	msd_buf_put(&b, head, sizeof(head));
	msd_buf_put(&b, f->body.p, f->body.n);
	for (uint64_t i = 0; i < f->payload_bytes; i++)
		msd_buf_put_u8(&b, (uint8_t)i);
	world_send_bytes(to, b.p, b.n, f->fd);
	msd_buf_finish(&b);
}

void world_turn(int from, struct msd_buf *said)
{
	uint8_t bytes[4096];
	ssize_t n;

	for (int i = 0; i < TURNS; i++) {
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		while ((n = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
			msd_buf_put(said, bytes, (size_t)n);
	}
}

bool world_take(struct msd_buf *said, size_t *at, struct msd_body *ret)
{
	struct msd_frame f;

	if (said->n - *at < MSD_FRAME_HEADER_BYTES)
		return false;
	MUST(msd_frame_read(said->p + *at, MSD_MAX_REPLY_BODY_BYTES, UINT32_MAX, &f,
			    NULL) == MSD_OK);
	if (said->n - *at - MSD_FRAME_HEADER_BYTES < f.body_bytes + f.payload_bytes)
		return false;
	*at += MSD_FRAME_HEADER_BYTES;
	MUST(msd_body_read((struct msd_span){said->p + *at, f.body_bytes}, NULL, ret,
			   NULL) == MSD_OK);
	*at += f.body_bytes + f.payload_bytes;
	return true;
}

void world_drop(struct msd_buf *said, size_t *at)
{
	said->n -= *at;
	if (said->n > 0)
		memmove(said->p, said->p + *at, said->n);
	*at = 0;
}

static int artifact(void)
{
	char bytes[65536];
	ssize_t n;
	const int from = open(MSD_ZOO "/results.so", O_RDONLY | O_CLOEXEC);
	const int to = memfd_create("artifact", MFD_CLOEXEC);

	MUST(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		MUST(write(to, bytes, (size_t)n) == n);
	(void)close(from);
	return to;
}

static void ask_to_open(int channel)
{
	struct msd_buf b = {0};

	msd_body_begin_request(&b, 1, "worker.open", false);
	msd_pack_array(&b, 1);
	msd_pack_map(&b, 3);
	msd_pack_cstr(&b, "name");
	msd_pack_cstr(&b, "m");
	msd_pack_cstr(&b, "file");
	msd_pack_cstr(&b, "results.so");
	msd_pack_cstr(&b, "threads");
	msd_pack_uint(&b, 1);
	world_send(channel, &(struct world_frame){.body = {b.p, b.n}, .fd = -1});
	msd_buf_finish(&b);
}

int world_begin(void)
{
	struct msd_buf said = {0};
	struct msd_body b;
	size_t at = 0;
	int ends[2];

	MUST(uv_loop_init(&loop) == 0);
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	const struct msd_process_given given = {
		.channel_fd = ends[0], .artifact_fd = artifact(), .door_fd = -1};
	MUST(msd_worker_start(&world_worker, &loop, &given, NULL) == MSD_OK);
	ask_to_open(ends[1]);
	world_turn(ends[1], &said);
	MUST(world_take(&said, &at, &b) && b.kind == MSD_RESPONSE &&
	     world_worker.module != NULL);
	msd_buf_finish(&said);
	return ends[1];
}

bool world_is_idle(void)
{
	MSD_LIST_EACH (it, &world_worker.peers) {
		struct msd_peer *p = MSD_CONTAINER_OF(it, struct msd_peer, link);

		if (!msd_list_is_empty(&p->queue))
			return false;
	}
	return true;
}
