/* Symmetric trees for all rows of a page: the reference is crawler/stages/models/trees.py. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

int32_t native_version(void) { return NATIVE_VERSION; }

enum { LANES = 64 }; /* rows that are descended at once: the answers to one question are 64 bytes */

/* columns: features x rows, a feature's values side by side. question i asks whether feature[i] > border[i];
 * which: depth x trees, the question of a tree's level. leaves: trees x 2^depth x outputs. sums: rows x outputs.
 * The caller has checked: 0 <= feature[i] < features, 0 <= which[i] < questions, 1 <= depth <= 8. */
NATIVE_API int32_t native_trees(const float *columns, int64_t rows, const int32_t *feature, const float *border,
                                int32_t questions, const int32_t *which, int32_t trees, int32_t depth,
                                const int32_t *leaves, int32_t outputs, const int32_t *bias, int64_t *sums) {
    uint8_t *answers = malloc((size_t)questions * LANES + 1);
    if (!answers) return NATIVE_NO_MEMORY;
    for (int64_t begin = 0; begin < rows; begin += LANES) {
        int32_t lanes = rows - begin < LANES ? (int32_t)(rows - begin) : LANES;
        for (int32_t q = 0; q < questions; q++) {
            const float *values = columns + (int64_t)feature[q] * rows + begin;
            uint8_t *to = answers + (size_t)q * LANES;
            float limit = border[q];
            if (lanes == LANES)
                for (int32_t i = 0; i < LANES; i++) to[i] = values[i] > limit;
            else {
                memset(to, 0, LANES);
                for (int32_t i = 0; i < lanes; i++) to[i] = values[i] > limit;
            }
        }
        int64_t *out = sums + begin * outputs;
        for (int32_t i = 0; i < lanes; i++)
            for (int32_t o = 0; o < outputs; o++) out[(int64_t)i * outputs + o] = bias[o];
        for (int32_t t = 0; t < trees; t++) {
            uint8_t leaf[LANES];
            memcpy(leaf, answers + (size_t)which[(size_t)(depth - 1) * trees + t] * LANES, LANES);
            for (int32_t level = depth - 2; level >= 0; level--) { /* the answers read as bits */
                const uint8_t *answer = answers + (size_t)which[(size_t)level * trees + t] * LANES;
                for (int32_t i = 0; i < LANES; i++) leaf[i] = (uint8_t)(leaf[i] << 1) | answer[i];
            }
            const int32_t *own = leaves + ((size_t)t << depth) * outputs;
            if (outputs == 1)
                for (int32_t i = 0; i < lanes; i++) out[i] += own[leaf[i]];
            else
                for (int32_t i = 0; i < lanes; i++)
                    for (int32_t o = 0; o < outputs; o++)
                        out[(int64_t)i * outputs + o] += own[(int32_t)leaf[i] * outputs + o];
        }
    }
    free(answers);
    return NATIVE_OK;
}
