/*
 * The listing of a relay VM image: constants, packed functions, then each function's
 * instructions by a form per opcode, in which %r0 is the register in field 0. The
 * image is already checked.
 */
#include "artifact/relay/text.h"

#include <inttypes.h>

#include "artifact/params/tensor_blob.h"
#include "artifact/printable.h"
#include "proto/type_text.h"

static void put_dtype(struct msd_buf *out, const int64_t *field)
{
	const struct msd_dtype dtype = {(uint8_t)field[0], (uint8_t)field[1],
					(uint16_t)field[2]};
	char name[MSD_DTYPE_NAME_MAX];

	msd_buf_printf(out, "%s", msd_dtype_format(dtype, name));
}

/* "(r1, r2)" */
static void put_registers(struct msd_buf *out, const int64_t *reg, int64_t n)
{
	msd_buf_printf(out, "(");
	for (int64_t i = 0; i < n; i++)
		msd_buf_printf(out, "%sr%" PRId64, i > 0 ? ", " : "", reg[i]);
	msd_buf_printf(out, ")");
}

/*
 * Print forms of instructions. After a percent sign follow a letter and a field
 * number: n a number, j a jump, t a dtype, f a function, p a packed function. With a
 * second number, the field of the first item: r registers and s extents, where the
 * first field is the count; i the inputs and o the outputs of a packed function.
 */
static const char *const forms[MSD_RELAY_OP_COUNT] = {
	[MSD_RELAY_MOVE] = "move r%n0 -> r%n1",
	[MSD_RELAY_RET] = "ret r%n0",
	[MSD_RELAY_INVOKE] = "call %f0%r13 -> r%n2",
	[MSD_RELAY_INVOKE_CLOSURE] = "call_closure r%n0%r13 -> r%n2",
	[MSD_RELAY_INVOKE_PACKED] = "call_packed %p0%i1 -> %o1",
	[MSD_RELAY_ALLOC_TENSOR] = "alloc_tensor r%n0 + r%n1, %s57 %t2 -> r%n6",
	[MSD_RELAY_ALLOC_TENSOR_REG] =
		"alloc_tensor r%n0 + r%n1, shape in r%n2, %t3 -> r%n6",
	[MSD_RELAY_ALLOC_ADT] = "alloc_adt tag %n0 %r13 -> r%n2",
	[MSD_RELAY_ALLOC_CLOSURE] = "alloc_closure %f0%r13 -> r%n2",
	[MSD_RELAY_GET_FIELD] = "get_field r%n0[%n1] -> r%n2",
	[MSD_RELAY_IF] = "if r%n0 == r%n1 goto %j2 else %j3",
	[MSD_RELAY_LOAD_CONST] = "load_const c%n0 -> r%n1",
	[MSD_RELAY_GOTO] = "goto %j0",
	[MSD_RELAY_GET_TAG] = "get_tag r%n0 -> r%n1",
	[MSD_RELAY_LOAD_CONSTI] = "load_consti %n0 -> r%n1",
	[MSD_RELAY_FATAL] = "fatal",
	[MSD_RELAY_ALLOC_STORAGE] =
		"alloc_storage r%n0 bytes, aligned to %n1, %t2, device %n5 -> r%n6",
	[MSD_RELAY_SHAPE_OF] = "shape_of r%n0 -> r%n1",
	[MSD_RELAY_RESHAPE] = "reshape r%n0, shape in r%n1 -> r%n2",
	[MSD_RELAY_DEVICE_COPY] = "device_copy r%n0, device %n1 to %n2 -> r%n3",
	[MSD_RELAY_KILL] = "kill r%n0",
};
/* Since 0.14. */
static const char form_load_const_014[] = "load_const c%n0, device %n1 -> r%n2";
static const char form_alloc_storage_014[] =
	"alloc_storage r%n0 bytes, aligned to %n1, %t2, device %n5 -> r%n7";
static const char form_alloc_storage_shaped[] =
	"alloc_storage %s68 %t2, aligned to %n1, device %n5 -> r%n7";

static const char *form_of(const struct msd_relay_ins *ins)
{
	if (ins->op == MSD_RELAY_LOAD_CONST && ins->n_fields == 3)
		return form_load_const_014;
	if (msd_relay_storage_has_shape(ins) && ins->op == MSD_RELAY_ALLOC_STORAGE)
		return form_alloc_storage_shaped;
	if (ins->op == MSD_RELAY_ALLOC_STORAGE && ins->n_fields > 7)
		return form_alloc_storage_014;
	return forms[ins->op];
}

/* Print the field after a percent sign at @p; returns the rest of the form. */
static const char *put_field(struct msd_buf *out, const struct msd_relay_image *img,
			     const int64_t *fields, const char *p)
{
	const int64_t v = fields[p[1] - '0'];

	switch (p[0]) {
	case 'n':
		msd_buf_printf(out, "%" PRId64, v);
		break;
	case 'j':
		msd_buf_printf(out, "%+" PRId64, v);
		break;
	case 't':
		put_dtype(out, fields + (p[1] - '0'));
		break;
	case 'f':
		msd_printable_put(out, img->funcs[v].name);
		break;
	case 'p':
		msd_printable_put(out, img->packed[v]);
		break;
	case 'i': /* first in the arguments, then the outputs that it fills */
		put_registers(out, fields + 3, v - fields[2]);
		break;
	case 'o':
		put_registers(out, fields + 3 + v - fields[2], fields[2]);
		break;
	case 'r':
		put_registers(out, fields + (p[2] - '0'), v);
		return p + 3;
	default:
		msd_shape_put(out, fields + (p[2] - '0'), (uint32_t)v, ", ");
		return p + 3;
	}
	return p + 2;
}

static void put_instr(struct msd_buf *out, const struct msd_relay_image *img,
		      const struct msd_relay_ins *ins)
{
	const char *p = form_of(ins);

	while (*p != '\0') {
		if (*p == '%') {
			p = put_field(out, img, ins->fields, p + 1);
		} else {
			msd_buf_put_u8(out, (uint8_t)*p++);
		}
	}
}

static void put_const(struct msd_buf *out, const struct msd_relay_const *k)
{
	char dtype[MSD_DTYPE_NAME_MAX];

	if (k->tensor == NULL) {
		msd_buf_printf(out, "bound later, by the name ");
		msd_printable_put(out, k->name);
		return;
	}
	msd_buf_printf(out, "tensor %s", msd_dtype_format(k->tensor->dtype, dtype));
	msd_shape_put(out, k->tensor->shape, (uint32_t)k->tensor->ndim, ", ");
}

static void put_func(struct msd_buf *out, const struct msd_relay_image *img,
		     const struct msd_relay_func *f)
{
	msd_buf_printf(out, "function ");
	msd_printable_put(out, f->name);
	msd_buf_printf(out, "(");
	for (uint32_t i = 0; i < f->n_params; i++) {
		msd_buf_printf(out, "%s", i > 0 ? ", " : "");
		msd_printable_put(out, f->params[i]);
	}
	msd_buf_printf(out, "): %" PRIu32 " arguments, %" PRIu32 " registers\n",
		       f->n_params, f->n_regs);
	for (uint32_t pc = 0; pc < f->n_code; pc++) {
		msd_buf_printf(out, "%6" PRIu32 " ", pc);
		put_instr(out, img, &f->code[pc]);
		msd_buf_printf(out, "\n");
	}
}

void msd_relay_text(const struct msd_relay_image *img, struct msd_buf *out)
{
	for (uint32_t i = 0; i < img->n_consts; i++) {
		msd_buf_printf(out, "c%" PRIu32 " = ", i);
		put_const(out, &img->consts[i]);
		msd_buf_printf(out, "\n");
	}
	for (uint32_t i = 0; i < img->n_packed; i++) {
		msd_buf_printf(out, "packed ");
		msd_printable_put(out, img->packed[i]);
		msd_buf_printf(out, "\n");
	}
	for (uint32_t i = 0; i < img->n_funcs; i++)
		put_func(out, img, &img->funcs[i]);
}
