#ifndef MSD_TMFILE_PARAM_H
#define MSD_TMFILE_PARAM_H
/* Read and write an operator's parameters, in the order of its row. */
#include "graph/serializer/tmfile/view.h"
#include "graph/serializer/tmfile/writer.h"

/**
 * Set the parameters of @op from the @bytes bytes at @param. Fields beyond the end
 * keep their defaults: the structures grew without a new version.
 */
MSD_MUST_CHECK int tm_param_read(struct tm_view *v, modser_sg_op *op,
				 const modser_tmfile_row *row, const uint8_t *param,
				 size_t bytes);

/** Set what Tengine means where tmfiles do not say it. */
MSD_MUST_CHECK int tm_param_mean(modser_sg_op *op);
/** Write the parameters of @op; *@ret is unchanged if the row has none. */
MSD_MUST_CHECK int tm_param_write(struct tm_writer *w, const modser_sg_op *op,
				  const modser_tmfile_row *row, uint32_t *ret);

#endif
