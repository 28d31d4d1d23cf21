/* The native kernel: inner loops of the stages in plain C11, called through ctypes (crawler/native).
 *
 * Rules of all files here:
 * - Python is the reference: every function gives bit for bit what the Python beside its caller gives.
 * - No state: what a function needs is passed to it with its length; what it gives back the caller has allocated, or
 *   frees with the function named there. No Python, no locale, no files, no threads.
 * - Nothing recurses, no loop is unbounded by a length that was passed. Where memory is lacking the answer is
 *   NATIVE_NO_MEMORY, and Python does the work.
 * - Compiled without contraction of a multiplication and an addition (-ffp-contract=off): numbers are rounded as
 *   IEEE 754 says, one operation at a time.
 */
#ifndef GRISTMILL_NATIVE_H
#define GRISTMILL_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#define NATIVE_VERSION 5 /* counted up with every change of a signature; crawler/native/library.py asks for it */

enum { NATIVE_OK = 0, NATIVE_NO_MEMORY = -1, NATIVE_UNUSUAL = -2 };

#if defined(_WIN32)
#define NATIVE_API __declspec(dllexport)
#else
#define NATIVE_API __attribute__((visibility("default")))
#endif

NATIVE_API int32_t native_version(void);

#endif
