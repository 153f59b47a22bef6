/* The two serializers of Caffe, and how their files are told apart. */
#include "graph/serializer/caffe/layer.h"
#include "graph/serializer/caffe/read.h"
#include "graph/serializer/operators.h"
#include "graph/serializer/serializer.h"
#include "graph/serializer/text/text.h"

static bool is_text(const void *head, size_t bytes)
{
	return msd_text_probe(&caffe__net_parameter__descriptor,
			      (struct msd_span){head, bytes});
}

static bool is_name(struct msd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < 0x20)
			return false;
	}
	return true;
}

/* Field numbers of a NetParameter that come before its layers, and the layers. */
enum {
	NAME = 1,
	LAYERS = 2,
	INPUT = 3,
	FORCE_BACKWARD = 5,
	DEBUG_INFO = 7,
	INPUT_SHAPE = 8,
	LAYER = 100,
};

/* True if field @number may come before the layers: without a name, only the state of
 * the network. */
static bool may_come_first(uint32_t number, bool is_named)
{
	return is_named ? number <= INPUT_SHAPE
			: number >= FORCE_BACKWARD && number <= DEBUG_INFO;
}

/* A binary network begins with a name, inputs or layers. Fields that the head cuts off
 * are judged by their tags. */
static bool is_binary(const void *head, size_t bytes)
{
	struct msd_cur c = msd_cur_of((struct msd_span){head, bytes});
	bool is_named = false;

	while (c.left > 2) {
		const struct msd_cur at = c;
		struct msd_wire_field f;
		const bool is_whole = msd_wire_take(&c, &f);
		const uint32_t tag = at.p[0] < 0x80
					     ? at.p[0]
					     : (uint32_t)(at.p[0] & 0x7f) |
						       (uint32_t)(at.p[1] & 0x7f) << 7;

		if (tag == (NAME << 3 | MSD_WIRE_BYTES) && !is_named) {
			is_named = is_whole && is_name((struct msd_span){f.body, f.n});
			if (!is_named)
				return false;
			continue;
		}
		if (tag == (LAYER << 3 | MSD_WIRE_BYTES))
			return at.p[1] < 0x80;
		if (tag == (LAYERS << 3 | MSD_WIRE_BYTES) ||
		    tag == (INPUT << 3 | MSD_WIRE_BYTES)) {
			return is_named || (is_whole && tag >> 3 == INPUT && f.n > 0 &&
					    is_name((struct msd_span){f.body, f.n}));
		}
		if (!is_whole || !may_come_first(tag >> 3, is_named))
			return false;
	}
	return false;
}

bool msd_caffe_operators(struct msd_operators *ret)
{
	const struct caffe_row *row;

	for (size_t i = 0; (row = caffe_row_at(i)) != NULL; i++) {
		if (!msd_operators_add(ret, row->type))
			return false;
	}
	return msd_operators_add(ret, "Input");
}

static const modser_file_kind files[] = {
	{"the network as text (.prototxt)", is_text},
	{"the weights (.caffemodel)", is_binary},
};

const modser_serializer_ops msd_caffe_serializer = {
	.size = sizeof(modser_serializer_ops),
	.has_fixed_outputs = true,
	.name = "caffe",
	.format = "caffe",
	.version = "1.0",
	.n_files = 2,
	.probe = is_text,
	.load = caffe_load,
	.files = files,
};

const modser_serializer_ops msd_caffe_single_serializer = {
	.size = sizeof(modser_serializer_ops),
	.has_fixed_outputs = true,
	.name = "caffe_single",
	.format = "caffe",
	.version = "1.0",
	.n_files = 1,
	.probe = is_binary,
	.load = caffe_load_single,
};
