#ifndef MSD_ARTIFACT_KIND_LOOK_H
#define MSD_ARTIFACT_KIND_LOOK_H
/*
 * Details of some kinds beyond the facts of payload.h: the model, the code for
 * devices, a listing. The table is separate from that of the facts: readers of graphs
 * need a JSON library, which users of libmodser_pack do not link.
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
	/** Optional: append a listing of the program. The same errors. */
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

/** The row for @kind, or NULL. Static. */
const struct msd_look *msd_look_find(struct msd_span kind);

#endif
