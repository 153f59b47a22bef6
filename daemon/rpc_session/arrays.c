/* Arrays of a client: memory, and copies between it and the client. */
#include <stdlib.h>

#include "daemon/rpc_session/state.h"
#include "runtime/device/memory.h"

static msd_err no_room(uint64_t bytes, struct msd_diag *d)
{
	(void)msd_diag_set(d, MSD_NOMEM,
			   "an array of %llu bytes: out of memory "
			   "(--max-worker-memory limits a session)",
			   (unsigned long long)bytes);
	return MSD_NOMEM;
}

static msd_err make_memory(const struct msd_rpc_session *s, struct msd_dev *dev,
			   uint64_t bytes, struct msd_storage **ret, struct msd_diag *d)
{
	const uint64_t most = s->max_bytes > 0 ? s->max_bytes : SIZE_MAX / 2;

	/* A device has its own limit. */
	if (dev != NULL && bytes <= SIZE_MAX / 2)
		return msd_dev_storage(dev, bytes, ret, d);
	*ret = bytes <= most ? msd_storage_new(bytes) : NULL;
	return *ret != NULL ? MSD_OK : no_room(bytes, d);
}

msd_err msd_rpc_session_alloc(struct msd_rpc_session *s, struct msd_device device,
			      uint64_t bytes, uint64_t *ret, struct msd_diag *d)
{
	struct msd_rpc_object o = {.kind = MSD_RPC_IS_ARRAY, .bytes = bytes};
	msd_err err = msd_rpc_devices_reach(&s->devices, device, &o.dev, d);

	if (err == MSD_OK)
		err = make_memory(s, o.dev, bytes, &o.memory, d);
	if (err != MSD_OK)
		return err;
	o.data = o.memory->data;
	err = msd_rpc_table_add(&s->table, &o, ret, d);
	if (err != MSD_OK)
		msd_obj_unref(&o.memory->obj);
	return err;
}

static msd_err copy(const struct msd_rpc_place *to, const struct msd_rpc_place *from,
		    uint64_t n, struct msd_diag *d)
{
	msd_err err = msd_dev_copy(to->dev, to->data, from->dev, from->data, n, d);

	if (err == MSD_OK && from->dev != NULL)
		err = msd_dev_sync(from->dev, d);
	if (err == MSD_OK && to->dev != NULL && to->dev != from->dev)
		err = msd_dev_sync(to->dev, d);
	return err;
}

msd_err msd_rpc_session_copy(struct msd_rpc_session *s,
			     const struct msd_rpc_tensor *from,
			     const struct msd_rpc_tensor *to, struct msd_diag *d)
{
	struct msd_rpc_place here, there;
	msd_err err = MSD_OK;

	if (from->bytes != to->bytes) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT, "a copy of %llu bytes into %llu",
			(unsigned long long)from->bytes, (unsigned long long)to->bytes);
	}
	err = msd_rpc_table_reach(&s->table, from, from->bytes, &here, d);
	if (err == MSD_OK)
		err = msd_rpc_table_reach(&s->table, to, to->bytes, &there, d);
	return err == MSD_OK ? copy(&there, &here, from->bytes, d) : err;
}

/* Memory that the socket can use: that of a device is copied through the host. */
static msd_err find_visible(const struct msd_rpc_place *place, uint64_t n,
			    struct msd_rpc_place *ret, void **ret_own,
			    struct msd_diag *d)
{
	*ret = *place;
	*ret_own = NULL;
	if (place->dev == NULL)
		return MSD_OK;
	*ret_own = malloc(n > 0 ? n : 1);
	*ret = (struct msd_rpc_place){.data = *ret_own};
	return *ret_own != NULL ? MSD_OK : no_room(n, d);
}

msd_err msd_rpc_session_take(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
			     struct msd_diag *d)
{
	struct msd_rpc_place to, host = {0};
	void *own = NULL;
	msd_err err = msd_rpc_table_reach(&s->table, &p->tensor, p->n_bytes, &to, d);

	if (err == MSD_OK)
		err = find_visible(&to, p->n_bytes, &host, &own, d);
	if (err == MSD_OK)
		err = msd_rpc_channel_take(&s->channel, p, host.data, p->n_bytes);
	if (err == MSD_OK && own != NULL)
		err = copy(&to, &host, p->n_bytes, d);
	free(own);
	return err;
}

msd_err msd_rpc_session_send(struct msd_rpc_session *s, const struct msd_rpc_packet *p,
			     struct msd_diag *d)
{
	const struct msd_rpc_packet ack = {.code = MSD_RPC_COPY_ACK};
	struct msd_rpc_place from, host = {0};
	void *own = NULL;
	msd_err err = msd_rpc_table_reach(&s->table, &p->tensor, p->n_bytes, &from, d);

	if (err == MSD_OK)
		err = find_visible(&from, p->n_bytes, &host, &own, d);
	if (err == MSD_OK && own != NULL)
		err = copy(&host, &from, p->n_bytes, d);
	s->out.n = 0;
	if (err == MSD_OK) {
		msd_rpc_packet_write(&s->out, &ack, s->era, NULL, 0);
		err = s->out.bad ? msd_diag_no_memory(d) : MSD_OK;
	}
	if (err == MSD_OK) {
		msd_put_le64(s->out.p, s->out.n - MSD_RPC_SIZE_BYTES + p->n_bytes);
		err = msd_rpc_channel_write(&s->channel, &s->out, host.data,
					    p->n_bytes);
		s->out.n = 0; /* nothing more to send */
	}
	free(own);
	return err;
}
