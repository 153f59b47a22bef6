#include "graph/serializer/caffe/layer.h"

#include <stdarg.h>
#include <stdio.h>

#include "graph/ir/graph.h"

modser_sg_tensor *caffe_fail(const struct caffe_layer *x, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)msd_sg_fail(x->b.g, MSD_BAD_ARTIFACT, "%s", text);
	return NULL;
}

const int64_t *caffe_dims(const struct caffe_layer *x, size_t i)
{
	return x->in[i]->dims;
}

size_t caffe_ndim(const struct caffe_layer *x, size_t i)
{
	return (size_t)x->in[i]->ndim;
}

bool caffe_axis(const struct caffe_layer *x, int64_t axis, bool more, size_t *ret)
{
	const int64_t ndim = x->in[0]->ndim;
	const int64_t at = axis < 0 ? axis + ndim : axis;

	if (at < 0 || at > ndim || (at == ndim && !more)) {
		(void)caffe_fail(x, "axis %d of a blob of %d axes", (int)axis,
				 (int)ndim);
		return false;
	}
	*ret = (size_t)at;
	return true;
}
