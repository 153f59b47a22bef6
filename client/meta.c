#include "client/meta.h"

#include "client/result.h"
#include "proto/value.h"

/* Read the next object of @meta. */
static void read_trace(struct msd_cur *meta, modser_trace *ret)
{
	const struct {
		const char *key;
		uint64_t *ns;
	} stages[] = {{"read_ns", &ret->read_ns},
		      {"queue_ns", &ret->queue_ns},
		      {"to_worker_ns", &ret->to_worker_ns},
		      {"copy_in_ns", &ret->copy_in_ns},
		      {"run_ns", &ret->run_ns},
		      {"copy_out_ns", &ret->copy_out_ns},
		      {"reply_ns", &ret->reply_ns},
		      {"total_ns", &ret->total_ns}};
	struct msd_wire_value key, value;
	struct msd_span map;
	struct msd_cur c;
	uint32_t n;

	if (!msd_object_parse(meta, &map) || !msd_map_open(map, &c, &n))
		return;
	while (n-- > 0 && msd_value_read(&c, &key, NULL) == MSD_OK &&
	       key.kind == MSD_K_STR && msd_value_read(&c, &value, NULL) == MSD_OK) {
		for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
			if (msd_span_is(key.as.str, stages[i].key) &&
			    value.kind == MSD_K_INT && value.as.i >= 0)
				*stages[i].ns = (uint64_t)value.as.i;
		}
	}
}

void msd_meta_read(struct msd_span meta, modser_result *r)
{
	struct msd_wire_value key, value;
	struct msd_cur c;
	uint32_t n;

	if (meta.n == 0 || !msd_map_open(meta, &c, &n))
		return;
	while (n-- > 0 && msd_value_read(&c, &key, NULL) == MSD_OK &&
	       key.kind == MSD_K_STR) {
		if (msd_span_is(key.as.str, "trace")) {
			read_trace(&c, &r->trace);
			continue;
		}
		if (msd_value_read(&c, &value, NULL) != MSD_OK)
			return;
		if (msd_span_is(key.as.str, "exec_ns") && value.kind == MSD_K_INT &&
		    value.as.i > 0)
			r->exec_ns = (uint64_t)value.as.i;
		if (msd_span_is(key.as.str, "varied") && value.kind == MSD_K_BOOL)
			r->is_varied = value.as.b;
		if (msd_span_is(key.as.str, "leaving") && value.kind == MSD_K_BOOL)
			r->is_leaving = value.as.b;
	}
}
