#include "daemon/supervisor/config/config_sources.h"

#include "daemon/supervisor/config/preload.h"
#include "store/program.h"

static enum msd_policy policy_of(const struct msd_options *o,
				 const struct msd_preload *p)
{
	return p->terms.has_policy ? p->terms.policy : o->trust.trust.policy;
}

static bool is_insecure(const struct msd_options *o, const struct msd_preload *p)
{
	return p->terms.has_insecure ? p->terms.insecure : o->terms.insecure;
}

static msd_err check(const struct msd_options *o, const struct msd_preload *p,
		     const char *fetch_path, struct msd_diag *d)
{
	const char *const words[] = {fetch_path,
				     "--check",
				     p->source,
				     msd_policy_word(policy_of(o, p)),
				     is_insecure(o, p) ? "yes" : "no",
				     NULL};
	const msd_err err = msd_program_run((char *const *)(uintptr_t)words, d);

	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s: source", p->origin);
}

msd_err msd_config_check_sources(const struct msd_options *o, const char *fetch_path,
				 struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];

		if (p->source == NULL)
			continue;
		if (fetch_path == NULL) {
			return msd_diag_set(
				d, MSD_UNSUPPORTED,
				"%s: source: modserd-fetch is neither in the folder of "
				"modserd nor in ../libexec/modserd: set MODSERD_FETCH",
				p->origin);
		}
		err = check(o, p, fetch_path, d);
	}
	return err;
}
