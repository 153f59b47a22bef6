#include <string.h>

#include "graph/serializer/caffe/layer.h"

const struct caffe_row *caffe_row_at(size_t i)
{
	static const struct caffe_row *const tables[] = {
		caffe_rows_element, caffe_rows_window, caffe_rows_move,
		caffe_rows_detect};

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct caffe_row *row = tables[t]; row->type != NULL;
		     row++) {
			if (i-- == 0)
				return row;
		}
	}
	return NULL;
}

const struct caffe_row *caffe_row_find(const char *type)
{
	const struct caffe_row *row;

	for (size_t i = 0; (row = caffe_row_at(i)) != NULL; i++) {
		if (strcmp(row->type, type) == 0)
			return row;
	}
	return NULL;
}
