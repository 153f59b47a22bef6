#ifndef MSD_ARTIFACT_KIND_LOOK_H
#define MSD_ARTIFACT_KIND_LOOK_H
/*
 * What can be told of some kinds beyond the facts of payload.h: the model, the code for
 * devices, a listing. A table apart from that of the facts: the readers of graphs want
 * a library that reads JSON, and whoever links libmodser_pack does not.
 */
#include "artifact/elf/era.h"
#include "artifact/gpu/code.h"
#include "artifact/kind/kinds.h"
#include "artifact/kind/model.h"

struct msd_look {
	/**
	 * Fill @gpu or @model, which are zeroed and finished by the caller, on failure
	 * too. Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED, MSD_NOMEM.
	 */
	msd_err (*read)(struct msd_span payload, enum msd_era era,
			struct msd_gpu_code *gpu, struct msd_model *model,
			struct msd_diag *d);
	/** Optional: append a listing of the program, which others do not hold. The
	 * same errors. */
	msd_err (*list)(struct msd_span payload, enum msd_era era, struct msd_buf *out,
			struct msd_diag *d);
};

/* msd_look_<name>, for every LOOK of the table. */
#define LOOK(name) extern const struct msd_look msd_look_##name;
#define NONE
#define ROW(kind, title, format, look, params, run) look
MSD_KIND_MAP(ROW)
#undef LOOK
#undef NONE
#undef ROW

/** What tells more of @kind, or NULL: nothing does. Static. */
const struct msd_look *msd_look_find(struct msd_span kind);

#endif
