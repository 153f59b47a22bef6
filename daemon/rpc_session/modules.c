/*
 * Happy path: a file is linked if it has objects, and opened as a module. A name is
 * looked up in the module, then in what was imported to it. Failures: a file or a
 * handle that the session does not have, and those of the load.
 */
#include "daemon/rpc_session/modules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/rpc_session/args.h"
#include "daemon/rpc_session/executor.h"
#include "daemon/rpc_session/linker.h"
#include "daemon/rpc_session/timer.h"
#include "runtime/load/loaded.h"
#include "runtime/module/instance.h"
#include "runtime/value/registry.h"

#define MAX_FUNCTION_NAME 4096u
#define FACTORY "Factory"
#define FIRST_OWN_FD 100 /* foreign code may close low descriptors */

static msd_err open_library(struct msd_rpc_session *s, const char *label,
			    const struct msd_load_options *options,
			    struct msd_rpc_module *m, struct msd_diag *d)
{
	struct msd_dev *dev;

	msd_rpc_session_note(s, "load of", label);
	msd_err err = msd_loaded_open(m->fd, m->map, options, &m->loaded, d);
	if (err == MSD_OK) {
		err = msd_loaded_place(m->loaded, (struct msd_device){0}, d);
		if (err == MSD_OK) {
			err = msd_rpc_devices_reach(
				&s->devices, msd_loaded_device(m->loaded), &dev, d);
		}
		if (err != MSD_OK)
			msd_loaded_close(m->loaded);
	}
	msd_rpc_session_note(s, NULL, NULL);
	return err;
}

/* A module of the library @fd, which is borrowed, and its bytes @map, which stay
 * mapped.
 * @graph is taken. */
static msd_err add_module(struct msd_rpc_session *s, const char *label, int fd,
			  struct msd_span map, struct msd_span graph,
			  struct msd_rpc_module **ret, struct msd_diag *d)
{
	const struct msd_load_options options = {
		.label = label, .probe_signatures = true, .graph = graph};
	struct msd_rpc_module *m = calloc(1, sizeof(*m));
	msd_err err;

	if (m == NULL) {
		free((void *)(uintptr_t)graph.p);
		(void)msd_diag_no_memory(d);
		return MSD_NOMEM;
	}
	m->map = map;
	m->graph = graph;
	m->fd = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OWN_FD);
	err = m->fd >= 0 ? open_library(s, label, &options, m, d)
			 : msd_diag_set(d, MSD_IO,
					"%s: too many open files (--max-worker-files)",
					label);
	if (err != MSD_OK) {
		if (m->fd >= 0)
			(void)close(m->fd);
		free((void *)(uintptr_t)graph.p);
		free(m);
		return err;
	}
	m->next = s->modules;
	s->modules = m;
	*ret = m;
	return MSD_OK;
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

/* The library of argument 0: a file that is one, or that objects are linked to. */
static msd_err linked_file(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			   struct msd_rpc_file **ret, struct msd_diag *d)
{
	msd_err err = msd_rpc_file_at(s, args, 0, ret, d);

	if (err == MSD_OK)
		err = msd_rpc_file_seal(*ret, d);
	return err == MSD_OK ? link_file(s, ret, d) : err;
}

msd_err msd_rpc_modules_load(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			     struct msd_diag *d)
{
	struct msd_rpc_object o = {.kind = MSD_RPC_IS_MODULE};
	struct msd_rpc_file *file = NULL;
	msd_err err = linked_file(s, args, &file, d);

	if (err == MSD_OK) {
		err = add_module(s, file->name, file->fd, file->map,
				 (struct msd_span){0}, &o.module, d);
	}
	return err == MSD_OK ? msd_rpc_session_result_object(s, &o, d) : err;
}

msd_err msd_rpc_modules_linked(struct msd_rpc_session *s,
			       const struct msd_rpc_args *args, struct msd_diag *d)
{
	struct msd_rpc_value v = {.kind = MSD_RPC_BYTES};
	struct msd_rpc_file *file = NULL;
	const msd_err err = linked_file(s, args, &file, d);

	if (err != MSD_OK)
		return err;
	if (!msd_rpc_linker_made(file->map)) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "Do not know how to link %s",
				    file->name);
	}
	v.as.bytes = file->map;
	msd_rpc_session_result(s, MSD_T_BYTES, 12, v);
	return MSD_OK;
}

msd_err msd_rpc_modules_system(struct msd_rpc_session *s,
			       const struct msd_rpc_args *args, struct msd_diag *d)
{
	struct msd_rpc_object o = {.kind = MSD_RPC_IS_MODULE};

	(void)args;
	o.module = calloc(1, sizeof(*o.module));
	if (o.module == NULL)
		return msd_diag_no_memory(d);
	o.module->fd = -1;
	o.module->next = s->modules;
	s->modules = o.module;
	return msd_rpc_session_result_object(s, &o, d);
}

/* An executor of the graph of argument 0 and the library of argument 1. */
msd_err msd_rpc_modules_graph(struct msd_rpc_session *s,
			      const struct msd_rpc_args *args, struct msd_diag *d)
{
	struct msd_rpc_object o = {.kind = MSD_RPC_IS_INSTANCE};
	struct msd_rpc_object *library = NULL;
	struct msd_span graph = {0};
	msd_err err = msd_rpc_bytes_at(args, 0, &graph, d);

	if (err == MSD_OK)
		err = msd_rpc_module_at(s, args, 1, &library, d);
	if (err != MSD_OK)
		return err;
	if (library->module->loaded == NULL || graph.n == 0) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "expected a graph, and a library that was loaded");
	}
	/* The module has it as long as it lives. */
	uint8_t *copy = malloc(graph.n);
	if (copy == NULL)
		return msd_diag_no_memory(d);
	memcpy(copy, graph.p, graph.n);
	err = add_module(s, "graph", library->module->fd, library->module->map,
			 (struct msd_span){copy, graph.n}, &o.module, d);
	if (err == MSD_OK)
		err = msd_rpc_executor_new(o.module->loaded, &o.executor, d);
	if (err == MSD_OK)
		err = msd_rpc_session_result_object(s, &o, d);
	msd_rpc_executor_unref(o.executor);
	return err;
}

/* The factories of graph and AOT executors have one name, virtual machines others. */
static bool is_maker(struct msd_loaded *m, const char *name)
{
	const struct msd_span kind = msd_loaded_kind(m), factory = msd_span_of(FACTORY);
	const bool is_factory =
		kind.n > factory.n &&
		memcmp(kind.p + kind.n - factory.n, factory.p, factory.n) == 0;

	if (!msd_loaded_has_instances(m))
		return false;
	if (is_factory)
		return strcmp(name, "default") == 0;
	return strcmp(name, "vm_load_executable") == 0 ||
	       strcmp(name, "vm_profiler_load_executable") == 0;
}

static bool find_in_module(struct msd_rpc_module *m, const char *name,
			   bool with_imports, struct msd_rpc_object *ret)
{
	const struct msd_func_info *info;
	struct msd_function *fn;
	struct msd_diag why = {0};

	*ret = (struct msd_rpc_object){.module = m};
	if (m->loaded != NULL &&
	    msd_loaded_find(m->loaded, name, &info, &fn, &why) == MSD_OK &&
	    (with_imports ||
	     msd_span_is(msd_loaded_kind(m->loaded), info->module_kind))) {
		ret->kind = MSD_RPC_IS_FUNCTION;
		ret->function = fn;
		return true;
	}
	msd_diag_finish(&why);
	if (m->loaded != NULL && is_maker(m->loaded, name)) {
		ret->kind = MSD_RPC_IS_MAKER;
		return true;
	}
	for (uint32_t i = 0; with_imports && i < m->n_imports; i++) {
		/* Imports have none: no circle. */
		if (find_in_module(m->imports[i], name, true, ret))
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
				       .executor = o->executor,
				       .is_get_input = strcmp(name, "get_input") == 0};
	if (msd_instance_find(o->executor->instance, name, &ret->function, &takes_out,
			      &why) == MSD_OK)
		return true;
	msd_diag_finish(&why);
	return false;
}

/* Find the function @name of the module of argument 0. Argument 2, if there is one,
 * says whether also in its imports. *@ret_is_found: there is one. */
static msd_err find_function(const struct msd_rpc_session *s,
			     const struct msd_rpc_args *args,
			     struct msd_rpc_object *ret, bool *ret_is_found,
			     struct msd_diag *d)
{
	struct msd_rpc_object *module = NULL;
	struct msd_span name = {0};
	msd_err err = msd_rpc_module_at(s, args, 0, &module, d);

	if (err == MSD_OK)
		err = msd_rpc_bytes_at(args, 1, &name, d);
	if (err != MSD_OK)
		return err;
	const bool with_imports = args->n < 3 || args->values[2].kind != MSD_RPC_BOOL ||
				  args->values[2].as.i64 != 0;
	char *text = strndup((const char *)name.p,
			     name.n < MAX_FUNCTION_NAME ? name.n : MAX_FUNCTION_NAME);
	if (text == NULL)
		return msd_diag_no_memory(d);
	*ret_is_found =
		module->kind == MSD_RPC_IS_INSTANCE
			? find_in_instance(module, text, ret)
			: find_in_module(module->module, text, with_imports, ret);
	free(text);
	return MSD_OK;
}

msd_err msd_rpc_modules_find(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			     struct msd_diag *d)
{
	struct msd_rpc_object found;
	bool is_found = false;
	const msd_err err = find_function(s, args, &found, &is_found, d);

	if (err != MSD_OK)
		return err;
	if (is_found)
		return msd_rpc_session_result_object(s, &found, d);
	msd_rpc_return_none(s);
	return MSD_OK;
}

msd_err msd_rpc_modules_implements(struct msd_rpc_session *s,
				   const struct msd_rpc_args *args, struct msd_diag *d)
{
	struct msd_rpc_object found;
	bool is_found = false;
	const msd_err err = find_function(s, args, &found, &is_found, d);

	if (err != MSD_OK)
		return err;
	struct msd_any any = msd_bool(is_found);
	return msd_rpc_session_result_any(s, &any, NULL, d);
}

/* The function to time: one of a module, or, without one, a global function. */
static msd_err find_timed(const struct msd_rpc_session *s,
			  const struct msd_rpc_args *args, struct msd_rpc_object *ret,
			  struct msd_diag *d)
{
	struct msd_span name = {0};
	bool is_found = false;
	msd_err err = msd_rpc_bytes_at(args, 1, &name, d);

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

msd_err msd_rpc_modules_timer(struct msd_rpc_session *s,
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
msd_err msd_rpc_modules_import(struct msd_rpc_session *s,
			       const struct msd_rpc_args *args, struct msd_diag *d)
{
	struct msd_rpc_object *to = NULL, *from = NULL;
	msd_err err = msd_rpc_module_at(s, args, 0, &to, d);

	if (err == MSD_OK)
		err = msd_rpc_module_at(s, args, 1, &from, d);
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
	msd_rpc_return_none(s);
	return MSD_OK;
}

msd_err msd_rpc_modules_forget(struct msd_rpc_session *s,
			       const struct msd_rpc_args *args, struct msd_diag *d)
{
	struct msd_rpc_object *o = NULL;
	const msd_err err = msd_rpc_module_at(s, args, 0, &o, d);

	if (err != MSD_OK)
		return err;
	o->module->n_imports = 0;
	msd_rpc_return_none(s);
	return MSD_OK;
}

/* TVM's names of what this runtime reads under another name, and of executors. */
static struct msd_span kind_of(const struct msd_rpc_object *o)
{
	static const struct {
		const char *root, *module, *executor;
	} rows[] = {{"_lib", "library", "library"},
		    {"GraphExecutorFactory", NULL, "GraphExecutor"},
		    {"GraphRuntimeFactory", NULL, "GraphExecutor"},
		    {"AotExecutorFactory", NULL, "AotExecutor"},
		    {"VMExecutable", NULL, "VirtualMachine"},
		    {"relax.Executable", NULL, "relax.VirtualMachine"},
		    {"relax.VMExecutable", NULL, "relax.VirtualMachine"}};
	const struct msd_span root = o->module->loaded != NULL
					     ? msd_loaded_kind(o->module->loaded)
					     : msd_span_of("_lib");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name = o->kind == MSD_RPC_IS_INSTANCE ? rows[i].executor
								  : rows[i].module;
		if (name != NULL && msd_span_is(root, rows[i].root))
			return msd_span_of(name);
	}
	return root;
}

msd_err msd_rpc_modules_kind(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			     struct msd_diag *d)
{
	struct msd_rpc_object *o = NULL;
	struct msd_any any;
	const msd_err err = msd_rpc_module_at(s, args, 0, &o, d);

	if (err != MSD_OK)
		return err;
	return msd_any_text(kind_of(o), true, &any)
		       ? msd_rpc_session_result_any(s, &any, NULL, d)
		       : msd_diag_no_memory(d);
}
