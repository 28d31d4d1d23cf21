/* Which features an automaton passes on its way over the bytes of a text, and how often: the reference is
 * `visit_counts` of py3langid, whose Counter keeps the features in the order in which they first came. */
#include <string.h>

#include "native.h"

/* moves: the next state of each state and byte, from the state's row on (`rows`); features: of each state, -1 = none.
 * at: room for one number a feature, all 0. order, counts: room for as many as there are features. Answers how many
 * different features there were; at is all 0 again. A state or feature that the tables do not have ends the walk:
 * NATIVE_UNUSUAL. */
NATIVE_API int64_t native_visits(const uint8_t *text, int64_t length, const uint32_t *moves, int64_t moves_length,
                                 const int32_t *rows, const int32_t *features, int64_t states, int32_t *at,
                                 int64_t features_length, int32_t *order, int32_t *counts) {
    int64_t state = 0, different = 0, answer = 0;
    if (states < 1) return NATIVE_UNUSUAL;
    for (int64_t i = 0; i < length; i++) {
        int64_t move = (int64_t)rows[state] + text[i];
        if (move < 0 || move >= moves_length || moves[move] >= (uint64_t)states) {
            answer = NATIVE_UNUSUAL;
            break;
        }
        state = moves[move];
        int32_t feature = features[state];
        if (feature < 0) continue;
        if (feature >= features_length) {
            answer = NATIVE_UNUSUAL;
            break;
        }
        if (!at[feature]) {
            order[different] = feature;
            counts[different] = 0;
            at[feature] = (int32_t)++different;
        }
        counts[at[feature] - 1]++;
    }
    for (int64_t i = 0; i < different; i++) at[order[i]] = 0;
    return answer ? answer : different;
}

static inline float single(uint16_t half) { /* IEEE 754: exact, as binary32 holds every binary16 */
    uint32_t rest = half & 0x7FFFu, bits;
    float number = (float)(int32_t)rest * 0x1p-24f; /* a subnormal one */
    memcpy(&bits, &number, sizeof bits);
    bits = rest >> 10 == 31 ? 0x7F800000u | rest << 13 : rest >> 10 ? (rest << 13) + (112u << 23) : bits;
    bits |= (uint32_t)(half & 0x8000u) << 16;
    memcpy(&number, &bits, sizeof bits);
    return number;
}

/* The rows `which` of a table of numbers of half precision, in single precision; NATIVE_UNUSUAL where there is no such
 * row. */
NATIVE_API int32_t native_rows(const int32_t *which, int64_t many, const uint16_t *table, int64_t rows, int64_t width,
                               float *found) {
    for (int64_t i = 0; i < many; i++) {
        if (which[i] < 0 || which[i] >= rows) return NATIVE_UNUSUAL;
        const uint16_t *row = table + which[i] * width;
        for (int64_t j = 0; j < width; j++) found[i * width + j] = single(row[j]);
    }
    return NATIVE_OK;
}
