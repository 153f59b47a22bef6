#ifndef MSD_TMFILE_CONSTANT_H
#define MSD_TMFILE_CONSTANT_H
/* The bytes of constants: in the file, or made up where they were taken out of it; and
 * on their way into one. */
#include "graph/serializer/tmfile/view.h"
#include "graph/serializer/tmfile/writer.h"

/** Give the constant @t, whose shape is set, the buffer object at @offset. */
MSD_MUST_CHECK int tm_constant_read(struct tm_view *v, modser_sg_tensor *t,
				    uint32_t offset, modser_fill fill);

/** Whether @t is written as int32, as shapes and axes that are int64 elsewhere. */
bool tm_constant_is_narrowed(const modser_sg_tensor *t);
/** Write the bytes of @t, then its buffer object, whose offset *@ret becomes. */
MSD_MUST_CHECK int tm_constant_write(struct tm_writer *w, const modser_sg_tensor *t,
				     uint32_t *ret);

#endif
