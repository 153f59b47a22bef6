#include "daemon/supervisor/http/page/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/registry.h"

static struct msd_track *track_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_track, link);
}

static struct msd_track *find(const struct msd_history *h, const char *name)
{
	MSD_LIST_EACH (it, &h->tracks) {
		if (strcmp(track_of(it)->name, name) == 0)
			return track_of(it);
	}
	return NULL;
}

/* The counters of a replacement module restart at zero. */
static uint64_t since(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

static void drop(struct msd_track *t)
{
	msd_list_remove(&t->link);
	free(t);
}

void msd_history_init(struct msd_history *h)
{
	msd_list_init(&h->tracks);
}

void msd_history_finish(struct msd_history *h)
{
	MSD_LIST_EACH_SAFE (it, &h->tracks) {
		drop(track_of(it));
	}
}

void msd_history_note(struct msd_history *h, const char *name,
		      struct msd_history_point now)
{
	struct msd_track *t = find(h, name);

	if (t == NULL) {
		t = calloc(1, sizeof(*t));
		if (t == NULL)
			return; /* the next call retries it */
		(void)snprintf(t->name, sizeof(t->name), "%s", name);
		msd_list_append(&h->tracks, &t->link);
	} else {
		t->points[t->n++ % MSD_HISTORY_POINTS] =
			(struct msd_history_point){since(t->last.calls, now.calls),
						   since(t->last.run_ns, now.run_ns)};
	}
	t->last = now;
	t->is_there = true;
}

void msd_history_look(struct msd_history *h, const struct msd_module_registry *registry)
{
	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		msd_history_note(h, m->group.name,
				 (struct msd_history_point){
					 m->group.n_calls,
					 m->group.stages[MSD_STAGE_RUN].sum_ns});
	}
	MSD_LIST_EACH_SAFE (it, &h->tracks) {
		struct msd_track *t = track_of(it);
		if (t->is_there) {
			t->is_there = false;
		} else {
			drop(t);
		}
	}
}

static const struct msd_history_point *point(const struct msd_track *t, uint32_t i)
{
	const uint32_t first =
		t->n > MSD_HISTORY_POINTS ? t->n - MSD_HISTORY_POINTS : 0;

	return &t->points[(first + i) % MSD_HISTORY_POINTS];
}

void msd_history_write(const struct msd_history *h, struct msd_span name,
		       struct msd_buf *out)
{
	char text[MSD_MAX_NAME_BYTES + 1];

	(void)snprintf(text, sizeof(text), "%.*s", (int)name.n, (const char *)name.p);
	const struct msd_track *t = find(h, text);
	const uint32_t n = t == NULL                   ? 0
			   : t->n < MSD_HISTORY_POINTS ? t->n
						       : MSD_HISTORY_POINTS;
	msd_buf_printf(out, "{\"every_s\":%u,\"calls\":[", MSD_HISTORY_EVERY_MS / 1000);
	for (uint32_t i = 0; i < n; i++) {
		msd_buf_printf(out, "%s%llu", i > 0 ? "," : "",
			       (unsigned long long)point(t, i)->calls);
	}
	msd_buf_printf(out, "],\"run_ns\":[");
	for (uint32_t i = 0; i < n; i++) {
		const struct msd_history_point *p = point(t, i);
		msd_buf_printf(
			out, "%s%llu", i > 0 ? "," : "",
			(unsigned long long)(p->calls > 0 ? p->run_ns / p->calls : 0));
	}
	msd_buf_printf(out, "]}");
}
