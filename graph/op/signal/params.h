#ifndef MSD_GRAPH_OP_SIGNAL_PARAMS_H
#define MSD_GRAPH_OP_SIGNAL_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_DFT(X)                                                              \
	X(INT, axis, 1, RARE)                                                          \
	X(INT, inverse, 0, RARE)                                                       \
	X(INT, onesided, 0, RARE)

#define MSD_PARAMS_STFT(X) X(INT, onesided, 1, RARE)

#define MSD_PARAMS_SIGNAL_WINDOW(X)                                                    \
	X(STR, dtype, "float32", RARE)                                                 \
	X(INT, periodic, 1, RARE)

#define MSD_PARAMS_MEL_WEIGHTS(X) X(STR, dtype, "float32", RARE)

#define MSD_SIGNAL_PARAMS(X)                                                           \
	X(dft, MSD_PARAMS_DFT)                                                         \
	X(stft, MSD_PARAMS_STFT)                                                       \
	X(signal_window, MSD_PARAMS_SIGNAL_WINDOW)                                     \
	X(mel_weights, MSD_PARAMS_MEL_WEIGHTS)
MSD_SIGNAL_PARAMS(MSD_PARAMS)

#endif
