/*
 * channel.open. Happy path: a client that may call functions of the module gets a
 * socket to one of its workers, for those functions. Failures: it is rejected if the
 * connection cannot pass descriptors, or if the user has a limit that only the
 * supervisor can enforce.
 */
#include "daemon/loop/closer.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/objects/session_segments.h"
#include "daemon/supervisor/edge/session/frame_session.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/queue/bans.h"
#include "daemon/supervisor/module/workers/signature.h"
#include "proto/unpack.h"

/* The worker searches this list at each call that is not in its cache. */
#define MOST_FUNCTIONS 256u

static msd_err check_limits(const struct msd_session *s, struct msd_diag *d)
{
	const struct msd_acl_line *user = s->authorization.grant.user;

	if (!s->conn->transport.may_pass_fds) {
		return msd_diag_set(d, MSD_REFUSED,
				    "channel.open: works only over a unix socket");
	}
	if (user == NULL || msd_quota_is_empty(&user->quota))
		return MSD_OK;
	return msd_diag_set(d, MSD_REFUSED,
			    "channel.open: %s has limits that the daemon enforces: "
			    "send its calls to the daemon",
			    user->name);
}

static msd_err check_module(const struct msd_module *m, const struct msd_session *s,
			    struct msd_diag *d)
{
	if (m->life.state != MSD_STATE_READY || !m->group.is_serving) {
		return msd_diag_set(d, MSD_NOT_READY, "channel.open: module %s is %s",
				    m->group.name,
				    msd_module_state_name(m->life.state));
	}
	const msd_err err = msd_bans_check(m, &s->client, true, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "channel.open");
}

/* Append the functions that @s may call, as an array. */
static msd_err list_functions(struct msd_session *s, const struct msd_facts *f,
			      struct msd_span module, struct msd_buf *ret,
			      struct msd_diag *d)
{
	struct msd_buf names = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_functions && n <= MOST_FUNCTIONS; i++) {
		if (!msd_authorization_may_call(s, module, f->all[i].name))
			continue;
		msd_pack_str(&names, (const char *)f->all[i].name.p, f->all[i].name.n);
		n++;
	}
	msd_pack_array(ret, n);
	msd_buf_put(ret, names.p, names.n);
	msd_buf_finish(&names);
	if (n > MOST_FUNCTIONS) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: you have single rights for more "
				    "than %u functions: send the calls to the daemon",
				    MOST_FUNCTIONS);
	}
	return ret->bad ? msd_diag_no_memory(d) : MSD_OK;
}

static msd_err open_for(struct msd_session *s, struct msd_module *m,
			struct msd_direct_terms *ret_terms, int *ret_fd,
			struct msd_diag *d)
{
	const struct msd_span name = msd_span_of(m->group.name);
	const bool is_ruled = msd_authorization_is_ruled(s);
	struct msd_buf functions = {0};
	msd_err err = MSD_OK;

	if (is_ruled)
		err = list_functions(s, &m->group.facts, name, &functions, d);
	if (err == MSD_OK) {
		err = msd_direct_open(&m->group, &s->client,
				      is_ruled ? &functions : NULL, ret_terms, ret_fd,
				      d);
	}
	msd_buf_finish(&functions);
	return err;
}

msd_err msd_method_channel(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_direct_terms terms;
	struct msd_module *m;
	msd_err err = check_limits(c->session, d);

	if (err == MSD_OK)
		err = msd_method_module(c, &m, d);
	if (err == MSD_OK)
		err = check_module(m, c->session, d);
	if (err == MSD_OK)
		err = open_for(c->session, m, &terms, &c->fd, d);
	if (err != MSD_OK)
		return err;
	msd_pack_map(&c->result, 4);
	msd_pack_pair_uint(&c->result, "requests", terms.requests);
	msd_pack_pair_uint(&c->result, "bytes", terms.bytes);
	msd_pack_pair_uint(&c->result, "workers", m->group.n_replicas);
	msd_pack_pair_uint(&c->result, "pid", terms.pid);
	return MSD_OK;
}

/* segment.add and segment.remove: client segments of a connection. */

/* The descriptor is taken even if the parameters are wrong: it was sent with this
 * request. */
msd_err msd_method_segment_add(struct msd_method_call *c, struct msd_diag *d)
{
	const int fd = msd_conn_adopt_fd(&msd_frame_session_of(c->session)->conn);
	uint16_t name = 0;
	uint64_t bytes = 0;
	msd_err err = msd_object_uint(&c->params->via.array.ptr[0], "bytes", INT64_MAX,
				      &bytes, d);

	if (err != MSD_OK) {
		msd_closer_close_passed(fd, c->session->conn->transport.passer);
		return err;
	}
	err = msd_session_segments_add(c->session, fd, bytes, &name, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "segment.add");
	msd_pack_uint(&c->result, name);
	return MSD_OK;
}

msd_err msd_method_segment_remove(struct msd_method_call *c, struct msd_diag *d)
{
	uint64_t name = 0;
	msd_err err = msd_object_uint(&c->params->via.array.ptr[0], "number",
				      UINT16_MAX, &name, d);

	if (err == MSD_OK)
		err = msd_session_segments_remove(c->session, (uint16_t)name, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "segment.remove");
	msd_pack_nil(&c->result);
	return MSD_OK;
}
