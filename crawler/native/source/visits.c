/* Which features an automaton passes on its way over the bytes of a text, and how often: the reference is
 * `visit_counts` of py3langid, whose Counter keeps the features in the order in which they first came. */
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
