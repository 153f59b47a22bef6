#include "daemon/supervisor/edge/session/request_target.h"

#include <string.h>

#include "daemon/supervisor/edge/objects/object.h"
#include "proto/name.h"

/* The parameters that name the target of a request. */
enum naming {
	NOTHING,  /* no name, or an object of the session */
	MODULE,   /* the first is a module name */
	FUNCTION, /* the first two are a module name and a function name */
	TARGET,   /* the first is "module:function", or names a function */
	OBJECT    /* an object among the parameters gives the module */
};

static const uint8_t namings[MSD_M_COUNT] = {
	[MSD_M_CALL] = TARGET,
	[MSD_M_MODULE_LOAD] = MODULE,
	[MSD_M_MODULE_PULL] = MODULE,
	[MSD_M_MODULE_READ] = MODULE,
	[MSD_M_MODULE_ROLLBACK] = MODULE,
	[MSD_M_MODULE_SLEEP] = MODULE,
	[MSD_M_MODULE_UNLOAD] = MODULE,
	[MSD_M_MODULE_INSTANCE] = MODULE,
	[MSD_M_CHANNEL_OPEN] = MODULE,
	[MSD_M_MODULE_DESCRIBE] = MODULE,
	[MSD_M_MODULE_WAIT] = MODULE,
	[MSD_M_MODULE_LOGS] = MODULE,
	[MSD_M_MODULE_PLAN] = MODULE,
	[MSD_M_MODULE_PROFILE] = TARGET,
	[MSD_M_FUNCTION_LIST] = MODULE,
	[MSD_M_FUNCTION_GET] = FUNCTION,
	[MSD_M_TENSOR_ALLOC] = MODULE,
	[MSD_M_TENSOR_COPY] = OBJECT,
	[MSD_M_TENSOR_FILL] = OBJECT,
	[MSD_M_OBJECT_DESCRIBE] = OBJECT,
};

bool msd_request_target_has_name(enum msd_method method)
{
	return method < MSD_M_COUNT && namings[method] != NOTHING;
}

/* Read the target of a call in the same way as call.c. If call.c rejects the value,
 * the target is empty. */
static void read_target(struct msd_session *s, const struct msd_wire_value *v,
			struct msd_acl_target *ret)
{
	struct msd_span text = {0};

	if (v->kind == MSD_K_OBJECT) { /* the module alone: it has no name */
		if (msd_object_home(s, v->as.object.handle, &ret->module, NULL) !=
		    MSD_OK)
			ret->module = (struct msd_span){0};
		return;
	}
	if (v->kind == MSD_K_STR) {
		text = v->as.str;
	} else if (v->kind == MSD_K_FUNCTION) {
		const char *known =
			msd_handles_peek(&s->handles, MSD_K_FUNCTION, v->as.handle);
		if (known != NULL)
			text = msd_span_of(known);
	}
	if (!msd_target_split(text, &ret->module, &ret->function))
		*ret = (struct msd_acl_target){0};
}

static bool read_str(struct msd_cur *items, struct msd_span *ret)
{
	struct msd_wire_value v;

	if (msd_value_read(items, &v, NULL) != MSD_OK || v.kind != MSD_K_STR ||
	    v.as.str.n == 0)
		return false;
	*ret = v.as.str;
	return true;
}

static bool read_naming(struct msd_session *s, struct msd_cur items, uint32_t n,
			enum naming naming, struct msd_acl_target *ret)
{
	struct msd_wire_value v;

	switch (naming) {
	case MODULE:
		return n > 0 && read_str(&items, &ret->module);
	case FUNCTION:
		return n > 1 && read_str(&items, &ret->module) &&
		       read_str(&items, &ret->function);
	case TARGET:
		if (n == 0 || msd_value_read(&items, &v, NULL) != MSD_OK)
			return false;
		read_target(s, &v, ret);
		return true;
	case OBJECT:
		if (msd_object_module(s, items, n, &ret->module, NULL) != MSD_OK) {
			ret->module =
				(struct msd_span){0}; /* the method reports the error */
		}
		return true;
	case NOTHING:
	default:
		return true;
	}
}

msd_err msd_request_target_read(struct msd_session *s, const struct msd_in *in,
				enum msd_method method, struct msd_acl_target *ret,
				struct msd_diag *d)
{
	struct msd_acl_target target = {0};
	struct msd_cur items;
	uint32_t n;

	if (msd_request_target_has_name(method) &&
	    (!msd_array_open(in->body.params, &items, &n) ||
	     !read_naming(s, items, n, (enum naming)namings[method], &target))) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: expected %s",
				    msd_method_row(method)->name,
				    msd_method_row(method)->params);
	}
	*ret = target;
	return MSD_OK;
}
