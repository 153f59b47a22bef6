#include "graph/serializer/tmfile/tmfile.h"

#include "graph/serializer/operators.h"
#include "graph/serializer/serializer.h"
#include "graph/serializer/tmfile/format.h"
#include "graph/serializer/tmfile/row.h"

/* There is no magic number: versions, and a root after the header. Version 1 is
 * recognized in order to reject it by name. */
static bool probe(const void *head, size_t bytes)
{
	const uint8_t *p = head;

	if (bytes < TM_HEADER_BYTES)
		return false;
	const unsigned main_version = msd_le16(p);
	const unsigned sub_version = msd_le16(p + 2);
	const bool is_known = (main_version == 2 && sub_version == 0) ||
			      (main_version == 0 && sub_version == 1);
	return is_known && msd_le16(p + 4) == 0 && msd_le32(p + 8) >= TM_HEADER_BYTES;
}

bool msd_tmfile_operators(struct msd_operators *ret)
{
	const modser_tmfile_row *row;

	for (size_t i = 0; (row = tm_row_at(i)) != NULL; i++) {
		if (!msd_operators_add(ret, row->op))
			return false;
	}
	return true;
}

const modser_serializer_ops msd_tmfile_serializer = {
	.size = sizeof(modser_serializer_ops),
	.has_fixed_outputs = true,
	.name = "tengine_tmfile",
	.format = "tengine",
	.version = "2.0",
	.n_files = 1,
	.probe = probe,
	.load = tm_load,
	.store = tm_store,
};
