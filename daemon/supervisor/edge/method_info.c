/*
 * The methods that tell what is there: hello, server.info, the modules, their functions
 * and logs.
 *
 * Happy path: what is asked for is written from the structures as they are now.
 * server.info waits for the devices: the first question makes a process look, and all
 * who ask meanwhile are answered when it has ended, by msd_method_devices_known().
 */
#include <unistd.h>

#include "daemon/child/cgroup.h"
#include "daemon/limits.h"
#include "daemon/supervisor/edge/devices.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/method.h"
#include "daemon/supervisor/edge/standing.h"
#include "daemon/supervisor/module/facts.h"
#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/process.h"
#include "daemon/supervisor/module/replica.h"
#include "proto/unpack.h"

static void put_limits(struct msd_buf *b, const struct msd_limits *limits)
{
	uint32_t n = 0;

#define MSD_LIMIT_COUNT(field, option, when, value, sentence) n++;
	MSD_LIMIT_MAP(MSD_LIMIT_COUNT)
#undef MSD_LIMIT_COUNT
	msd_pack_map(b, n);
#define MSD_LIMIT_PUT(field, option, when, value, sentence)                            \
	msd_pack_pair_uint(b, option, limits->field);
	MSD_LIMIT_MAP(MSD_LIMIT_PUT)
#undef MSD_LIMIT_PUT
}

msd_err msd_method_hello(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_buf *b = &c->result;

	if (c->params->via.array.size > 0) {
		static const char *const known[] = {"client", "protocol", "token",
						    NULL};
		struct msd_span token = {0};
		const msgpack_object *o = &c->params->via.array.ptr[0];
		uint64_t protocol = MSD_PROTOCOL_VERSION;
		msd_err err = msd_map_check(o, "session.hello", known, d);
		if (err == MSD_OK)
			err = msd_map_uint(o, "protocol", UINT32_MAX, &protocol, d);
		if (err == MSD_OK && protocol != MSD_PROTOCOL_VERSION) {
			err = msd_diag_set(d, MSD_UNSUPPORTED,
					   "protocol %llu: this daemon speaks %u",
					   (unsigned long long)protocol,
					   MSD_PROTOCOL_VERSION);
		}
		if (err == MSD_OK)
			err = msd_map_str(o, "token", &token, d);
		if (err == MSD_OK && msd_map_find(o, "token") != NULL)
			err = msd_standing_show(c->session, token, d);
		if (err != MSD_OK)
			return err;
	}
	msd_pack_map(b, 5);
	msd_pack_pair_str(b, "server", "modserd");
	msd_pack_pair_str(b, "version", MSD_VERSION);
	msd_pack_pair_uint(b, "protocol", MSD_PROTOCOL_VERSION);
	msd_pack_cstr(b, "limits");
	put_limits(b, c->session->edge->limits);
	msd_pack_cstr(b, "features");
	msd_pack_array(b, 3);
	msd_pack_cstr(b, "resident-tensors");
	msd_pack_cstr(b, "rights");
	msd_pack_cstr(b, "upload");
	return MSD_OK;
}

static uint32_t length(const struct msd_list *list)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, list) {
		n++;
	}
	return n;
}

static void put_listeners(struct msd_buf *b, struct msd_edge *e)
{
	msd_pack_array(b, length(&e->listeners));
	MSD_LIST_EACH (it, &e->listeners) {
		msd_pack_cstr(b,
			      MSD_CONTAINER_OF(it, struct msd_listening, link)->text);
	}
}

static void put_held(struct msd_buf *b, const struct msd_edge *e)
{
	msd_pack_map(b, 5);
	msd_pack_pair_uint(b, "bytes", e->peers.account.used_bytes);
	msd_pack_pair_uint(b, "tensor_bytes", e->budget->used_bytes);
	msd_pack_pair_uint(b, "upload_bytes", e->upload_bytes);
	msd_pack_pair_uint(b, "peers", length(&e->peers.all));
	msd_pack_pair_uint(b, "held_back", length(&e->held_back));
}

/* What the search for devices has brought; nil where it failed. */
static const char *const found_keys[] = {"devices", "absent",          "machine",
					 "eras",    "kinds",           "symbols",
					 "slots",   "packed_functions"};
#define N_FOUND_KEYS (sizeof(found_keys) / sizeof(*found_keys))

static void put_devices(struct msd_buf *b, const struct msd_devices *devices)
{
	const struct msd_span found = {devices->found.p, devices->found.n};

	for (unsigned i = 0; i < N_FOUND_KEYS; i++) {
		struct msd_cur pairs, items;
		struct msd_span key, value = {0};
		uint32_t n = 0;
		if (!msd_map_open(found, &pairs, &n))
			n = 0;
		while (n-- > 0) {
			struct msd_wire_value name;
			if (!msd_object_take(&pairs, &key) ||
			    !msd_object_take(&pairs, &value))
				break;
			items = msd_cur_of(key);
			if (msd_value_read(&items, &name, NULL) == MSD_OK &&
			    name.kind == MSD_K_STR &&
			    msd_span_is(name.as.str, found_keys[i]))
				break;
			value = (struct msd_span){0};
		}
		msd_pack_cstr(b, found_keys[i]);
		if (value.n > 0) {
			msd_buf_put(b, value.p, value.n);
		} else {
			msd_pack_nil(b);
		}
	}
}

/* Time of the processor that this process has used. */
static uint64_t cpu_us(void)
{
	uv_rusage_t u;

	if (uv_getrusage(&u) != 0)
		return 0;
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Of the workers, and which of their limits it keeps. */
static void put_group(struct msd_buf *b, const struct msd_cgroups *groups)
{
	if (groups == NULL) {
		msd_pack_nil(b);
		return;
	}
	msd_pack_map(b, 3);
	msd_pack_pair_str(b, "path", groups->path);
	msd_pack_cstr(b, "processes");
	msd_pack_bool(b, groups->has_pids);
	msd_pack_cstr(b, "memory");
	msd_pack_bool(b, groups->has_memory);
}

static void put_info(struct msd_edge *e, struct msd_buf *b)
{
	msd_pack_map(b, 22 + N_FOUND_KEYS);
	msd_pack_pair_str(b, "server", "modserd");
	msd_pack_pair_str(b, "version", MSD_VERSION);
	msd_pack_pair_uint(b, "protocol", MSD_PROTOCOL_VERSION);
	msd_pack_pair_uint(b, "pid", (uint64_t)getpid());
	msd_pack_pair_uint(b, "uptime_ms", uv_now(e->loop) - e->started_ms);
	msd_pack_pair_uint(b, "rss_bytes", msd_rss_look(getpid()));
	msd_pack_cstr(b, "listen");
	put_listeners(b, e);
	msd_pack_pair_uint(b, "connections", e->n_sessions);
	msd_pack_pair_uint(b, "connections_total", e->count.connections);
	msd_pack_pair_uint(b, "modules", e->house->n_modules);
	msd_pack_pair_uint(b, "requests", e->count.requests);
	msd_pack_pair_uint(b, "calls", e->count.calls);
	msd_pack_pair_uint(b, "errors", e->count.errors);
	msd_pack_pair_uint(b, "denied", e->rights.denials.total);
	msd_pack_pair_uint(b, "turns", e->wire->count.turns);
	msd_pack_pair_uint(b, "frames", e->wire->count.frames);
	msd_pack_pair_uint(b, "bytes_in", e->wire->count.bytes_in);
	msd_pack_pair_uint(b, "bytes_out", e->wire->count.bytes_out);
	msd_pack_pair_uint(b, "cpu_us", cpu_us());
	msd_pack_cstr(b, "control_group");
	put_group(b, e->house->groups);
	msd_pack_cstr(b, "held");
	put_held(b, e);
	msd_pack_cstr(b, "limits");
	put_limits(b, e->limits);
	put_devices(b, e->devices);
}

void msd_method_devices_known(void *edge)
{
	struct msd_edge *e = edge;
	struct msd_list *it;

	while ((it = msd_list_first(&e->info_waiters)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		struct msd_buf b = {0};
		put_info(e, &b);
		msd_req_answer(r, &b);
		msd_buf_finish(&b);
		msd_req_release(r);
	}
}

msd_err msd_method_info(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct msd_req *r = msd_req_new(&c->session->client, c->in->body.id, c->method);

	if (r == NULL)
		return msd_diag_no_memory(d);
	c->later = true;
	msd_list_append(&e->info_waiters, &r->link);
	if (msd_devices_look(e->devices))
		msd_method_devices_known(e);
	return MSD_OK;
}

#define N_SUMMARY_KEYS 13u

static void put_quantile(struct msd_buf *b, const char *key,
			 const struct msd_histogram *h, unsigned percent)
{
	msd_pack_cstr(b, key);
	if (msd_histogram_total(h) > 0) {
		msd_pack_uint(b, msd_histogram_quantile(h, percent));
	} else {
		msd_pack_nil(b);
	}
}

/* The first worker's process stands for the module, the memory is that of all, as it
 * was within the last second. */
static void put_summary(struct msd_buf *b, const struct msd_module *m,
			uint32_t *rss_looks)
{
	uint64_t pid = 0, rss = 0;

	for (uint32_t i = 0; i < m->crew.n_replicas; i++) {
		struct msd_process *p = m->crew.replicas[i].process;
		if (p == NULL)
			continue;
		pid = pid != 0 ? pid : (uint64_t)p->child->pid;
		rss += msd_rss_recent(&p->rss, p->child->pid,
				      uv_now(m->crew.house->loop), rss_looks);
	}
	msd_pack_pair_str(b, "name", m->crew.name);
	msd_pack_pair_str(b, "state", msd_module_state_name(m->life.state));
	msd_pack_pair_str(b, "file", m->crew.file);
	msd_pack_pair_uint(b, "bytes", m->crew.source.bytes);
	msd_pack_pair_uint(b, "pid", pid);
	msd_pack_pair_uint(b, "rss", rss);
	msd_pack_pair_uint(b, "restarts", m->life.n_restarts);
	msd_pack_pair_uint(b, "calls", m->crew.n_calls);
	msd_pack_pair_uint(b, "errors", m->crew.n_errors);
	msd_pack_pair_uint(b, "queued", msd_module_in_flight(m));
	msd_pack_pair_uint(b, "exec_ns", m->crew.exec_ns);
	put_quantile(b, "p50_ns", &m->crew.times, 50);
	put_quantile(b, "p99_ns", &m->crew.times, 99);
}

static void put_device(struct msd_buf *b, const struct msd_facts *f)
{
	msd_pack_cstr(b, "device");
	if (f->device.n > 0) {
		msd_buf_put(b, f->device.p, f->device.n);
	} else {
		msd_pack_nil(b);
	}
}

static void put_error(struct msd_buf *b, const struct msd_module *m)
{
	msd_pack_cstr(b, "error");
	/* While it can be called, what one of its workers met is for the log. */
	if (m->error != NULL && m->life.state != MSD_STATE_READY) {
		msd_pack_cstr(b, m->error);
	} else {
		msd_pack_nil(b);
	}
}

static void put_digest(struct msd_buf *b, const struct msd_module *m)
{
	char digits[MSD_DIGEST_TEXT];

	msd_pack_cstr(b, "sha256");
	if (m->crew.source.fd >= 0) {
		msd_digest_format(&m->crew.source.sha256, digits);
		msd_pack_cstr(b, digits);
	} else {
		msd_pack_nil(b);
	}
}

#define N_EDITION_KEYS 2u

/* Where it comes from, and how long it has still to hold. */
static void put_edition(struct msd_method_call *c, const struct msd_module *m)
{
	struct msd_edge *e = c->session->edge;

	msd_pack_cstr(&c->result, "source");
	e->put_supply(e, m->crew.name, &c->result);
	msd_pack_cstr(&c->result, "watch_ms");
	if (m->probation.is_on) {
		msd_pack_uint(&c->result,
			      msd_deadline_left(e->deadlines, &m->probation_end));
	} else {
		msd_pack_nil(&c->result);
	}
}

#define N_WORKERS_KEYS 3u

static void put_workers(struct msd_buf *b, const struct msd_module *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->crew.n_replicas; i++)
		n += m->crew.replicas[i].process != NULL ? 1u : 0u;
	msd_pack_pair_uint(b, "workers", m->crew.n_replicas);
	msd_pack_pair_uint(b, "ready", m->life.n_open);
	msd_pack_cstr(b, "pids");
	msd_pack_array(b, n);
	for (uint32_t i = 0; i < m->crew.n_replicas; i++) {
		if (m->crew.replicas[i].process != NULL) {
			msd_pack_uint(
				b, (uint64_t)m->crew.replicas[i].process->child->pid);
		}
	}
}

static bool may_see(const struct msd_method_call *c, const struct msd_module *m)
{
	return msd_standing_sees(c->session, m->crew.name);
}

msd_err msd_method_list(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_house *house = c->session->edge->house;
	uint32_t rss_looks = MSD_RSS_LOOKS, n = 0;

	(void)d;
	MSD_LIST_EACH (it, &house->modules) {
		n += may_see(c, MSD_CONTAINER_OF(it, struct msd_module, link));
	}
	msd_pack_array(&c->result, n);
	MSD_LIST_EACH (it, &house->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		if (!may_see(c, m))
			continue;
		msd_pack_map(&c->result,
			     N_SUMMARY_KEYS + 3 + N_WORKERS_KEYS + N_EDITION_KEYS);
		put_summary(&c->result, m, &rss_looks);
		put_device(&c->result, &m->crew.facts);
		msd_pack_pair_uint(&c->result, "functions", m->crew.facts.n_functions);
		put_error(&c->result, m);
		put_workers(&c->result, m);
		put_edition(c, m);
	}
	return MSD_OK;
}

msd_err msd_method_describe(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module *m;
	uint32_t rss_looks = MSD_RSS_LOOKS;
	msd_err err = msd_method_module(c, &m, d);

	if (err != MSD_OK)
		return err;
	msd_pack_map(&c->result, N_SUMMARY_KEYS + 2 + N_WORKERS_KEYS + N_EDITION_KEYS +
					 MSD_FACTS_N_PARTS);
	put_summary(&c->result, m, &rss_looks);
	put_digest(&c->result, m);
	put_error(&c->result, m);
	put_workers(&c->result, m);
	put_edition(c, m);
	if (!msd_facts_are_known(&m->crew.facts)) {
		msd_facts_put_unknown(&c->result);
		return MSD_OK;
	}
	c->shared = m->crew.facts.text;
	c->shared_part = (struct msd_span){c->shared->bytes, c->shared->n};
	return MSD_OK;
}

msd_err msd_method_functions(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module *m;
	msd_err err = msd_method_module(c, &m, d);

	if (err == MSD_OK && !msd_facts_are_known(&m->crew.facts)) {
		err = m->error != NULL
			      ? msd_diag_set(d, m->error_code, "%s", m->error)
			      : msd_diag_set(d, MSD_NOT_READY, "module %s is %s",
					     m->crew.name,
					     msd_module_state_name(m->life.state));
	}
	if (err == MSD_OK) {
		c->shared = m->crew.facts.text;
		c->shared_part = m->crew.facts.functions;
	}
	return err;
}
