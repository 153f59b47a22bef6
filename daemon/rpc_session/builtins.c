/*
 * Happy path: the arguments are checked, and each function answers its call. Failures:
 * an argument of another kind, a file or a handle that the session does not have; the
 * caller sends the error as an exception.
 */
#include "daemon/rpc_session/builtins.h"

#include <stdio.h>

#include "daemon/rpc_session/args.h"
#include "daemon/rpc_session/modules.h"
#include "runtime/pool/pool.h"

/* Its values, which may name tensors, come back as results. */
static msd_err echo(struct msd_rpc_session *s, const struct msd_rpc_args *args,
		    struct msd_diag *d)
{
	const struct msd_rpc_value *v = &args->values[0];
	struct msd_any any = msd_none();
	struct msd_rpc_object *o;

	switch ((int)v->kind) {
	case MSD_RPC_NONE:
		break;
	case MSD_RPC_INT:
		any = msd_int(v->as.i64);
		break;
	case MSD_RPC_BOOL:
		any = msd_bool(v->as.i64 != 0);
		break;
	case MSD_RPC_FLOAT:
		any = msd_float(v->as.f64);
		break;
	case MSD_RPC_DTYPE:
		any = (struct msd_any){.type = MSD_T_DTYPE, .as.dtype = v->as.dtype};
		break;
	case MSD_RPC_DEVICE:
		any = (struct msd_any){.type = MSD_T_DEVICE, .as.device = v->as.device};
		break;
	case MSD_RPC_TEXT:
	case MSD_RPC_BYTES:
		if (!msd_any_text(v->as.bytes, v->kind == MSD_RPC_TEXT, &any))
			return msd_diag_no_memory(d);
		break;
	default:
		if (msd_rpc_object_at(s, args, 0, &o, d) != MSD_OK)
			return MSD_BAD_ARGUMENT;
		if (o->kind != MSD_RPC_IS_VALUE || !msd_any_copy(&o->value, &any)) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "argument 0: expected a value");
		}
	}
	return msd_rpc_session_result_any(s, &any, NULL, d);
}

/* (kind of the error, text) */
static msd_err raise_error(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_diag *d)
{
	struct msd_span text = {0};
	const msd_err err = msd_rpc_bytes_at(args, 1, &text, d);

	(void)s;
	if (err != MSD_OK)
		return err;
	return msd_diag_set_bytes(d, MSD_CALL_FAILED, (const char *)text.p, text.n);
}

static msd_err upload(struct msd_rpc_session *s, const struct msd_rpc_args *args,
		      struct msd_diag *d)
{
	struct msd_span name = {0}, bytes = {0};
	msd_err err = msd_rpc_bytes_at(args, 0, &name, d);

	if (err == MSD_OK)
		err = msd_rpc_bytes_at(args, 1, &bytes, d);
	if (err == MSD_OK)
		err = msd_rpc_files_put(&s->files, name, bytes, d);
	if (err == MSD_OK)
		msd_rpc_return_none(s);
	return err;
}

static msd_err download(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			struct msd_diag *d)
{
	struct msd_rpc_value v = {.kind = MSD_RPC_BYTES};
	struct msd_buf bytes = {0};
	struct msd_rpc_file *file = NULL;
	msd_err err = msd_rpc_file_at(s, args, 0, &file, d);

	if (err == MSD_OK)
		err = msd_rpc_file_read(file, &bytes, d);
	v.as.bytes = (struct msd_span){bytes.p, bytes.n};
	if (err == MSD_OK)
		msd_rpc_session_result(s, MSD_T_BYTES, 12, v);
	msd_buf_finish(&bytes);
	return err;
}

/* MetaSchedule removes names that it has never uploaded. */
static msd_err drop(struct msd_rpc_session *s, const struct msd_rpc_args *args,
		    struct msd_diag *d)
{
	struct msd_span name = {0};
	const msd_err err = msd_rpc_bytes_at(args, 0, &name, d);

	if (err != MSD_OK)
		return err;
	msd_rpc_files_remove(&s->files, name);
	msd_rpc_return_none(s);
	return MSD_OK;
}

/* A path for the other functions: the session's files have no folder. */
static msd_err work_path(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			 struct msd_diag *d)
{
	struct msd_span name = {0};
	struct msd_any any;
	msd_err err = msd_rpc_bytes_at(args, 0, &name, d);

	if (err == MSD_OK)
		err = msd_rpc_file_name_check(name, d);
	if (err != MSD_OK)
		return err;
	return msd_any_text(name, true, &any)
		       ? msd_rpc_session_result_any(s, &any, NULL, d)
		       : msd_diag_no_memory(d);
}

/* Each name has a comma behind it, as TVM's C++ server writes them. */
static msd_err list_files(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_diag *d)
{
	struct msd_rpc_value v = {.kind = MSD_RPC_TEXT};
	struct msd_span folder = {0};
	struct msd_buf names = {0};
	msd_err err = msd_rpc_bytes_at(args, 0, &folder, d);

	if (err == MSD_OK)
		err = msd_rpc_files_list(&s->files, folder, &names, d);
	v.as.bytes = (struct msd_span){names.p, names.n};
	if (err == MSD_OK)
		msd_rpc_session_result(s, MSD_T_STR, 11, v);
	msd_buf_finish(&names);
	return err;
}

/* (TVM's choice of cores, which is ignored; number of threads, 0: all) */
static msd_err configure_threads(struct msd_rpc_session *s,
				 const struct msd_rpc_args *args, struct msd_diag *d)
{
	const struct msd_rpc_value *n = &args->values[1];

	if (n->kind != MSD_RPC_INT || n->as.i64 < 0) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "argument 1: expected a number of threads");
	}
	const uint64_t most = s->max_threads;
	const uint64_t wanted = (uint64_t)n->as.i64;
	msd_pool_stop();
	msd_pool_configure((unsigned)(wanted == 0 || wanted > most ? most : wanted));
	msd_rpc_return_none(s);
	return MSD_OK;
}

static msd_err count_threads(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			     struct msd_diag *d)
{
	struct msd_any any = msd_int(msd_pool_size());

	(void)args;
	return msd_rpc_session_result_any(s, &any, NULL, d);
}

static msd_err make_shape(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_diag *d)
{
	int64_t dims[MSD_MAX_NDIM];

	if (args->n > MSD_MAX_NDIM) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "at most %d extents",
				    MSD_MAX_NDIM);
	}
	for (uint32_t i = 0; i < args->n; i++) {
		if (args->values[i].kind != MSD_RPC_INT) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "argument %u: expected an int", i);
		}
		dims[i] = args->values[i].as.i64;
	}
	struct msd_shape *shape = msd_shape_new(dims, args->n);
	if (shape == NULL)
		return msd_diag_no_memory(d);
	struct msd_any any = msd_of_obj(&shape->obj);
	return msd_rpc_session_result_any(s, &any, NULL, d);
}

static msd_err shape_at(const struct msd_rpc_session *s,
			const struct msd_rpc_args *args, const struct msd_shape **ret,
			struct msd_diag *d)
{
	struct msd_rpc_object *o;
	const msd_err err = msd_rpc_object_at(s, args, 0, &o, d);

	if (err != MSD_OK)
		return err;
	if (o->kind != MSD_RPC_IS_VALUE || o->value.type != MSD_T_SHAPE) {
		(void)msd_diag_set(d, MSD_BAD_ARGUMENT, "argument 0: expected a shape");
		return MSD_BAD_ARGUMENT;
	}
	*ret = (const struct msd_shape *)(void *)o->value.as.obj;
	return MSD_OK;
}

static msd_err shape_size(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_diag *d)
{
	const struct msd_shape *shape = NULL;
	const msd_err err = shape_at(s, args, &shape, d);

	if (err != MSD_OK)
		return err;
	struct msd_any any = msd_int((int64_t)shape->ndim);
	return msd_rpc_session_result_any(s, &any, NULL, d);
}

static msd_err shape_element(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			     struct msd_diag *d)
{
	const struct msd_shape *shape = NULL;
	const struct msd_rpc_value *at = &args->values[1];
	const msd_err err = shape_at(s, args, &shape, d);

	if (err != MSD_OK)
		return err;
	if (at->kind != MSD_RPC_INT || at->as.i64 < 0 ||
	    (uint64_t)at->as.i64 >= shape->ndim) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "argument 1: expected an index below %zu",
				    shape->ndim);
	}
	struct msd_any any = msd_int(shape->dim[at->as.i64]);
	return msd_rpc_session_result_any(s, &any, NULL, d);
}

/* A positive answer is asked once a session, 0 before each copy. */
static msd_err packet_size(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_diag *d)
{
	/* Room for the fields before the data. */
	struct msd_any any = msd_int((int64_t)(s->channel.max_bytes - 4096));

	(void)args;
	return msd_rpc_session_result_any(s, &any, NULL, d);
}

static const struct msd_rpc_builtin rows[] = {
	{"testing.echo", 1, echo},
	{"testing.test_raise_error", 2, raise_error},
	{"tvm.rpc.server.upload", 2, upload},
	{"tvm.rpc.server.download", 1, download},
	{"tvm.rpc.server.remove", 1, drop},
	{"tvm.rpc.server.listdir", 1, list_files},
	{"tvm.rpc.server.workpath", 1, work_path},
	{"tvm.rpc.server.load_module", 1, msd_rpc_modules_load},
	{"tvm.rpc.server.download_linked_module", 1, msd_rpc_modules_linked},
	{"tvm.rpc.server.ModuleGetFunction", 2, msd_rpc_modules_find},
	{"tvm.rpc.server.ImportModule", 2, msd_rpc_modules_import},
	{"tvm.rpc.server.GetCRTMaxPacketSize", 0, packet_size},
	{"runtime.RPCTimeEvaluator", 4, msd_rpc_modules_timer},
	{"runtime.config_threadpool", 2, configure_threads},
	{"runtime.NumThreads", 0, count_threads},
	{"ffi.SystemLib", 0, msd_rpc_modules_system},
	{"runtime.SystemLib", 0, msd_rpc_modules_system},
	{"ffi.ModuleLoadFromFile", 1, msd_rpc_modules_load},
	{"runtime.ModuleLoadFromFile", 1, msd_rpc_modules_load},
	{"ffi.ModuleGetFunction", 2, msd_rpc_modules_find},
	{"runtime.ModuleGetFunction", 2, msd_rpc_modules_find},
	{"ffi.ModuleImplementsFunction", 2, msd_rpc_modules_implements},
	{"runtime.ModuleImplementsFunction", 2, msd_rpc_modules_implements},
	{"ffi.ModuleImportModule", 2, msd_rpc_modules_import},
	{"runtime.ModuleImport", 2, msd_rpc_modules_import},
	{"ffi.ModuleClearImports", 1, msd_rpc_modules_forget},
	{"runtime.ModuleClearImports", 1, msd_rpc_modules_forget},
	{"ffi.ModuleGetKind", 1, msd_rpc_modules_kind},
	{"runtime.ModuleGetTypeKey", 1, msd_rpc_modules_kind},
	{"tvm.graph_executor.create", 2, msd_rpc_modules_graph},
	{"tvm.graph_runtime.create", 2, msd_rpc_modules_graph},
	{"ffi.Shape", 0, make_shape},
	{"runtime.ShapeTuple", 0, make_shape},
	{"rpc.testing.GetShapeSize", 1, shape_size},
	{"rpc.testing.GetShapeElem", 2, shape_element},
	{"runtime.GetShapeTupleSize", 1, shape_size},
	{"runtime.GetShapeTupleElem", 2, shape_element},
};

const struct msd_rpc_builtin *msd_rpc_builtin_find(struct msd_span name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (msd_span_is(name, rows[i].name))
			return &rows[i];
	}
	return NULL;
}

msd_err msd_rpc_builtin_call(struct msd_rpc_session *s, const struct msd_rpc_builtin *b,
			     const struct msd_rpc_args *args, struct msd_diag *d)
{
	msd_err err;

	if (args->n < b->n_args) {
		err = msd_diag_set(d, MSD_BAD_ARGUMENT,
				   "expected at least %u arguments, got %u", b->n_args,
				   args->n);
	} else {
		err = b->call(s, args, d);
	}
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s", b->name);
}
