#include "runtime/load/plugin.h"

#include "artifact/provides/provides.h"
#include "graph/ir/refuse.h"
#include "graph/plugin/plugin.h"
#include "runtime/abi/slots.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kind/kinds.h"
#include "runtime/load/plugin_values.h"
#include "runtime/packed/global.h"
#include "runtime/value/error.h"
#include "runtime/value/function.h"
#include "runtime/value/registry.h"

/* Report the error that was raised for @name as that of the registration. */
static int refuse_raised(const char *name)
{
	struct msd_diag d = {0};

	(void)msd_abi_fetch_error(&d);
	(void)msd_refuse("%s: %s", name, msd_diag_text(&d));
	msd_diag_finish(&d);
	return -1;
}

static int register_function(void *ctx)
{
	const modserd_function *function = ctx;
	const struct msd_span name = msd_span_of(function->name);
	struct msd_function *fn =
		msd_function_new(function->self, (msd_safe_call)function->call, NULL);
	int rc;

	if (fn == NULL)
		return msd_refuse("%s: out of memory", function->name);
	rc = msd_registry_set(
		name, fn, function->for_clients != 0 ? MSD_REGISTERED_FOR_CLIENTS : 0);
	msd_obj_unref(&fn->obj);
	if (rc != 0)
		return refuse_raised(function->name);
	return msd_provides_add(MSD_PROVIDED_PACKED, function->name)
		       ? 0
		       : msd_refuse("%s: out of memory", function->name);
}

static int add_function(const modserd_function *function)
{
	if (!msd_plugin_check_function(function))
		return -1;
	msd_globals_open(); /* names of the runtime are taken */
	return msd_plugin_add_listed(MSD_PLUGIN_FUNCTION, function->name,
				     register_function, (void *)(uintptr_t)function);
}

static int register_kind(void *ctx)
{
	const modserd_module_kind *kind = ctx;

	if (msd_provides_name(MSD_PROVIDED_KINDS, kind->kind))
		return msd_refuse("modules of kind %s run already", kind->kind);
	return msd_plugin_kind_add(kind) &&
			       msd_provides_add(MSD_PROVIDED_KINDS, kind->kind)
		       ? 0
		       : msd_refuse("%s: out of memory", kind->kind);
}

static int add_module_kind(const modserd_module_kind *kind)
{
	if (!msd_plugin_check_module_kind(kind))
		return -1;
	return msd_plugin_add_listed(MSD_PLUGIN_KIND, kind->kind, register_kind,
				     (void *)(uintptr_t)kind);
}

struct symbol {
	const char *name;
	void *address;
};

static int register_symbol(void *ctx)
{
	const struct symbol *symbol = ctx;

	if (symbol->address == NULL)
		return msd_refuse("the address of symbol %s is NULL", symbol->name);
	if (msd_slot_value(symbol->name) != NULL)
		return msd_refuse("symbol %s has a value already", symbol->name);
	if (msd_slot_register(symbol->name, symbol->address) != 0)
		return refuse_raised(symbol->name);
	return msd_provides_add(MSD_PROVIDED_SLOTS, symbol->name)
		       ? 0
		       : msd_refuse("%s: out of memory", symbol->name);
}

static int add_symbol(const char *name, void *address)
{
	struct symbol symbol = {name, address};

	return msd_plugin_add_listed(MSD_PLUGIN_SYMBOL, name, register_symbol, &symbol);
}

msd_err msd_load_plugin(const char *path, struct msd_diag *d)
{
	static modserd_host host = {.abi = MODSERD_PLUGIN_ABI,
				    .bytes = sizeof(host),
				    .program = "modserd-worker",
				    .version = MSD_VERSION,
				    .add_kernel = msd_kernel_register,
				    .add_engine = msd_engine_register,
				    .parallel = msd_kernel_each,
				    .add_function = add_function,
				    .add_module_kind = add_module_kind,
				    .add_symbol = add_symbol};

	msd_plugin_values_put(&host);
	return msd_plugin_open(path, &host, d);
}
