/*
 * Happy path: an open worker with a free number gets one end of a socket pair, the
 * first time together with the ledger (direct_watch.c). To take the channel back,
 * shut it down. Failures: a worker that names an unknown channel is killed.
 */
#include "daemon/supervisor/module/direct/direct.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/loop/closer.h"
#include "daemon/segments/ledger.h"
#include "daemon/stream/socket_pair.h"
#include "daemon/supervisor/module/workers/loss.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "proto/base/clock.h"
#include "proto/value.h"

static void forget(struct msd_direct *x)
{
	msd_list_remove(&x->link);
	msd_list_remove(&x->all_link);
	msd_list_remove(&x->client_link);
	msd_closer_close_socket(x->fd, msd_peer_id_passer(x->who));
	free(x);
}

/* After the last client that watched single calls. */
#define HOLD_OFF_MS 10000u

/* Send worker.peer: the worker is to admit @fd, an end of the pair. Takes @fd. */
static bool tell(const struct msd_direct *x, int fd, const struct msd_buf *functions,
		 const struct msd_direct_terms *terms)
{
	struct msd_process *p = x->process;
	struct msd_out *o = msd_out_new();

	if (o == NULL) {
		(void)close(fd);
		return false;
	}
	o->fd = fd;
	msd_body_begin_notification(&o->body, "worker.peer");
	msd_pack_array(&o->body, 7);
	msd_pack_uint(&o->body, x->number);
	msd_pack_uint(&o->body, terms->requests);
	msd_pack_uint(&o->body, terms->bytes);
	msd_pack_uint(&o->body, p->registry->limits->slow_call_ms * MSD_NS_PER_MS);
	msd_pack_uint(&o->body, p->registry->limits->write_stall_ms);
	msd_pack_uint(&o->body, p->registry->limits->read_stall_ms);
	if (functions != NULL) {
		msd_buf_put(&o->body, functions->p, functions->n);
	} else {
		msd_pack_nil(&o->body);
	}
	msd_conn_send(&p->channel, o);
	return true;
}

/* Open a pair, and duplicate its first end. */
static msd_err open_ends(const struct msd_wire *w, int ret[3], struct msd_diag *d)
{
	msd_err err = msd_socket_pair_open(ret, d);
	bool is_last = false;

	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "channel.open");
	ret[2] = fcntl(ret[0], F_DUPFD_CLOEXEC, 0);
	for (int i = 0; i < 3; i++)
		is_last = is_last || ret[i] < 0 || msd_wire_is_last(w, ret[i]);
	if (!is_last)
		return MSD_OK;
	for (int i = 0; i < 3; i++) {
		if (ret[i] >= 0)
			(void)close(ret[i]);
	}
	return msd_diag_set(
		d, MSD_BUSY,
		"channel.open: the last descriptors are reserved for the daemon");
}

/* The lowest unused number of a channel of @p, which has room for one. */
static uint16_t free_number(const struct msd_process *p)
{
	uint16_t n = 1;

	while (msd_direct_find(p, n) != NULL)
		n++;
	return n;
}

static msd_err connect_to(struct msd_process *p, struct msd_client *c,
			  const struct msd_buf *functions,
			  const struct msd_direct_terms *terms, int *ret_fd,
			  struct msd_diag *d)
{
	struct msd_direct *x;
	int ends[3];
	msd_err err = msd_direct_share_ledger(p, d);

	if (err != MSD_OK)
		return err;
	x = calloc(1, sizeof(*x));
	if (x == NULL)
		return msd_diag_no_memory(d);
	err = open_ends(p->channel.wire, ends, d);
	if (err != MSD_OK) {
		free(x);
		return err;
	}
	*x = (struct msd_direct){.process = p,
				 .client = c,
				 .who = c->peer,
				 .fd = ends[2],
				 .number = free_number(p),
				 .used_ms = uv_now(p->registry->loop)};
	(void)__atomic_fetch_and(&p->ledger->leaving, ~msd_ledger_bit(x->number),
				 __ATOMIC_RELEASE);
	x->n_calls = msd_ledger_get(&p->ledger->n_calls[x->number]);
	msd_list_init(&x->link);
	msd_list_init(&x->all_link);
	msd_list_init(&x->client_link);
	if (!tell(x, ends[0], functions, terms)) {
		(void)close(ends[1]);
		(void)close(ends[2]);
		free(x);
		return msd_diag_no_memory(d);
	}
	msd_list_append(&p->directs, &x->link);
	msd_list_append(&p->registry->directs, &x->all_link);
	msd_list_append(&c->directs, &x->client_link);
	msd_direct_watch(p);
	*ret_fd = ends[1];
	return MSD_OK;
}

msd_err msd_direct_open(struct msd_worker_group *group, struct msd_client *c,
			const struct msd_buf *functions,
			struct msd_direct_terms *ret_terms, int *ret_fd,
			struct msd_diag *d)
{
	struct msd_process *p = msd_direct_admit(group, c->peer, d);

	if (p == NULL)
		return d->code;
	*ret_terms = (struct msd_direct_terms){
		.requests = MSD_DIRECT_REQUESTS,
		.bytes = msd_direct_bytes(group->registry->limits),
		.pid = (uint64_t)msd_child_pid(p->child)};
	return connect_to(p, c, functions, ret_terms, ret_fd, d);
}

void msd_direct_end(struct msd_direct *x)
{
	if (x->is_ending)
		return;
	x->is_ending = true;
	/* Set the bit before the shutdown: otherwise the worker blames the client for
	 * it. */
	(void)__atomic_fetch_or(&x->process->ledger->leaving, msd_ledger_bit(x->number),
				__ATOMIC_RELEASE);
	(void)shutdown(x->fd, SHUT_RD);
}

void msd_direct_end_client(struct msd_client *c)
{
	MSD_LIST_EACH_SAFE (it, &c->directs) {
		struct msd_direct *x =
			MSD_CONTAINER_OF(it, struct msd_direct, client_link);
		msd_direct_end(x);
		msd_list_remove(&x->client_link);
		x->client = NULL;
		x->left_ms = uv_now(x->process->registry->loop);
	}
}

bool msd_direct_end_group(struct msd_worker_group *group)
{
	bool has_any = false;

	for (uint32_t i = 0; i < group->n_replicas; i++) {
		struct msd_process *p = group->replicas[i].process;
		if (p == NULL)
			continue;
		MSD_LIST_EACH (it, &p->directs) {
			msd_direct_end(msd_direct_of(it));
			has_any = true;
		}
	}
	return has_any;
}

void msd_direct_end_all(struct msd_module_registry *registry)
{
	MSD_LIST_EACH (it, &registry->directs) {
		msd_direct_end(MSD_CONTAINER_OF(it, struct msd_direct, all_link));
	}
}

void msd_direct_hold_off(struct msd_module_registry *registry)
{
	registry->no_direct_until_ms = uv_now(registry->loop) + HOLD_OFF_MS;
	msd_direct_end_all(registry);
}

bool msd_direct_reap(struct msd_process *p, const struct msd_in *in)
{
	struct msd_wire_value v;
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(in->body.params, &c, &n) || n != 1 ||
	    msd_value_read(&c, &v, NULL) != MSD_OK || v.kind != MSD_K_INT || v.as.i < 0)
		return false;
	struct msd_direct *x = msd_direct_find(p, (uint64_t)v.as.i);
	if (x == NULL)
		return false;
	msd_direct_count(p);
	msd_direct_note_use(p);
	forget(x);
	return true;
}

static void tell_lost(const struct msd_direct *x, const struct msd_lost *lost)
{
	struct msd_process *p = x->process;
	const bool was_running = msd_ledger_get(&p->ledger->who) == x->number;
	struct msd_diag d = {0};

	if (x->client == NULL)
		return;
	msd_loss_explain(p->replica->group->name, lost, was_running, &d);
	x->client->ops->on_direct_lost(x->client, (uint64_t)msd_child_pid(p->child),
				       &d);
	msd_diag_finish(&d);
}

void msd_direct_lose(struct msd_process *p, const struct msd_lost *lost)
{
	msd_deadline_clear(p->registry->deadlines, &p->ledger_timer);
	msd_direct_count_last(p, lost->loss == MSD_LOSS_DEVICE ? MSD_GPU_FAULT
							       : MSD_WORKER_LOST);
	MSD_LIST_EACH_SAFE (it, &p->directs) {
		tell_lost(msd_direct_of(it), lost);
		forget(msd_direct_of(it));
	}
}
