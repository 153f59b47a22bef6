#ifndef MSD_TMFILE_NHWC_H
#define MSD_TMFILE_NHWC_H
/* Files whose model has channels last, as TensorFlow's converters write them. */
#include "graph/serializer/tmfile/view.h"

/**
 * Turn the graph of @v, whose tensors and parameters are as such a file says them, into
 * one with channels first, as Tengine does. @turns_axes: axes of Softmax are the
 * file's, too; else writers have turned them. -1 with the graph's error.
 */
MSD_MUST_CHECK int tm_nhwc_turn(struct tm_view *v, bool turns_axes);

#endif
