#include "daemon/supervisor/facts/sandbox_figure.h"

#include <string.h>

#include "daemon/supervisor/edge/methods/devices.h"
#include "daemon/supervisor/module/life/registry.h"
#include "proto/value.h"

static size_t count_paths(const char *const *paths)
{
	size_t n = 0;

	while (paths != NULL && paths[n] != NULL)
		n++;
	return n;
}

static void put_paths(struct msd_buf *b, const char *const *paths)
{
	const size_t n = count_paths(paths);

	for (size_t i = 0; i < n; i++)
		msd_pack_text(b, paths[i], strlen(paths[i]));
}

void msd_sandbox_figure_put(const struct msd_edge *e, struct msd_buf *b)
{
	const struct msd_module_registry_sandbox *s = &e->registry->sandbox;
	const struct msd_span found = {e->devices->found.p, e->devices->found.n};
	const struct msd_span kernel = msd_map_value(found, "sandbox");
	const struct msd_span landlock = msd_map_value(kernel, "landlock");
	const struct msd_span seccomp = msd_map_value(kernel, "seccomp");
	const struct msd_span reads = msd_map_value(kernel, "reads");
	struct msd_cur paths;
	uint32_t n;

	if (landlock.n == 0 || seccomp.n == 0 || !msd_array_open(reads, &paths, &n)) {
		msd_pack_nil(b);
		return;
	}
	msd_pack_map(b, 4);
	msd_pack_cstr(b, "landlock");
	msd_buf_put(b, landlock.p, landlock.n);
	msd_pack_cstr(b, "seccomp");
	msd_buf_put(b, seccomp.p, seccomp.n);
	msd_pack_pair_str(b, "profile", msd_sandbox_word_name(s->word));
	msd_pack_cstr(b, "reads");
	msd_pack_array(b, n + count_paths(s->reads) + count_paths(s->writes));
	msd_buf_put(b, paths.p, paths.left);
	put_paths(b, s->reads);
	put_paths(b, s->writes);
}
