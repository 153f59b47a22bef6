#include "client/cli/measure/stages.h"

const char *msd_stages_key(unsigned i)
{
	static const char *const keys[MSD_STAGES] = {
		"read_mean_ns",    "queue_mean_ns", "to_worker_mean_ns",
		"copy_in_mean_ns", "run_mean_ns",   "copy_out_mean_ns",
		"reply_mean_ns"};

	return keys[i];
}

void msd_stages_note(struct msd_stages *s, const modser_result *result)
{
	modser_trace t;

	if (!modser_result_trace(result, &t))
		return;
	const uint64_t ns[MSD_STAGES] = {t.read_ns,    t.queue_ns, t.to_worker_ns,
					 t.copy_in_ns, t.run_ns,   t.copy_out_ns,
					 t.reply_ns};
	for (unsigned i = 0; i < MSD_STAGES; i++)
		s->sum_ns[i] += ns[i];
	s->n++;
}

uint64_t msd_stages_mean_ns(const struct msd_stages *s, unsigned i)
{
	return s->n > 0 ? s->sum_ns[i] / s->n : 0;
}
