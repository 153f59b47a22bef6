/*
 * Happy path: a worker that is open and has a number to spare gets one end of a pair,
 * its first time with the ledger (direct_watch.c). Failures: a worker that names a
 * channel that there is not is not believed.
 */
#include "daemon/supervisor/module/direct.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/replica.h"
#include "daemon/wire/ledger.h"
#include "daemon/wire/without.h"
#include "proto/value.h"

#define NS_PER_MS 1000000u

static struct msd_direct *direct_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_direct, link);
}

static void forget(struct msd_direct *x)
{
	msd_list_remove(&x->link);
	msd_list_remove(&x->client_link);
	free(x);
}

struct msd_direct *msd_direct_find(const struct msd_process *p, uint64_t number)
{
	MSD_LIST_EACH (it, &p->directs) {
		if (direct_of(it)->number == number)
			return direct_of(it);
	}
	return NULL;
}

static uint16_t free_number(const struct msd_process *p)
{
	for (uint16_t i = 1; i <= MSD_MAX_GUESTS; i++) {
		if (msd_direct_find(p, i) == NULL)
			return i;
	}
	return 0;
}

/* worker.peer: with an end of the pair it is to admit, with none to leave. @fd is
 * taken over. */
static bool tell(const struct msd_direct *x, int fd, const struct msd_buf *functions,
		 const struct msd_direct_terms *terms)
{
	struct msd_process *p = x->process;
	struct msd_out *o = msd_out_new();

	if (o == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	o->fd = fd;
	msd_body_begin_notification(&o->body, "worker.peer");
	msd_pack_array(&o->body, fd >= 0 ? 6 : 1);
	msd_pack_uint(&o->body, x->number);
	if (fd >= 0) {
		msd_pack_uint(&o->body, terms->requests);
		msd_pack_uint(&o->body, terms->bytes);
		msd_pack_uint(&o->body, p->house->limits->slow_call_ms * NS_PER_MS);
		msd_pack_uint(&o->body, p->house->limits->write_stall_ms);
		if (functions != NULL) {
			msd_buf_put(&o->body, functions->p, functions->n);
		} else {
			msd_pack_nil(&o->body);
		}
	}
	msd_conn_send(&p->channel, o);
	return true;
}

static msd_err connect_to(struct msd_process *p, struct msd_client *c,
			  const struct msd_buf *functions,
			  const struct msd_direct_terms *terms, int *ret_fd,
			  struct msd_diag *d)
{
	struct msd_direct *x;
	int ends[2];
	const msd_err err = msd_direct_share_ledger(p, d);

	if (err != MSD_OK)
		return err;
	x = calloc(1, sizeof(*x));
	if (x == NULL)
		return msd_diag_no_memory(d);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		free(x);
		return msd_diag_set(d, MSD_IO, "channel.open: no pair of sockets");
	}
	if (msd_wire_is_last(p->channel.wire, ends[0]) ||
	    msd_wire_is_last(p->channel.wire, ends[1])) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		free(x);
		return msd_diag_set(
			d, MSD_BUSY,
			"channel.open: the last descriptors are the daemon's "
			"own");
	}
	*x = (struct msd_direct){
		.process = p, .who = c->peer, .number = free_number(p)};
	msd_list_init(&x->link);
	msd_list_init(&x->client_link);
	if (!tell(x, ends[0], functions, terms)) {
		(void)close(ends[1]);
		free(x);
		return msd_diag_no_memory(d);
	}
	msd_list_append(&p->directs, &x->link);
	msd_list_append(&c->directs, &x->client_link);
	msd_direct_watch(p);
	*ret_fd = ends[1];
	return MSD_OK;
}

static uint32_t count(const struct msd_process *p)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, &p->directs) {
		n++;
	}
	return n;
}

static uint32_t count_of(const struct msd_process *p, struct msd_peer_id who)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, &p->directs) {
		n += msd_peer_id_is(direct_of(it)->who, who);
	}
	return n;
}

/* Whether @p may have one more, which is for @who. */
static msd_err check_room(const struct msd_process *p, const char *name,
			  struct msd_peer_id who, struct msd_diag *d)
{
	const uint64_t most = p->house->limits->max_directs;
	const uint64_t most_of_one = (most + 1) / 2;

	if (free_number(p) == 0 || count(p) >= most) {
		return msd_diag_set(
			d, MSD_BUSY,
			"channel.open: each worker of module %s has %u "
			"direct channels, the most that it may (max-directs, "
			"%u at most)",
			name, count(p), MSD_MAX_GUESTS);
	}
	if (count_of(p, who) < most_of_one)
		return MSD_OK;
	return msd_diag_set(d, MSD_BUSY,
			    "channel.open: a worker of module %s has %llu direct "
			    "channels of one user, the most that it may (half of "
			    "max-directs): close one, or call through the daemon",
			    name, (unsigned long long)most_of_one);
}

/* The open worker with the fewest channels, or NULL. */
static struct msd_process *choose(const struct msd_crew *crew, struct msd_peer_id who,
				  struct msd_diag *d)
{
	struct msd_process *best = NULL;

	for (uint32_t i = 0; i < crew->n_replicas; i++) {
		const struct msd_replica *rep = &crew->replicas[i];
		if (!rep->is_open || rep->is_overrun ||
		    !msd_process_is_running(rep->process) ||
		    msd_conn_is_closing(&rep->process->channel))
			continue;
		if (best == NULL || count(rep->process) < count(best))
			best = rep->process;
	}
	if (best == NULL) {
		(void)msd_diag_set(d, MSD_NOT_READY,
				   "channel.open: module %s is not ready", crew->name);
	} else if (check_room(best, crew->name, who, d) != MSD_OK) {
		best = NULL;
	}
	return best;
}

static bool is_watched(const struct msd_house *house)
{
	return !msd_list_is_empty(&house->recorder.followers) ||
	       uv_now(house->loop) < house->no_direct_until_ms;
}

static msd_err check(const struct msd_crew *crew, struct msd_diag *d)
{
	if (msd_without("direct")) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: this daemon goes without "
				    "(MODSERD_WITHOUT)");
	}
	if (crew->house->limits->max_directs == 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: this daemon gives none (max-directs "
				    "is 0)");
	}
	if (crew->batching.rows > 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: calls of module %s are joined "
				    "(batch), which goes through the daemon alone",
				    crew->name);
	}
	if (is_watched(crew->house)) {
		return msd_diag_set(d, MSD_BUSY,
				    "channel.open: somebody watches the daemon's calls "
				    "(server.monitor): they go through it now");
	}
	return MSD_OK;
}

msd_err msd_direct_open(struct msd_crew *crew, struct msd_client *c,
			const struct msd_buf *functions,
			struct msd_direct_terms *ret_terms, int *ret_fd,
			struct msd_diag *d)
{
	const uint64_t share = crew->house->limits->max_memory / MSD_MAX_GUESTS;
	msd_err err = check(crew, d);

	if (err != MSD_OK)
		return err;
	struct msd_process *p = choose(crew, c->peer, d);
	if (p == NULL)
		return d->code;
	*ret_terms = (struct msd_direct_terms){
		.requests = MSD_DIRECT_REQUESTS,
		.bytes = share < MSD_DIRECT_BYTES ? share : MSD_DIRECT_BYTES};
	return connect_to(p, c, functions, ret_terms, ret_fd, d);
}

static void end(struct msd_direct *x)
{
	if (x->is_ending)
		return;
	x->is_ending = true;
	if (!tell(x, -1, NULL, NULL)) {
		msd_process_kill(x->process,
				 "there was no memory to tell it who leaves");
	}
}

void msd_direct_end_client(struct msd_client *c)
{
	MSD_LIST_EACH_SAFE (it, &c->directs) {
		struct msd_direct *x =
			MSD_CONTAINER_OF(it, struct msd_direct, client_link);
		end(x);
		msd_list_remove(&x->client_link);
	}
}

static void end_all_of(struct msd_process *p)
{
	MSD_LIST_EACH (it, &p->directs) {
		end(direct_of(it));
	}
}

void msd_direct_end_crew(struct msd_crew *crew)
{
	for (uint32_t i = 0; i < crew->n_replicas; i++) {
		if (crew->replicas[i].process != NULL)
			end_all_of(crew->replicas[i].process);
	}
}

bool msd_direct_is_any(const struct msd_crew *crew)
{
	for (uint32_t i = 0; i < crew->n_replicas; i++) {
		const struct msd_process *p = crew->replicas[i].process;
		if (p != NULL && !msd_list_is_empty(&p->directs))
			return true;
	}
	return false;
}

bool msd_direct_take_gone(struct msd_process *p, const struct msd_in *in)
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
	forget(x);
	return true;
}

void msd_direct_lose(struct msd_process *p)
{
	msd_deadline_clear(p->house->deadlines, &p->ledger_timer);
	msd_direct_count_last(p);
	MSD_LIST_EACH_SAFE (it, &p->directs) {
		forget(direct_of(it));
	}
}
