#include "client/cli/measure/trace.h"

#include <inttypes.h>

#include "client/cli/values/print.h"

#define STAGES 8u

struct stage {
	const char *name; /* for people */
	const char *key;
	uint64_t ns;
};

static void list(const modser_trace *t, struct stage ret[STAGES])
{
	const struct stage all[STAGES] = {
		{"read", "read_ns", t->read_ns},
		{"queue", "queue_ns", t->queue_ns},
		{"to worker", "to_worker_ns", t->to_worker_ns},
		{"copy in", "copy_in_ns", t->copy_in_ns},
		{"run", "run_ns", t->run_ns},
		{"copy out", "copy_out_ns", t->copy_out_ns},
		{"reply", "reply_ns", t->reply_ns},
		{"total", "total_ns", t->total_ns}};

	for (size_t i = 0; i < STAGES; i++)
		ret[i] = all[i];
}

void msd_trace_put(struct msd_buf *out, const modser_trace *t, bool for_people)
{
	const double whole = t->total_ns > 0 ? (double)t->total_ns : 1;
	struct stage stages[STAGES];

	list(t, stages);
	for (size_t i = 0; i < STAGES; i++) {
		const struct stage *s = &stages[i];
		if (!for_people) {
			msd_buf_printf(out, "%s\t%" PRIu64 "\n", s->key, s->ns);
			continue;
		}
		struct msd_buf time = {0};
		msd_print_ns(&time, (double)s->ns);
		msd_buf_printf(out, "%-9s  %9.*s  %3.0f %%\n", s->name, (int)time.n,
			       (const char *)time.p, 100 * (double)s->ns / whole);
		msd_buf_finish(&time);
	}
}

void msd_trace_json(struct msd_buf *out, const modser_trace *t)
{
	struct stage stages[STAGES];

	list(t, stages);
	for (size_t i = 0; i < STAGES; i++) {
		msd_buf_printf(out, "%s\"%s\": %" PRIu64, i > 0 ? ", " : "{",
			       stages[i].key, stages[i].ns);
	}
	msd_buf_put_u8(out, '}');
}
