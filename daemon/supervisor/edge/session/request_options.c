/*
 * Parses the options of a request with a table: each key with its methods, the
 * expected value and its parser. Failures: for an unknown key the error lists the
 * known keys; for a wrong value it has the expected one.
 */
#include "daemon/supervisor/edge/session/request_options.h"

#include "proto/limits.h"

typedef struct msd_request_options options;

static bool read_deadline(const struct msd_wire_value *v, struct msd_span whole,
			  options *ret)
{
	(void)whole;
	ret->has_deadline = true;
	ret->deadline_ms = v->kind == MSD_K_INT ? (uint64_t)v->as.i : UINT64_MAX;
	return ret->deadline_ms <=
	       UINT32_MAX; /* a negative value is large as unsigned */
}

static bool read_device(const struct msd_wire_value *v, struct msd_span whole,
			options *ret)
{
	(void)whole;
	return v->kind == MSD_K_STR &&
	       (v->as.str.n == 0 ||
		msd_device_parse((const char *)v->as.str.p, v->as.str.n, &ret->device));
}

static bool read_instance(const struct msd_wire_value *v, struct msd_span whole,
			  options *ret)
{
	(void)whole;
	ret->has_instance = true;
	ret->instance = v->as.handle;
	return v->kind == MSD_K_INSTANCE;
}

/* Only the worker knows the parameters and can match the names. */
static bool read_names(const struct msd_wire_value *v, struct msd_span whole,
		       options *ret)
{
	ret->names = whole;
	return v->kind == MSD_K_TUPLE;
}

static bool read_repeat(const struct msd_wire_value *v, struct msd_span whole,
			options *ret)
{
	uint32_t n[3]; /* runs, series, ms */

	(void)v;
	ret->repeat = whole;
	return msd_uints_read(whole, 3, n) && n[0] > 0 && n[1] > 0 &&
	       n[1] <= MSD_MAX_REPEATS;
}

static bool read_unordered(const struct msd_wire_value *v, struct msd_span whole,
			   options *ret)
{
	(void)whole;
	ret->is_unordered = v->kind == MSD_K_BOOL && v->as.b;
	return v->kind == MSD_K_BOOL;
}

static bool read_priority(const struct msd_wire_value *v, struct msd_span whole,
			  options *ret)
{
	(void)whole;
	if (v->kind != MSD_K_STR)
		return false;
	ret->is_background = msd_span_is(v->as.str, "background");
	return ret->is_background || msd_span_is(v->as.str, "normal");
}

static bool read_abandon(const struct msd_wire_value *v, struct msd_span whole,
			 options *ret)
{
	(void)whole;
	if (v->kind != MSD_K_STR)
		return false;
	ret->kills_at_leave = msd_span_is(v->as.str, "kill");
	return ret->kills_at_leave || msd_span_is(v->as.str, "run");
}

static bool read_trace(const struct msd_wire_value *v, struct msd_span whole,
		       options *ret)
{
	(void)whole;
	ret->is_traced = v->kind == MSD_K_BOOL && v->as.b;
	return v->kind == MSD_K_BOOL;
}

enum scope { FOR_ALL, FOR_FORWARDED };
enum methods { ANY, CALL, CALL_OR_PROFILE };

/* Was handled before everything else: dependents.h. */
static bool read_promised(const struct msd_wire_value *v, struct msd_span whole,
			  options *ret)
{
	(void)whole;
	ret->is_promised = v->kind == MSD_K_BOOL && v->as.b;
	return v->kind == MSD_K_BOOL;
}

static const struct option {
	const char *name;
	enum scope scope;
	enum methods only; /* an error for other forwarded methods */
	const char *expected;
	bool (*read)(const struct msd_wire_value *v, struct msd_span whole,
		     options *ret);
} known[] = {
	{"deadline_ms", FOR_ALL, ANY, "an int from 0 to 4294967295", read_deadline},
	{"names", FOR_FORWARDED, CALL_OR_PROFILE, "an array, for a call", read_names},
	{"unordered", FOR_FORWARDED, ANY, "a bool", read_unordered},
	{"priority", FOR_FORWARDED, CALL_OR_PROFILE,
	 "\"normal\" or \"background\", for a call", read_priority},
	{"abandon", FOR_FORWARDED, CALL_OR_PROFILE, "\"run\" or \"kill\", for a call",
	 read_abandon},
	{"repeat", FOR_FORWARDED, CALL,
	 "[runs from 1 on, series from 1 to 1024, ms], for a call", read_repeat},
	{"trace", FOR_ALL, ANY, "a bool", read_trace},
	{"promised", FOR_ALL, ANY, "a bool", read_promised},
	{"device", FOR_FORWARDED, ANY, "one such as cpu or opencl:0", read_device},
	{"instance", FOR_FORWARDED, CALL_OR_PROFILE, "a handle, for a call",
	 read_instance},
};
#define N_KNOWN (sizeof(known) / sizeof(known[0]))

static bool has_option(enum msd_method method, const struct option *o)
{
	return o->scope == FOR_ALL || msd_method_is_forwarded(method);
}

static bool is_for(enum msd_method method, const struct option *o)
{
	return o->only == ANY || method == MSD_M_CALL ||
	       (o->only == CALL_OR_PROFILE && method == MSD_M_MODULE_PROFILE);
}

static msd_err fail_unknown(struct msd_span name, enum msd_method method,
			    struct msd_diag *d)
{
	struct msd_buf list = {0};

	for (size_t i = 0; i < N_KNOWN; i++) {
		if (has_option(method, &known[i])) {
			msd_buf_printf(&list, "%s%s", list.n > 0 ? ", " : "",
				       known[i].name);
		}
	}
	(void)msd_diag_set(d, MSD_UNKNOWN_OPTION,
			   "options: \"%.*s\" is unknown; known: %.*s",
			   (int)(name.n < 64 ? name.n : 64), (const char *)name.p,
			   list.bad ? 0 : (int)list.n, (const char *)list.p);
	msd_buf_finish(&list);
	return MSD_UNKNOWN_OPTION;
}

static msd_err read_one(struct msd_span key, struct msd_span whole,
			enum msd_method method, options *ret, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(whole);
	struct msd_wire_value value;
	size_t i = 0;

	while (i < N_KNOWN &&
	       !(msd_span_is(key, known[i].name) && has_option(method, &known[i])))
		i++;
	if (i == N_KNOWN)
		return fail_unknown(key, method, d);
	if (!is_for(method, &known[i]) || msd_value_read(&c, &value, NULL) != MSD_OK ||
	    !known[i].read(&value, whole, ret)) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: expected %s",
				    known[i].name, known[i].expected);
	}
	return MSD_OK;
}

msd_err msd_request_options_read(struct msd_span map, enum msd_method method,
				 struct msd_request_options *ret, struct msd_diag *d)
{
	struct msd_request_options o = {0};
	struct msd_cur pairs;
	uint32_t n = 0;

	if (map.n > 0 && !msd_map_open(map, &pairs, &n))
		return msd_diag_set(d, MSD_BAD_REQUEST, "options: expected a map");
	while (n-- > 0) {
		struct msd_wire_value key;
		struct msd_span whole;
		msd_err err = msd_value_read(&pairs, &key, NULL);
		if (err != MSD_OK || key.kind != MSD_K_STR ||
		    !msd_object_parse(&pairs, &whole)) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "options: expected a str as key");
		}
		err = read_one(key.as.str, whole, method, &o, d);
		if (err != MSD_OK)
			return err;
	}
	if (o.repeat.n > 0 && o.is_traced) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "repeat: expected no trace beside it");
	}
	*ret = o;
	return MSD_OK;
}
