#ifndef MSD_HTTP_INFER_QUICK_H
#define MSD_HTTP_INFER_QUICK_H
/*
 * Reads the usual form of an `infer` request in one pass, without a tree of JSON: flat
 * or nested data, ASCII names without escapes, keys that are known and not repeated,
 * numbers of up to 18 digits. Every other text, and every error, is left to
 * infer_ask.h.
 */
#include "daemon/http/infer_ask.h"

/** Like msd_infer_ask_read(), with the quick reader if it can. */
MSD_MUST_CHECK msd_err msd_infer_read(struct msd_infer_ask *ret, struct msd_span text,
				      uint64_t behind_bytes, struct msd_diag *d);
/**
 * Only the quick reader; the names and the id point into @text. False: it has another
 * form or is wrong, or memory is short; @ret is then all zeros.
 */
MSD_MUST_CHECK bool msd_infer_quick_read(struct msd_infer_ask *ret,
					 struct msd_span text, uint64_t behind_bytes);

#endif
