#ifndef MSD_TMFILE_CONSTANT_H
#define MSD_TMFILE_CONSTANT_H
/* Read the bytes of constants from the file, or generate them if they were stripped;
 * write them into a file. */
#include "graph/serializer/tmfile/view.h"
#include "graph/serializer/tmfile/writer.h"

/** Fill the constant @t, whose shape is set, from the buffer object at @offset. */
MSD_MUST_CHECK int tm_constant_read(struct tm_view *v, modser_sg_tensor *t,
				    uint32_t offset, modser_fill fill);

/** True if @t is written as int32: shapes and axes, which are int64 elsewhere. */
bool tm_constant_is_narrowed(const modser_sg_tensor *t);
/** Write the bytes of @t, then its buffer object; *@ret becomes the object's offset. */
MSD_MUST_CHECK int tm_constant_write(struct tm_writer *w, const modser_sg_tensor *t,
				     uint32_t *ret);

#endif
