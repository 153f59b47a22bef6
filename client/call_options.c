#include "client/call_options.h"

#include "proto/result_of.h"
#include "proto/value.h"

static bool has_instance(const modser_options *o)
{
	return o->instance.generation != 0 || o->instance_of != 0;
}

size_t msd_call_options_count(const modser_options *o)
{
	return (o->deadline_ms != 0) + (size_t)o->unordered + o->background +
	       o->kill_abandoned + o->trace + o->promised + (o->names != NULL) +
	       (o->device != NULL) + has_instance(o);
}

static void put_instance(struct msd_buf *out, const modser_options *o)
{
	msd_pack_cstr(out, "instance");
	if (o->instance_of != 0) {
		msd_pack_result_of(out, &(struct msd_result_of){.id = o->instance_of});
	} else {
		msd_pack_handle(
			out, MSD_EXT_INSTANCE,
			(struct msd_handle){o->instance.slot, o->instance.generation});
	}
}

void msd_call_options_put(struct msd_buf *out, const modser_options *o, size_t n_args)
{
	msd_pack_map(out, msd_call_options_count(o));
	if (has_instance(o))
		put_instance(out, o);
	if (o->names != NULL) {
		msd_pack_cstr(out, "names");
		msd_pack_array(out, n_args);
	}
	for (size_t i = 0; o->names != NULL && i < n_args; i++) {
		if (o->names[i] != NULL) {
			msd_pack_cstr(out, o->names[i]);
		} else {
			msd_pack_nil(out);
		}
	}
	if (o->deadline_ms != 0) {
		msd_pack_cstr(out, "deadline_ms");
		msd_pack_uint(out, o->deadline_ms);
	}
	if (o->device != NULL) {
		msd_pack_cstr(out, "device");
		msd_pack_cstr(out, o->device);
	}
	if (o->background) {
		msd_pack_cstr(out, "priority");
		msd_pack_cstr(out, "background");
	}
	if (o->kill_abandoned) {
		msd_pack_cstr(out, "abandon");
		msd_pack_cstr(out, "kill");
	}
	if (o->unordered) {
		msd_pack_cstr(out, "unordered");
		msd_pack_bool(out, true);
	}
	if (o->trace) {
		msd_pack_cstr(out, "trace");
		msd_pack_bool(out, true);
	}
	if (o->promised) {
		msd_pack_cstr(out, "promised");
		msd_pack_bool(out, true);
	}
}
