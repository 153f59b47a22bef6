/*
 * Happy path: the code tells which fields follow, and the fields fill the packet.
 * Failures: the packet ends within a field, or bytes are left over.
 */
#include "proto/tvm_rpc/packet.h"

#define CLASSIC_TEXT 11
#define FFI_TEXT 8

static msd_err too_short(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "the packet ends within its fields");
}

static msd_err read_copy_to(struct msd_cur *c, uint64_t total_bytes, size_t n_all,
			    struct msd_rpc_packet *ret, struct msd_diag *d)
{
	const msd_err err = msd_rpc_tensor_read(c, &ret->tensor, d);

	if (err != MSD_OK)
		return err;
	ret->n_bytes = msd_cur_u64(c);
	if (c->bad)
		return too_short(d);
	const uint64_t n_head = n_all - c->left;
	if (total_bytes < n_head || total_bytes - n_head != ret->n_bytes) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "a packet of %llu bytes cannot hold a copy of %llu",
				    (unsigned long long)total_bytes,
				    (unsigned long long)ret->n_bytes);
	}
	ret->data = (struct msd_span){c->p, c->left};
	return MSD_OK;
}

static msd_err read_copy_from(struct msd_cur *c, struct msd_rpc_packet *ret,
			      struct msd_diag *d)
{
	const msd_err err = msd_rpc_tensor_read(c, &ret->tensor, d);

	if (err != MSD_OK)
		return err;
	ret->n_bytes = msd_cur_u64(c);
	return msd_cur_end(c) ? MSD_OK
			      : msd_diag_set(d, MSD_BAD_REQUEST,
					     "a request to copy has another size than "
					     "its fields");
}

static struct msd_span rest(const struct msd_cur *c)
{
	return (struct msd_span){c->p, c->left};
}

msd_err msd_rpc_packet_read(struct msd_span bytes, uint64_t total_bytes,
			    struct msd_rpc_packet *ret, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(bytes);
	const uint32_t code = msd_cur_u32(&c);

	*ret = (struct msd_rpc_packet){0};
	if (c.bad)
		return too_short(d);
	if (code == 0 || code >= MSD_RPC_CODE_COUNT) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "packet code %u is not known; TVM's are 1 to %d",
				    code, MSD_RPC_CODE_COUNT - 1);
	}
	ret->code = (enum msd_rpc_code)code;
	if (ret->code == MSD_RPC_COPY_TO)
		return read_copy_to(&c, total_bytes, bytes.n, ret, d);
	if (total_bytes != bytes.n)
		return too_short(d);
	if (ret->code == MSD_RPC_COPY_FROM)
		return read_copy_from(&c, ret, d);
	if (ret->code == MSD_RPC_COPY_ACK) {
		ret->data = rest(&c);
		return MSD_OK;
	}
	if (ret->code == MSD_RPC_INIT_SERVER)
		ret->version = msd_cur_str64(&c);
	if (ret->code == MSD_RPC_CALL)
		ret->function = msd_cur_u64(&c);
	if (ret->code == MSD_RPC_SHUTDOWN)
		return MSD_OK;
	ret->seq = rest(&c);
	return c.bad ? too_short(d) : MSD_OK;
}

/*
 * Both readings may fill a packet. The first type code tells then, or, if it is a
 * device's, the word behind it: in ffi the device's type, never 0; in classic the type
 * code of an int, 0.
 */
static enum msd_rpc_era tell_apart(const struct msd_rpc_packet *p)
{
	struct msd_cur c = msd_cur_of(p->seq);
	const uint32_t n = msd_cur_u32(&c);
	const uint32_t first = msd_cur_u32(&c);
	const uint32_t second = msd_cur_u32(&c);

	if (c.bad || n == 0)
		return MSD_RPC_FFI;
	if (p->code == MSD_RPC_GET_GLOBAL)
		return first == CLASSIC_TEXT ? MSD_RPC_CLASSIC : MSD_RPC_FFI;
	if (p->code == MSD_RPC_GET_ATTR)
		return second == 0 ? MSD_RPC_CLASSIC : MSD_RPC_FFI;
	return MSD_RPC_FFI;
}

msd_err msd_rpc_packet_era(const struct msd_rpc_packet *p, enum msd_rpc_era *ret,
			   struct msd_diag *d)
{
	struct msd_diag other = {0};
	const bool is_ffi = msd_rpc_seq_check(MSD_RPC_FFI, p->seq, d) == MSD_OK;
	const bool is_classic =
		msd_rpc_seq_check(MSD_RPC_CLASSIC, p->seq, &other) == MSD_OK;

	msd_diag_finish(&other);
	if (!is_ffi && !is_classic)
		return MSD_BAD_REQUEST;
	if (d != NULL)
		msd_diag_finish(d);
	*ret = !is_ffi ? MSD_RPC_CLASSIC : !is_classic ? MSD_RPC_FFI : tell_apart(p);
	return MSD_OK;
}

static bool has_values(enum msd_rpc_code code)
{
	return code != MSD_RPC_SHUTDOWN && code != MSD_RPC_COPY_FROM &&
	       code != MSD_RPC_COPY_TO && code != MSD_RPC_COPY_ACK;
}

void msd_rpc_packet_write(struct msd_buf *out, const struct msd_rpc_packet *p,
			  enum msd_rpc_era era, const struct msd_rpc_value *values,
			  uint32_t n_values)
{
	const size_t at = out->n;

	msd_buf_put_u64(out, 0);
	msd_buf_put_u32(out, (uint32_t)p->code);
	if (p->code == MSD_RPC_COPY_FROM || p->code == MSD_RPC_COPY_TO) {
		msd_rpc_tensor_write(out, &p->tensor);
		msd_buf_put_u64(out, p->n_bytes);
	}
	if (p->code == MSD_RPC_INIT_SERVER)
		msd_buf_put_str64(out, p->version.p, p->version.n);
	if (p->code == MSD_RPC_CALL)
		msd_buf_put_u64(out, p->function);
	if (has_values(p->code)) {
		msd_rpc_seq_write(out, era, values, n_values);
	} else {
		msd_buf_put(out, p->data.p, p->data.n);
	}
	if (!out->bad)
		msd_put_le64(out->p + at, out->n - at - MSD_RPC_SIZE_BYTES);
}
