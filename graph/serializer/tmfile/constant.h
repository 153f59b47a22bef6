#ifndef MSD_TMFILE_CONSTANT_H
#define MSD_TMFILE_CONSTANT_H
/* The bytes of constants: in the file, or made up where they were taken out of it. */
#include "graph/serializer/tmfile/view.h"

/** Give the constant @t, whose shape is set, the buffer object at @offset. */
MSD_MUST_CHECK int tm_constant_read(struct tm_view *v, modser_sg_tensor *t,
				    uint32_t offset, modser_fill fill);

#endif
