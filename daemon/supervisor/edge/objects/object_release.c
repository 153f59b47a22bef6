#include "daemon/supervisor/edge/objects/object_release.h"

#include "daemon/supervisor/module/queue/queue.h"

enum msd_method msd_object_release_method(enum msd_kind kind)
{
	return kind == MSD_K_TENSOR     ? MSD_M_TENSOR_FREE
	       : kind == MSD_K_INSTANCE ? MSD_M_INSTANCE_FREE
					: MSD_M_OBJECT_FREE;
}

static void put_handle(struct msd_buf *b, enum msd_kind kind, struct msd_handle h)
{
	/* Only the handle is used, but the parser requires a complete tensor. */
	const struct msd_wire_tensor t = {.where = MSD_AT_RESIDENT,
					  .dtype = {MSD_DT_UINT, 8, 1},
					  .bytes = 1,
					  .handle = h};

	if (kind == MSD_K_TENSOR) {
		msd_pack_tensor(b, &t);
	} else if (kind == MSD_K_OBJECT) {
		msd_pack_object(b, h, false, (struct msd_span){0});
	} else {
		msd_pack_handle(b, MSD_EXT_INSTANCE, h);
	}
}

void msd_object_release_send(struct msd_object_release *f)
{
	struct msd_process *p = f->process;
	struct msd_buf params = {0};

	if (f->n == 0)
		return;
	if (p->replica != NULL && msd_process_is_running(p)) {
		msd_pack_array(&params, f->n);
		for (uint32_t i = 0; i < f->n; i++)
			put_handle(&params, f->kind, f->theirs[i]);
		msd_queue_tell(p->replica, f->client,
			       msd_object_release_method(f->kind), &params);
	}
	msd_buf_finish(&params);
	msd_process_unref(p);
	f->process = NULL;
	f->n = 0;
}

void msd_object_release_add(struct msd_object_release *f, struct msd_process *p,
			    enum msd_kind kind, struct msd_handle theirs)
{
	if (f->process != p || f->kind != kind || f->n == MSD_OBJECT_RELEASE_OBJECTS)
		msd_object_release_send(f);
	if (f->n == 0) {
		msd_process_ref(p);
		f->process = p;
		f->kind = kind;
	}
	f->theirs[f->n++] = theirs;
}

void msd_object_release_one(struct msd_client *c, struct msd_process *p,
			    enum msd_kind kind, struct msd_handle theirs)
{
	struct msd_object_release f = {.client = c};

	msd_object_release_add(&f, p, kind, theirs);
	msd_object_release_send(&f);
}
