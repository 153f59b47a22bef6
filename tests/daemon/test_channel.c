#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/process_parts.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "tests/daemon/conn_rig.h"

static void on_frame(struct msd_conn *c, struct msd_in *in)
{
	(void)c;
	(void)in;
}

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	(void)c;
	(void)err;
	(void)why;
}

static const struct msd_conn_ops ops = {.on_frame = on_frame, .on_closed = on_closed};

/* A channel to a worker that is a plain socket, which is returned. */
static int open_channel(struct rig *r, struct msd_process *p)
{
	const struct msd_conn_limits limits = {.max_body_bytes = 4096,
					       .max_queued_bytes = 1u << 20};
	int ends[2];

	rig_open(r, false);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	cr_assert_eq(msd_conn_open(&p->channel, &r->wire,
				   msd_transport_of_socket(ends[0], true), &ops,
				   &limits, p, NULL),
		     MSD_OK);
	return ends[1];
}

/* How many bytes of a segment's announcement come when @fd is what is passed. */
static ssize_t announced_bytes(int fd)
{
	struct msd_process process = {.child = NULL};
	struct msd_replica replica = {.process = &process};
	uint8_t frame[256];
	struct rig r;
	const int worker = open_channel(&r, &process);

	msd_replica_send_segment(&replica, 1, fd, 4096);
	turn(&r);
	const ssize_t n = recv(worker, frame, sizeof(frame), MSG_DONTWAIT);
	msd_conn_close(&process.channel, MSD_OK, "test over");
	turn(&r);
	(void)close(worker);
	rig_close(&r);
	return n;
}

Test(channel, shares_its_turns_with_all_other_workers)
{
	struct rig r;
	struct msd_module_registry registry = {.wire = &r.wire};
	struct msd_process process = {.registry = &registry};
	int ends[2];

	rig_open(&r, false);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	cr_assert_eq(msd_process_open_channel(&process, ends[0], NULL), MSD_OK);
	cr_expect_eq(process.channel.taker.account, &r.wire.worker);
	msd_conn_close(&process.channel, MSD_OK, "test over");
	turn(&r);
	(void)close(ends[1]);
	rig_close(&r);
	msd_memory_finish(&process.answers);
}

Test(channel, announces_a_segment)
{
	cr_assert_gt(announced_bytes(STDIN_FILENO), 0);
}

Test(channel, announces_no_segment_that_it_cannot_pass)
{
	cr_assert_eq(announced_bytes(-1), -1, "there is no such descriptor");
}
