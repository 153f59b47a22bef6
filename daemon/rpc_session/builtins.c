/*
 * Happy path: the arguments are checked, and each function answers its call. Failures:
 * an argument of another kind, a file or a handle that the session does not have; the
 * caller sends the error as an exception.
 */
#include "daemon/rpc_session/builtins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/rpc_session/linker.h"
#include "daemon/rpc_session/timer.h"
#include "runtime/load/loaded.h"
#include "runtime/module/instance.h"
#include "runtime/value/registry.h"

#define MAX_FUNCTION_NAME 4096u

static void return_none(struct msd_rpc_session *s)
{
	struct msd_any none = msd_none();

	(void)!msd_rpc_session_result_any(s, &none, NULL);
}

static msd_err bytes_at(const struct msd_rpc_args *args, uint32_t i,
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

static msd_err file_at(const struct msd_rpc_session *s, const struct msd_rpc_args *args,
		       uint32_t i, struct msd_rpc_file **ret, struct msd_diag *d)
{
	struct msd_span name = {0};
	const msd_err err = bytes_at(args, i, &name, d);

	return err == MSD_OK ? msd_rpc_files_find(&s->files, name, ret, d) : err;
}

static msd_err object_at(const struct msd_rpc_session *s,
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

static msd_err module_at(const struct msd_rpc_session *s,
			 const struct msd_rpc_args *args, uint32_t i,
			 struct msd_rpc_object **ret, struct msd_diag *d)
{
	const msd_err err = object_at(s, args, i, ret, d);

	if (err != MSD_OK || (*ret)->kind == MSD_RPC_IS_MODULE ||
	    (*ret)->kind == MSD_RPC_IS_INSTANCE)
		return err;
	return msd_diag_set(d, MSD_BAD_ARGUMENT, "argument %u: expected a module", i);
}

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
		if (object_at(s, args, 0, &o, d) != MSD_OK)
			return MSD_BAD_ARGUMENT;
		if (o->kind != MSD_RPC_IS_VALUE || !msd_any_copy(&o->value, &any)) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "argument 0: expected a value");
		}
	}
	return msd_rpc_session_result_any(s, &any, d);
}

static msd_err upload(struct msd_rpc_session *s, const struct msd_rpc_args *args,
		      struct msd_diag *d)
{
	struct msd_span name = {0}, bytes = {0};
	msd_err err = bytes_at(args, 0, &name, d);

	if (err == MSD_OK)
		err = bytes_at(args, 1, &bytes, d);
	if (err == MSD_OK)
		err = msd_rpc_files_put(&s->files, name, bytes, d);
	if (err == MSD_OK)
		return_none(s);
	return err;
}

static msd_err download(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			struct msd_diag *d)
{
	struct msd_rpc_value v = {.kind = MSD_RPC_BYTES};
	struct msd_buf bytes = {0};
	struct msd_rpc_file *file = NULL;
	msd_err err = file_at(s, args, 0, &file, d);

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
	const msd_err err = bytes_at(args, 0, &name, d);

	if (err != MSD_OK)
		return err;
	msd_rpc_files_remove(&s->files, name);
	return_none(s);
	return MSD_OK;
}

static msd_err open_module(struct msd_rpc_session *s, const struct msd_rpc_file *file,
			   struct msd_loaded **ret, struct msd_diag *d)
{
	/* The module keeps the label for its error texts. */
	char *label = strdup(file->name);
	const struct msd_load_options options = {.label = label,
						 .probe_signatures = true};
	struct msd_dev *dev;
	msd_err err = MSD_OK;

	if (label == NULL)
		return msd_diag_no_memory(d);
	msd_rpc_session_note(s, "load of", label);
	err = msd_loaded_open(file->fd, file->map, &options, ret, d);
	if (err == MSD_OK) {
		err = msd_loaded_place(*ret, (struct msd_device){0}, d);
		if (err == MSD_OK) {
			err = msd_rpc_devices_reach(&s->devices,
						    msd_loaded_device(*ret), &dev, d);
		}
		if (err != MSD_OK)
			msd_loaded_close(*ret);
	}
	msd_rpc_session_note(s, NULL, NULL);
	if (err != MSD_OK)
		free(label);
	return err;
}

/* NULL: no memory. */
static struct msd_rpc_module *add_module(struct msd_rpc_session *s)
{
	struct msd_rpc_module *m = calloc(1, sizeof(*m));

	if (m != NULL) {
		m->next = s->modules;
		s->modules = m;
	}
	return m;
}

/* Objects are linked to a library, which is a file called NAME.so, as in TVM's server.
 */
static msd_err link_file(struct msd_rpc_session *s, struct msd_rpc_file **file,
			 struct msd_diag *d)
{
	char name[MSD_RPC_MAX_FILE_NAME + sizeof(".so")];
	int fd;

	if (!msd_rpc_linker_wants((*file)->map))
		return MSD_OK;
	(void)snprintf(name, sizeof(name), "%s.so", (*file)->name);
	msd_err err = msd_rpc_linker_run((*file)->map, &fd, d);
	if (err == MSD_OK)
		err = msd_rpc_files_put_fd(&s->files, msd_span_of(name), fd, d);
	if (err == MSD_OK)
		err = msd_rpc_files_find(&s->files, msd_span_of(name), file, d);
	return err == MSD_OK ? msd_rpc_file_seal(*file, d) : err;
}

static msd_err load_module(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_diag *d)
{
	struct msd_rpc_object o = {.kind = MSD_RPC_IS_MODULE};
	struct msd_rpc_file *file = NULL;
	msd_err err = file_at(s, args, 0, &file, d);

	if (err == MSD_OK)
		err = msd_rpc_file_seal(file, d);
	if (err == MSD_OK)
		err = link_file(s, &file, d);
	if (err != MSD_OK)
		return err;
	o.module = add_module(s);
	if (o.module == NULL)
		return msd_diag_no_memory(d);
	err = open_module(s, file, &o.module->loaded, d);
	if (err != MSD_OK) {
		s->modules = o.module->next;
		free(o.module);
		return err;
	}
	return msd_rpc_session_result_object(s, &o, d);
}

static msd_err system_lib(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			  struct msd_diag *d)
{
	struct msd_rpc_object o = {.kind = MSD_RPC_IS_MODULE, .module = add_module(s)};

	(void)args;
	if (o.module == NULL)
		return msd_diag_no_memory(d);
	return msd_rpc_session_result_object(s, &o, d);
}

static bool is_maker(const char *name)
{
	return strcmp(name, "default") == 0 ||
	       strcmp(name, "vm_load_executable") == 0 ||
	       strcmp(name, "vm_profiler_load_executable") == 0;
}

static bool find_in_module(struct msd_rpc_module *m, const char *name,
			   struct msd_rpc_object *ret)
{
	const struct msd_func_info *info;
	struct msd_function *fn;
	struct msd_diag why = {0};

	*ret = (struct msd_rpc_object){.module = m};
	if (m->loaded != NULL &&
	    msd_loaded_find(m->loaded, name, &info, &fn, &why) == MSD_OK) {
		ret->kind = MSD_RPC_IS_FUNCTION;
		ret->function = fn;
		return true;
	}
	msd_diag_finish(&why);
	if (m->loaded != NULL && is_maker(name)) {
		ret->kind = MSD_RPC_IS_MAKER;
		return true;
	}
	for (uint32_t i = 0; i < m->n_imports; i++) { /* imports have none: no circle */
		if (find_in_module(m->imports[i], name, ret))
			return true;
	}
	return false;
}

static bool find_in_instance(const struct msd_rpc_object *o, const char *name,
			     struct msd_rpc_object *ret)
{
	struct msd_diag why = {0};
	bool takes_out;

	*ret = (struct msd_rpc_object){.kind = MSD_RPC_IS_FUNCTION,
				       .module = o->module,
				       .instance = o->instance,
				       .is_get_input = strcmp(name, "get_input") == 0};
	if (msd_instance_find(o->instance, name, &ret->function, &takes_out, &why) ==
	    MSD_OK)
		return true;
	msd_diag_finish(&why);
	return false;
}

/* Find the function @name of the module of argument 0; *@ret_is_found says if there is
 * one. */
static msd_err find_function(const struct msd_rpc_session *s,
			     const struct msd_rpc_args *args,
			     struct msd_rpc_object *ret, bool *ret_is_found,
			     struct msd_diag *d)
{
	struct msd_rpc_object *module = NULL;
	struct msd_span name = {0};
	msd_err err = module_at(s, args, 0, &module, d);

	if (err == MSD_OK)
		err = bytes_at(args, 1, &name, d);
	if (err != MSD_OK)
		return err;
	char *text = strndup((const char *)name.p,
			     name.n < MAX_FUNCTION_NAME ? name.n : MAX_FUNCTION_NAME);
	if (text == NULL)
		return msd_diag_no_memory(d);
	*ret_is_found = module->kind == MSD_RPC_IS_INSTANCE
				? find_in_instance(module, text, ret)
				: find_in_module(module->module, text, ret);
	free(text);
	return MSD_OK;
}

static msd_err get_function(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			    struct msd_diag *d)
{
	struct msd_rpc_object found;
	bool is_found = false;
	const msd_err err = find_function(s, args, &found, &is_found, d);

	if (err != MSD_OK)
		return err;
	if (is_found)
		return msd_rpc_session_result_object(s, &found, d);
	return_none(s);
	return MSD_OK;
}

/* The function to time: one of a module, or, without one, a global function. */
static msd_err find_timed(const struct msd_rpc_session *s,
			  const struct msd_rpc_args *args, struct msd_rpc_object *ret,
			  struct msd_diag *d)
{
	struct msd_span name = {0};
	bool is_found = false;
	msd_err err = bytes_at(args, 1, &name, d);

	if (err == MSD_OK && args->values[0].kind != MSD_RPC_NONE) {
		err = find_function(s, args, ret, &is_found, d);
	} else if (err == MSD_OK) {
		*ret = (struct msd_rpc_object){.kind = MSD_RPC_IS_FUNCTION,
					       .function = msd_registry_find(name)};
		is_found = ret->function != NULL;
	}
	if (err != MSD_OK || (is_found && ret->kind == MSD_RPC_IS_FUNCTION))
		return err;
	return msd_diag_set(d, MSD_NOT_FOUND, "Cannot find %.*s",
			    (int)(name.n < 256 ? name.n : 256), (const char *)name.p);
}

/* Open the device that is timed: arguments 2 and 3 are its type and number. */
static msd_err reach_timed(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_diag *d)
{
	struct msd_dev *dev;

	for (uint32_t i = 2; i < 4; i++) {
		const struct msd_rpc_value *v = &args->values[i];
		if (v->kind != MSD_RPC_INT || v->as.i64 < 0 || v->as.i64 > INT32_MAX) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "argument %u: expected a number of a "
					    "device",
					    i);
		}
	}
	const struct msd_device device = {(int32_t)args->values[2].as.i64,
					  (int32_t)args->values[3].as.i64};
	return msd_rpc_devices_reach(&s->devices, device, &dev, d);
}

static msd_err time_evaluator(struct msd_rpc_session *s,
			      const struct msd_rpc_args *args, struct msd_diag *d)
{
	struct msd_rpc_object o;
	struct msd_rpc_timer timer;
	msd_err err = find_timed(s, args, &o, d);

	if (err == MSD_OK)
		err = msd_rpc_timer_read(args, &timer, d);
	if (err == MSD_OK)
		err = reach_timed(s, args, d);
	if (err != MSD_OK)
		return err;
	o.timer = malloc(sizeof(*o.timer));
	if (o.timer == NULL)
		return msd_diag_no_memory(d);
	*o.timer = timer;
	err = msd_rpc_session_result_object(s, &o, d);
	if (err != MSD_OK)
		free(o.timer);
	return err;
}

/* An import is only one level deep, so that no search goes round in a circle. */
static msd_err import_module(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			     struct msd_diag *d)
{
	struct msd_rpc_object *to = NULL, *from = NULL;
	msd_err err = module_at(s, args, 0, &to, d);

	if (err == MSD_OK)
		err = module_at(s, args, 1, &from, d);
	if (err != MSD_OK)
		return err;
	if (to->kind != MSD_RPC_IS_MODULE || from->kind != MSD_RPC_IS_MODULE ||
	    from->module->n_imports > 0 || to->module == from->module) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "only a module without imports can be imported");
	}
	if (to->module->n_imports == MSD_RPC_MAX_IMPORTS) {
		return msd_diag_set(d, MSD_TOO_LARGE, "a module has at most %u imports",
				    MSD_RPC_MAX_IMPORTS);
	}
	to->module->imports[to->module->n_imports++] = from->module;
	return_none(s);
	return MSD_OK;
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
	return msd_rpc_session_result_any(s, &any, d);
}

static msd_err shape_at(const struct msd_rpc_session *s,
			const struct msd_rpc_args *args, const struct msd_shape **ret,
			struct msd_diag *d)
{
	struct msd_rpc_object *o;
	const msd_err err = object_at(s, args, 0, &o, d);

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
	return msd_rpc_session_result_any(s, &any, d);
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
	return msd_rpc_session_result_any(s, &any, d);
}

/* A positive answer is asked once a session, 0 before each copy. */
static msd_err packet_size(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_diag *d)
{
	/* Room for the fields before the data. */
	struct msd_any any = msd_int((int64_t)(s->channel.max_bytes - 4096));

	(void)args;
	return msd_rpc_session_result_any(s, &any, d);
}

static const struct msd_rpc_builtin rows[] = {
	{"testing.echo", 1, echo},
	{"tvm.rpc.server.upload", 2, upload},
	{"tvm.rpc.server.download", 1, download},
	{"tvm.rpc.server.remove", 1, drop},
	{"tvm.rpc.server.load_module", 1, load_module},
	{"tvm.rpc.server.ModuleGetFunction", 2, get_function},
	{"tvm.rpc.server.ImportModule", 2, import_module},
	{"tvm.rpc.server.GetCRTMaxPacketSize", 0, packet_size},
	{"runtime.RPCTimeEvaluator", 4, time_evaluator},
	{"ffi.SystemLib", 0, system_lib},
	{"runtime.SystemLib", 0, system_lib},
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
