#include "daemon/rpc_session/args.h"

#include "runtime/value/value.h"

void msd_rpc_return_none(struct msd_rpc_session *s)
{
	struct msd_any none = msd_none();

	(void)!msd_rpc_session_result_any(s, &none, NULL, NULL);
}

msd_err msd_rpc_bytes_at(const struct msd_rpc_args *args, uint32_t i,
			 struct msd_span *ret, struct msd_diag *d)
{
	const struct msd_rpc_value *v = &args->values[i];

	if (v->kind != MSD_RPC_TEXT && v->kind != MSD_RPC_BYTES) {
		(void)msd_diag_set(d, MSD_BAD_ARGUMENT,
				   "argument %u: expected a text or bytes", i);
		return MSD_BAD_ARGUMENT;
	}
	*ret = v->as.bytes;
	return MSD_OK;
}

msd_err msd_rpc_file_at(const struct msd_rpc_session *s,
			const struct msd_rpc_args *args, uint32_t i,
			struct msd_rpc_file **ret, struct msd_diag *d)
{
	struct msd_span name = {0};
	const msd_err err = msd_rpc_bytes_at(args, i, &name, d);

	return err == MSD_OK ? msd_rpc_files_find(&s->files, name, ret, d) : err;
}

msd_err msd_rpc_object_at(const struct msd_rpc_session *s,
			  const struct msd_rpc_args *args, uint32_t i,
			  struct msd_rpc_object **ret, struct msd_diag *d)
{
	const struct msd_rpc_value *v = &args->values[i];
	const bool is_handle = v->kind == MSD_RPC_MODULE || v->kind == MSD_RPC_OBJECT ||
			       v->kind == MSD_RPC_FUNCTION;

	*ret = is_handle ? msd_rpc_table_find(&s->table, v->as.handle) : NULL;
	if (*ret != NULL)
		return MSD_OK;
	(void)msd_diag_set(d, MSD_BAD_ARGUMENT,
			   "argument %u: expected a handle of this session", i);
	return MSD_BAD_ARGUMENT;
}

msd_err msd_rpc_module_at(const struct msd_rpc_session *s,
			  const struct msd_rpc_args *args, uint32_t i,
			  struct msd_rpc_object **ret, struct msd_diag *d)
{
	const msd_err err = msd_rpc_object_at(s, args, i, ret, d);

	if (err != MSD_OK || (*ret)->kind == MSD_RPC_IS_MODULE ||
	    (*ret)->kind == MSD_RPC_IS_INSTANCE)
		return err;
	return msd_diag_set(d, MSD_BAD_ARGUMENT, "argument %u: expected a module", i);
}
