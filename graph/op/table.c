#include "graph/op/table.h"

#include "graph/op/op.h"

#define DECLARE(name, has_kernel) extern const modser_sg_op_schema msd_op_##name;
MSD_OPS(DECLARE)
#undef DECLARE

#define ROW(name, has_kernel) &msd_op_##name,
const modser_sg_op_schema *const msd_op_table[] = {MSD_OPS(ROW) NULL};
#undef ROW
