/* Element-wise operators of one tensor, without parameters. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"

#define UNARY(id, text, type)                                                          \
	const modser_sg_op_schema msd_op_##id = {                                      \
		.name = (text),                                                        \
		OP_IN(1, 1),                                                           \
		OP_OUT(1, 1),                                                          \
		.infer = msd_infer_same,                                               \
		OP_TM((type), 0),                                                      \
	}

UNARY(tanh, "Tanh", 36);
UNARY(sigmoid, "Sigmoid", 37);
UNARY(logistic, "Logistic", 33);
UNARY(absval, "Absval", 68);
UNARY(ceil, "Ceil", 83);
UNARY(round, "Round", 85);
UNARY(zeros_like, "ZerosLike", 86);
UNARY(mish, "Mish", 97);
UNARY(relu1, "ReLU1", 100);
UNARY(softplus, "Softplus", 102);
UNARY(reciprocal, "Reciprocal", 103);
UNARY(noop, "Noop", 62);

/* Tengine has most of these as types of Unary. */
UNARY(acos, "Acos", MODSER_NO_TM_TYPE);
UNARY(acosh, "Acosh", MODSER_NO_TM_TYPE);
UNARY(asin, "Asin", MODSER_NO_TM_TYPE);
UNARY(asinh, "Asinh", MODSER_NO_TM_TYPE);
UNARY(atan, "Atan", MODSER_NO_TM_TYPE);
UNARY(atanh, "Atanh", MODSER_NO_TM_TYPE);
UNARY(cos, "Cos", MODSER_NO_TM_TYPE);
UNARY(cosh, "Cosh", MODSER_NO_TM_TYPE);
UNARY(erf, "Erf", MODSER_NO_TM_TYPE);
UNARY(exp, "Exp", MODSER_NO_TM_TYPE);
UNARY(floor, "Floor", MODSER_NO_TM_TYPE);
UNARY(log, "Log", MODSER_NO_TM_TYPE);
UNARY(neg, "Neg", MODSER_NO_TM_TYPE);
UNARY(not, "Not", MODSER_NO_TM_TYPE);
UNARY(sign, "Sign", MODSER_NO_TM_TYPE);
UNARY(sin, "Sin", MODSER_NO_TM_TYPE);
UNARY(sinh, "Sinh", MODSER_NO_TM_TYPE);
UNARY(softsign, "Softsign", MODSER_NO_TM_TYPE);
UNARY(sqrt, "Sqrt", MODSER_NO_TM_TYPE);
UNARY(tan, "Tan", MODSER_NO_TM_TYPE);
UNARY(bitwise_not, "BitwiseNot", MODSER_NO_TM_TYPE);
